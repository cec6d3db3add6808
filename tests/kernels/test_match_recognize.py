"""MATCH_RECOGNIZE: the kernel against a row-at-a-time reference, over cuts and restarts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.drive import restarted
from tests.kernels.match_reference import END, Delayed, Matcher, Part, Reference, Row
from tests.kernels.preferred_reference import PreferredMatcher, has_end, may_be_empty
from tests.searching import searched
from tidemark.errors import DataError
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.match_recognize.kernel import MatchRecognizeKernel
from tidemark.kernels.match_recognize.spec import (
    Alternatives,
    Classifier,
    FirstOfKey,
    IsMatched,
    LastOfKey,
    MatchCondition,
    MatchNumber,
    MatchTime,
    OfMatch,
    One,
    OwnColumn,
    PartsInOrder,
    Pick,
    RepeatedPart,
    RowCondition,
    Shape,
    Skip,
    Total,
    Value,
    Variable,
    VariableSubset,
)
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.spec import AggregateSpec

BITS = 3
Event = Row | int  # a row arrives, or the watermark advances
Emitted = Counter[tuple[Any, ...]]

# --- conditions, as a kernel takes them and as the reference does ---------------------------------

Spec = tuple[str, int, int]  # the kind of a condition, a bit or a variable, a number


def condition(spec: Spec, place: int) -> RowCondition | MatchCondition | None:
    kind, of, number = spec
    own = Pick("x", place)
    match kind:
        case "any":
            return None
        case "bit":
            return RowCondition(f"bit{of % BITS}")
        case "rises":
            values = (Pick("x", of, offset=number % 2), own)
            return MatchCondition(values, lambda v: v["v1"] >= v["v0"])
        case "next":
            after = Pick("x", place, back=-1 - number % 2)
            return MatchCondition((after, own), lambda v: v["v0"] >= v["v1"])
        case "first":
            return MatchCondition((Pick("x", of, first=True), own), lambda v: v["v1"] != v["v0"])
    total = Total(AggregateSpec("SUM", ("x",), "sum", pl.Int64()), of)
    return MatchCondition((total,), lambda v: v["v0"] < number)


def test_of(spec: Spec, after: dict[int, list[Row]]) -> Any:
    """`after` has the rows that follow each row."""
    kind, of, number = spec

    def follows(rows: Any, row: Row) -> bool:
        later = after.get(row.number, [])[number % 2 :]
        return bool(later) and later[0].x >= row.x

    def rises(rows: Any, row: Row) -> bool:
        return len(rows[of]) > number % 2 and row.x >= rows[of][-1 - number % 2].x

    return {
        "any": lambda rows, row: True,
        "bit": lambda rows, row: bool(row.x >> of % BITS & 1),
        "rises": rises,
        "next": follows,
        "first": lambda rows, row: bool(rows[of]) and rows[of][0].x != row.x,
        "sum": lambda rows, row: bool(rows[of]) and sum(r.x for r in rows[of]) < number,
    }[kind]


test_of.__test__ = False  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Pattern:
    """A pattern for both."""

    quantifiers: tuple[tuple[int, int | None, bool], ...]
    conditions: tuple[Spec, ...]
    skip: tuple[str, int] = ("past last row", 0)
    within: int | None = None
    shape: Shape | None = None
    all_rows: bool = False
    shows: str = "matches"

    def kernel(self, compaction: Compaction | None = None) -> MatchRecognizeKernel:
        variables = tuple(
            Variable("ABCD"[place], condition(spec, place), *quantifier)
            for place, (quantifier, spec) in enumerate(
                zip(self.quantifiers, self.conditions, strict=True)
            )
        )
        to, variable = self.skip
        measures: list[tuple[str, Value]] = [("first", Pick("id", -1, True)), ("time", MatchTime())]
        for place in range(len(variables)):
            count = AggregateSpec("COUNT", ("id",), "", pl.Int64())
            measures.append((f"count{place}", Total(count, place)))
        return MatchRecognizeKernel(
            ("k",),
            variables,
            Skip(to, variable if to in ("first", "last") else None),  # type: ignore[arg-type]
            (*measures, *(self._more() if self.all_rows else ())),
            self.within,
            shape=self.shape,
            subsets=(VariableSubset("U", (0, len(variables) - 1)),),
            all_rows=self.all_rows,
            shows_empty=self.shows != "matches",
            shows_unmatched=self.shows == "unmatched",
            compaction=compaction or Compaction(fanout=2, smallest=1),
        )

    def _more(self) -> list[tuple[str, Value]]:
        names = tuple("ABCD"[: len(self.conditions)])
        subset = len(names)
        total = Total(AggregateSpec("SUM", ("x",), "", pl.Int64()), subset)
        return [
            ("row", Pick("id", -1)),
            ("number", MatchNumber()),
            ("classifier", Classifier(names, -1)),
            ("label", Classifier(names, subset, offset=1)),
            ("before", Pick("id", 0, back=2)),
            ("nth", Pick("id", subset, True, 1)),
            ("sum", total),
            ("all", OfMatch(total)),
            ("last", OfMatch(Pick("id", -1, offset=1))),
            *([("after", Pick("id", -1, back=-1))] if self.looks_ahead else []),
            ("matched", IsMatched()),
            ("own", OwnColumn("id")),
        ]

    @property
    def looks_ahead(self) -> bool:
        anchored = self.shape is not None and has_end(self.shape)
        return anchored or any(kind == "next" for kind, _, _ in self.conditions)

    def reference(self) -> Reference:
        after: dict[int, list[Row]] = {}
        parts = [
            Part(test_of(spec, after), *quantifier)
            for quantifier, spec in zip(self.quantifiers, self.conditions, strict=True)
        ]
        shape, looking = self.shape, self.kernel()._ahead

        def matcher() -> Any:
            if shape is None:
                found: Any = Matcher(parts, self.skip, self.within)
            else:
                found = PreferredMatcher(parts, self.skip, self.within, shape, after, self.shows)
            return found if looking is None else Delayed(found, looking.rows, after)

        return Reference(matcher)


# --- driving --------------------------------------------------------------------------------------


def frame(rows: list[tuple[int, Row, int]], ids: dict[Row, int]) -> pl.DataFrame:
    columns: dict[str, Any] = {
        "k": [row.key for _, row, _ in rows],
        "id": [ids[row] for _, row, _ in rows],
        "x": [row.x for _, row, _ in rows],
        # Two hash values only: different keys must be told apart by more than their hash.
        HASH: [len(row.key or "") % 2 for _, row, _ in rows],
        TIME: [row.time for _, row, _ in rows],
        ARRIVAL: [place for place, _, _ in rows],
        STAMP: [stamp for _, _, stamp in rows],
    }
    types: dict[str, Any] = {name: pl.String if name == "k" else pl.Int64 for name in columns}
    bits = [((pl.col("x") // 2**bit) % 2 == 1).alias(f"bit{bit}") for bit in range(BITS)]
    return pl.DataFrame(columns, schema=types).with_columns(bits)


@dataclass
class Driver:
    kernel: MatchRecognizeKernel
    ids: dict[Row, int]
    state: State = field(default_factory=State)
    late: int = 0

    def step(self, events: list[Event], now: int = 0) -> list[tuple[Any, ...]]:
        watermark, rows = self.state.watermark, []
        for event in events:
            if isinstance(event, int):
                watermark = max(watermark, event)
            else:
                rows.append((len(rows), event, watermark))
        step = self.kernel.step(self.state, [frame(rows, self.ids)], watermark, now)
        self.state = restarted(step.state)
        assert step.late is not None
        self.late += step.late[0].height
        rows = step.output.with_columns(pl.col("time").dt.epoch("ms")).rows()
        return [(row[0], *row[-2:]) if row[-2] is False else row for row in rows]


def numbered(events: list[Event]) -> tuple[list[Event], dict[Row, int]]:
    """The events with rows that are all different, and the number of each."""
    made: list[Event] = []
    for event in events:
        made.append(
            event if isinstance(event, int) else Row(event.key, event.time, event.x, len(made))
        )
    return made, {event: place for place, event in enumerate(made) if isinstance(event, Row)}


def expected(pattern: Pattern, events: list[Event], ids: dict[Row, int]) -> tuple[Emitted, int]:
    reference, found = pattern.reference(), Counter[tuple[Any, ...]]()
    history: dict[str | None, list[int]] = {}
    by_number: dict[int, int] = {}
    numbers = Counter[str | None]()
    for event in events:
        if isinstance(event, Row):
            reference.arrive(event)
            continue
        # Rows are numbered anew when they are processed; find them again by their order.
        due = (
            sorted((r for r in reference.waiting if r.time <= event), key=lambda r: r.time)
            if event > reference.watermark
            else []
        )
        for place, row in enumerate(due, reference.processed + 1):
            by_number[place] = ids[row]
            history.setdefault(row.key, []).append(ids[row])
        for key, match, at in reference.advance(event):
            own = by_number[match.first.number] if pattern.shape is not None else 0
            if pattern.shape is not None and not match.matched:
                found[(key, False, own)] += 1
                continue
            numbers[key] += 1
            path = [(v, excluded, by_number[r.number], r.x) for v, excluded, r in match.path]
            for rows in rows_of(pattern, path, numbers[key], history[key]):
                found[(key, path[0][2] if path else None, at, *rows)] += 1
            if not path and pattern.all_rows:
                empty = [None] * 8 if pattern.looks_ahead else [None] * 7
                counts = [0] * len(pattern.conditions)
                found[(key, None, at, *counts, None, numbers[key], *empty, True, own)] += 1
    return found, len(reference.late)


def rows_of(
    pattern: Pattern, path: list[tuple[int, bool, int, int]], number: int, history: list[int]
) -> Iterator[tuple[Any, ...]]:
    """What is emitted for a match, which is a list of variables, ids and values."""
    count = len(pattern.conditions)

    def counts(part: list[tuple[int, bool, int, int]]) -> list[int]:
        return [sum(variable == place for variable, *_ in part) for place in range(count)]

    def total(part: list[tuple[int, bool, int, int]]) -> int | None:
        return sum(x for v, _, _, x in part if v in subset) if of_subset(part) else None

    def of_subset(part: list[tuple[int, bool, int, int]]) -> list[tuple[int, bool, int, int]]:
        return [each for each in part if each[0] in subset]

    subset = {0, count - 1}
    if not pattern.all_rows:
        yield (*counts(path),)
        return
    for length, (variable, excluded, id_, _) in enumerate(path, 1):
        part = path[:length]
        among, own = of_subset(part), [i for v, _, i, _ in part if v == 0]
        before = history.index(own[-1]) - 2 if own else -1
        if not excluded:
            yield (
                *counts(part),
                id_,
                number,
                "ABCD"[variable],
                "ABCD"[among[-2][0]] if len(among) > 1 else None,
                history[before] if before >= 0 else None,
                among[1][2] if len(among) > 1 else None,
                total(part),
                total(path),
                path[-2][2] if len(path) > 1 else None,
                *([following(history, id_)] if pattern.looks_ahead else []),
                True,
                id_,
            )


def following(history: list[int], id_: int) -> int | None:
    later = history[history.index(id_) + 1 :]
    return later[0] if later else None


# --- random patterns ------------------------------------------------------------------------------

QUANTIFIERS = [
    *[(1, 1, True)] * 3, (1, None, True), (0, None, True), (0, 1, True), (2, 2, True),
    (1, 2, True), (2, None, True), (0, 2, True), (1, None, False), (0, None, False),
    (1, 3, False), (0, 2, False), (2, 3, False),
]  # fmt: skip
LAST = [(1, 1, True), (1, 1, True), (2, 2, True), (1, None, False), (1, 2, False), (0, 1, True)]


KINDS = st.sampled_from(["any", "bit", "bit", "bit", "bit", "rises", "first", "sum", "next"])


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    count = draw(st.integers(1, 4))
    quantifiers = [draw(st.sampled_from(QUANTIFIERS)) for _ in range(count - 1)]
    quantifiers.append(draw(st.sampled_from(LAST)))
    if all(least == 0 for least, _, _ in quantifiers):
        quantifiers[-1] = (1, 1, True)
    conditions = [
        draw(st.tuples(KINDS, st.integers(0, count - 1), st.integers(1, 15))) for _ in range(count)
    ]
    skips = [("next row", 0), ("past last row", 0)]
    if quantifiers[0][0]:
        required = [place for place in range(1, count) if quantifiers[place][0]]
        skips += [(to, place) for to in ("first", "last") for place in required]
    within, skip = draw(st.none() | st.integers(1, 8)), draw(st.sampled_from(skips))
    return Pattern(
        tuple(quantifiers), tuple(conditions), skip, within, all_rows=draw(st.booleans())
    )


def shapes(variables: int) -> st.SearchStrategy[Shape]:
    one = st.builds(One, st.integers(0, variables - 1), st.sampled_from([False, False, True]))
    anchored = one.map(lambda row: PartsInOrder((FirstOfKey(), row)))
    after_a_row = one.map(lambda row: PartsInOrder((row, FirstOfKey(), row)))
    at_end = one.map(lambda row: PartsInOrder((row, LastOfKey())))
    before_a_row = one.map(lambda row: PartsInOrder((row, LastOfKey(), row)))
    ones = st.one_of(one, one, one, one, anchored, after_a_row, at_end, before_a_row)
    bounds = st.sampled_from([(0, 1), (0, None), (1, None), (1, None), (2, 2), (1, 3), (0, 2)])

    def larger(parts: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        repeated = st.tuples(parts, bounds, st.booleans()).filter(
            lambda each: each[1][1] is not None or not may_be_empty(each[0])
        )
        return (
            st.builds(PartsInOrder, several)
            | st.builds(Alternatives, several)
            | repeated.map(lambda each: RepeatedPart(each[0], *each[1], each[2]))
        )

    return st.recursive(ones, larger, max_leaves=5)


@st.composite
def preferring(draw: st.DrawFn) -> Pattern:
    """Patterns with alternatives and groups."""
    count = draw(st.integers(1, 3))
    conditions = [
        draw(st.tuples(KINDS, st.integers(0, count - 1), st.integers(1, 15))) for _ in range(count)
    ]
    return Pattern(
        ((1, 1, True),) * count,
        tuple(conditions),
        draw(st.sampled_from([("next row", 0), ("past last row", 0)])),
        draw(st.none() | st.integers(1, 8)),
        draw(shapes(count)),
        all_rows=(all_rows := draw(st.booleans())),
        shows=draw(st.sampled_from(["matches", "empty", *["unmatched"] * all_rows])),
    )


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Rows around the watermark, some late, some early."""
    events: list[Event] = []
    time = 0
    for _ in range(draw(st.integers(1, 30))):
        time += draw(st.integers(0, 2))
        if draw(st.integers(0, 4)) == 0:
            events.append(time - draw(st.integers(0, 3)))
        key = draw(st.sampled_from(["a", "a", "a", "bb", "c", None]))
        events.append(Row(key, time + draw(st.integers(-2, 3)), draw(st.integers(0, 7))))
    return [*events, time + draw(st.integers(0, 9)), *([END] * draw(st.integers(0, 1)))]


@searched(200)
@given(patterns() | preferring(), streams(), st.sets(st.integers(0, 40)))
def test_the_kernel_finds_what_the_reference_finds(
    pattern: Pattern, events: list[Event], cuts: set[int]
):
    events, ids = numbered(events)
    wanted, late = expected(pattern, events, ids)
    driver, found = Driver(pattern.kernel(), ids), Counter[tuple[Any, ...]]()
    part: list[Event] = []
    for place, event in enumerate(events):
        part.append(event)
        # A watermark that no row follows is only seen if a step ends with it.
        if place in cuts or place == len(events) - 1 or events[place + 1] == END:
            found.update(driver.step(part))
            part = []
    assert found == wanted
    assert driver.late == late


# --- state ----------------------------------------------------------------------------------------

RISING = Pattern(
    ((1, 1, True), (1, None, False), (1, 1, True)), (("bit", 0, 0), ("bit", 1, 0), ("bit", 2, 0))
)


def feed(driver: Driver, *events: Event) -> list[tuple[Any, ...]]:
    made, ids = numbered(list(events))
    driver.ids |= {row: len(driver.ids) + place for place, row in enumerate(ids)}
    return driver.step(made)


def test_a_partial_match_goes_on_in_the_next_step():
    driver = Driver(RISING.kernel(), {})

    assert feed(driver, Row("a", 1, 1), Row("a", 2, 2), 2) == []
    assert feed(driver, Row("a", 3, 4), 3) == [("a", 0, 3, 1, 1, 1)]


def test_a_key_whose_attempts_have_failed_keeps_nothing():
    driver = Driver(RISING.kernel(Compaction(fanout=2, smallest=1)), {})
    for time in range(1, 20):
        feed(driver, Row("a", time, 1), time)
    feed(driver, Row("a", 20, 0), 20)
    feed(driver, Row("a", 21, 0), 21)

    assert driver.state.height <= 2


def test_attempts_of_keys_that_are_never_seen_again_expire():
    driver = Driver(Pattern(RISING.quantifiers, RISING.conditions, within=5).kernel(), {})
    for time in range(1, 30):
        feed(driver, Row(f"key{time}", time, 1), time)

    assert driver.state.height <= 20


def test_a_row_that_a_later_step_passes_is_of_the_match_that_an_earlier_one_emitted():
    pattern = Pattern(
        ((1, 1, True),) * 2,
        (("bit", 0, 0), ("bit", 1, 0)),
        ("next row", 0),
        shape=PartsInOrder((One(0), One(1))),
        all_rows=True,
        shows="unmatched",
    )
    driver = Driver(pattern.kernel(), {})

    first = feed(driver, Row("a", 1, 0), Row("a", 2, 1), Row("a", 3, 3), 3)
    assert [row[-2:] for row in first] == [(False, 0), (True, 1), (True, 2)]
    assert feed(driver, Row("a", 4, 0), 4) == [("a", False, 3)]
    assert feed(driver, AFTER_ALL) == []


def test_rows_of_no_match_are_shown_when_their_attempts_expire():
    pattern = Pattern(
        ((1, 1, True),) * 2,
        (("any", 0, 0), ("any", 0, 0)),
        within=5,
        shape=PartsInOrder((One(0), One(1))),
        all_rows=True,
        shows="unmatched",
    )
    driver = Driver(pattern.kernel(), {})

    assert feed(driver, Row("a", 1, 0), 1) == []
    assert feed(driver, Row("bb", 5, 0), 5) == []
    assert feed(driver, 6) == [("a", False, 0)]


def test_in_processing_time_rows_are_matched_as_they_arrive():
    pattern = RISING.kernel()
    kernel = MatchRecognizeKernel(
        pattern.keys, pattern.variables, pattern.skip, pattern.measures[:1], processing_time=True
    )
    rows = [Row("a", 9, 1), Row("a", 3, 2), Row("a", 5, 4)]
    ids = {row: place for place, row in enumerate(rows)}
    state = State()
    for place, row in enumerate(rows):
        step = kernel.step(state, [frame([(0, row, BEFORE_ALL)], ids)], BEFORE_ALL, 1000 + place)
        state = restarted(step.state)
    assert step.output.rows() == [("a", 0)]


def test_skipping_to_the_first_row_of_a_match_fails():
    kernel = Pattern(((1, 1, True),), (("any", 0, 0),), ("first", 0)).kernel()

    with pytest.raises(DataError, match="the first row of a match"):
        feed(Driver(kernel, {}), Row("a", 1, 1), AFTER_ALL)


def test_skipping_to_a_variable_without_rows_fails():
    quantifiers = ((1, 1, True), (0, 1, True), (1, 1, True))
    conditions = (("bit", 0, 0), ("bit", 1, 0), ("bit", 2, 0))
    kernel = Pattern(quantifiers, conditions, ("last", 1)).kernel()

    with pytest.raises(DataError, match="has no row of B"):
        feed(Driver(kernel, {}), Row("a", 1, 1), Row("a", 2, 4), AFTER_ALL)
