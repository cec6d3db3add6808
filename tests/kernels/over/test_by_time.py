"""OVER in the order of time: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.over import reference
from tests.kernels.over.calls import call, named
from tests.kernels.over.reference import Row
from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.over.by_time import OverByTimeKernel
from tidemark.kernels.over.spec import OverCall, OverFrame
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable

Event = Row | int  # a row arrives, or the watermark moves
Emitted = list[tuple[Any, ...]]

LAST_TWO = OverFrame(-1, 0, by_rows=True)
UP_TO_HERE = OverFrame(None, 0, by_rows=True)
SO_FAR = OverFrame()


def frame(rows: list[Row], stamps: list[int]) -> pl.DataFrame:
    longs = dict.fromkeys((HASH, TIME, ARRIVAL, STAMP), pl.Int64)
    return pl.DataFrame(
        {
            "k": [row.key for row in rows],
            "v": [row.value for row in rows],
            "text": [row.text for row in rows],
            "id": [row.id for row in rows],
            # Two hash values only: different keys must be told apart by more than their hash.
            HASH: [len(row.key or "") % 2 for row in rows],
            TIME: [row.by for row in rows],
            ARRIVAL: list(range(len(rows))),
            STAMP: stamps,
        },
        schema={"k": pl.String, "v": pl.Int64, "text": pl.String, "id": pl.Int64} | longs,
    )


@dataclass
class Driver:
    """A kernel whose state is written down and read back after each step."""

    kernel: OverByTimeKernel
    state: State = field(default_factory=State)
    late: list[int] = field(default_factory=list)

    def step(self, *events: Event, now: int = 0) -> Emitted:
        rows: list[Row] = []
        stamps: list[int] = []
        watermark = self.state.watermark
        for event in events:
            if isinstance(event, int):
                watermark = max(watermark, event)
            else:
                rows.append(event)
                stamps.append(watermark)
        step = self.kernel.step(self.state, [frame(rows, stamps)], watermark, now)
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        self.state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
        assert step.late is not None
        self.late += step.late[0]["id"].to_list()
        return step.output.drop("k", "v", "text").rows()


def over(*calls: OverCall, **more: Any) -> Driver:
    small = Compaction(fanout=2, smallest=1)
    return Driver(OverByTimeKernel(("k",), named(*calls), compaction=small, **more))


def row(key: str | None, time: int, value: int | None = 1, id: int = 0) -> Row:
    return Row(key, time, value, None if value is None else str(value), id)


def test_a_row_is_emitted_when_the_watermark_reaches_it():
    driver = over(call("SUM"))

    assert driver.step(row("a", 5, 1), row("a", 3, 2), 2) == []
    assert driver.step(4) == [(0, 2)]
    assert driver.step(5) == [(0, 3)]


def test_rows_of_one_time_see_each_other_unless_rows_are_counted():
    rows = row("a", 5, 1, id=1), row("a", 5, 2, id=2), 5

    assert over(call("SUM", SO_FAR)).step(*rows) == [(1, 3), (2, 3)]
    assert over(call("SUM", UP_TO_HERE)).step(*rows) == [(1, 1), (2, 3)]


def test_a_frame_includes_rows_exactly_that_far_back():
    driver = over(call("SUM", OverFrame(-5, 0)))

    assert driver.step(row("a", 0, 1), row("a", 1, 2), row("a", 6, 4), 9) == [
        (0, 1),
        (0, 3),
        (0, 6),
    ]


def test_with_an_unbounded_frame_a_row_at_the_watermark_is_late():
    driver = over(call("SUM"), call("SUM", LAST_TWO))
    driver.step(6, row("b", 6, id=1), row("b", 7, id=2))

    assert driver.late == [1]


def test_otherwise_a_row_is_late_only_if_its_partition_is_that_far():
    driver = over(call("SUM", LAST_TWO))
    driver.step(row("a", 6), 9)

    assert driver.step(row("b", 6, id=1), row("a", 6, id=2), row("a", 7, id=3)) == []
    assert driver.step(10) == [(1, 1), (3, 2)]
    assert driver.late == [2]


def test_frames_of_rows_forget_nothing_because_of_others():
    driver = over(call("COUNT", LAST_TWO), call("COUNT", OverFrame(-3, 0)))
    driver.step(row("a", 1), 100)

    assert driver.step(row("a", 200, id=1), 200) == [(1, 2, 1)]


def test_a_timer_that_another_one_replaced_counts_like_a_row():
    driver = over(call("COUNT", OverFrame(-2, 0)))
    # The first row sets a timer at 4, which the second one replaces by one at 14.
    driver.step(row("a", 0), row("a", 10), 5)

    assert driver.step(row("a", 4, id=1), row("a", 5, id=2), 6) == [(2, 1)]
    assert driver.late == [1]


def test_a_partition_of_ranges_is_forgotten_some_time_after_its_last_row():
    driver = over(call("COUNT", OverFrame(-2, 0)))
    driver.step(row("a", 1), 4)
    assert driver.step(row("a", 1, id=1), 5) == []
    driver.step(6)

    assert driver.step(row("a", 1, id=2), 7) == [(2, 1)]
    assert driver.late == [1]


def test_rows_that_an_earlier_version_kept_count():
    driver = over(call("COUNT", OverFrame(-3, 0)))
    driver.step(row("a", 4), row("a", 5), row("bb", 1), 5)
    kept = driver.state.keyed("ranged").probe(
        driver.state.keyed("ranged").hashes_among(pl.Series([0, 1]).to_numpy()).to_numpy(),
        driver.state.keyed("ranged").segments[0].rows().clear(),
    )
    past = KeyedTable().append(kept.drop("_tm_life"), Compaction())
    driver.state = replace(driver.state, tables={"past": past})

    assert driver.step(row("a", 5, id=1), row("a", 7, id=2), row("bb", 1, id=3), 7) == [(2, 3)]
    assert driver.late == [1, 3]


def test_ranks_continue_after_rows_that_are_gone():
    driver = over(call("ROW_NUMBER"), call("RANK"), call("DENSE_RANK"))

    assert driver.step(row("a", 1), row("a", 1), 1) == [(0, 1, 1, 1), (0, 2, 1, 1)]
    assert driver.step(row("a", 2), 2) == [(0, 3, 3, 2)]


def test_lag_looks_into_the_past_and_has_a_default():
    driver = over(call("LAG", n=2))

    assert driver.step(row("a", 1, 10, id=1), row("a", 2, 20, id=2), 2) == [(1, 1), (2, 2)]
    assert driver.step(row("a", 3, 30, id=3), 3) == [(3, 10)]


def test_in_processing_time_each_row_is_emitted_at_once():
    driver = over(call("SUM"), call("SUM", LAST_TWO), processing_time=True)

    assert driver.step(row("a", 9, 1), row("a", 1, 2)) == [(0, 1, 1), (0, 3, 3)]
    assert driver.step(row("a", 1, 4), row("b", 0, 8)) == [(0, 7, 6), (0, 8, 8)]


def test_a_partition_expires_some_time_after_its_last_row():
    driver = over(call("SUM"), call("SUM", LAST_TWO), processing_time=True, ttl=10)

    assert driver.step(row("a", 1, 1), now=0) == [(0, 1, 1)]
    assert driver.step(row("a", 1, 2), now=9) == [(0, 3, 3)]
    assert driver.step(row("a", 1, 4), now=19) == [(0, 4, 4)]


def test_state_does_not_grow_with_the_rows_of_a_partition():
    driver = over(call("SUM"), call("SUM", LAST_TWO), call("MAX", OverFrame(-3, 0)))
    for time in range(80):
        driver.step(row("a", time), time)

    assert driver.state.keyed("grown").height <= 2
    assert driver.state.keyed("past").height <= 16
    assert driver.state.queue("waiting").height == 0


def test_rows_that_no_frame_reaches_any_more_are_forgotten():
    driver = over(call("MAX", OverFrame(-3, 0)))
    for time in range(80):
        driver.step(row(f"{time}", time), time)

    assert driver.state.keyed("past").height <= 16


# --- any rows and watermarks, cut anyhow ---------------------------------------------------------

EVENTS = st.lists(
    st.one_of(
        st.builds(
            row,
            st.sampled_from(["a", "b", "cc", None]),
            st.integers(-9, 9),
            st.none() | st.integers(0, 3),
        ),
        st.integers(-9, 9),
    ),
    max_size=25,
)
FRAMES = st.sampled_from(
    [
        SO_FAR,
        UP_TO_HERE,
        LAST_TWO,
        OverFrame(-3, 0),
        OverFrame(-9, 0),
        OverFrame(-3, 0, by_rows=True),
    ]
)
_NAMES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE", "LISTAGG")
CALLS = st.lists(
    st.one_of(
        st.builds(call, st.sampled_from(_NAMES), FRAMES),
        st.builds(call, st.sampled_from(["COUNT", "SUM"]), FRAMES, distinct=st.just(True)),
        st.builds(call, st.sampled_from(["ROW_NUMBER", "RANK", "DENSE_RANK"])),
        st.builds(call, st.just("LAG"), n=st.integers(0, 3)),
    ),
    min_size=1,
    max_size=3,
)


def expected(calls: tuple[OverCall, ...], events: list[Event]) -> tuple[Emitted, list[int]]:
    """One event after the other: rows wait, and fire at the next watermark that reaches them."""
    if all(c.is_aggregate and not c.frame.grows and not c.frame.by_rows for c in calls):
        return expected_of_ranges(calls, events)
    unbounded = any(
        c.function in ("LAG", "ROW_NUMBER", "RANK", "DENSE_RANK") or c.frame.grows for c in calls
    )
    waiting: list[Row] = []
    fired: dict[str | None, list[Row]] = {}
    late = []
    watermark = BEFORE_ALL
    for event in [*events, AFTER_ALL]:
        if isinstance(event, int):
            if event > watermark:
                watermark = event
                due = sorted((r for r in waiting if r.by <= watermark), key=lambda r: r.by)
                waiting = [r for r in waiting if r.by > watermark]
                for one in due:
                    fired.setdefault(one.key, []).append(one)
            continue
        last = fired.get(event.key, [None])[-1]
        if event.by <= (watermark if unbounded else BEFORE_ALL if last is None else last.by):
            late.append(event.id)
        else:
            waiting.append(event)
    emitted = []
    for rows in fired.values():
        for place, one in enumerate(rows):
            seen = [r for r in rows if r.by <= one.by]
            emitted.append((one.id, *(reference.result(c, seen, place) for c in calls)))
    return emitted, late


@dataclass
class RangePartition:
    """A partition of ranges of time, as in Flink: with a timer for each time of a row, and others
    that clear it."""

    length: int
    timers: set[int] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)
    fired: int = BEFORE_ALL
    clearing: int | None = None

    def accepts(self, one: Row) -> bool:
        assert one.by is not None
        if one.by <= self.fired:
            return False
        self.rows.append(one)
        self.timers.add(one.by)
        if self.clearing is None or self.clearing < one.by + self.length + 1:
            self.clearing = one.by + int(self.length * 1.5) + 1
            self.timers.add(self.clearing)
        return True

    def fire(self, watermark: int) -> Iterator[tuple[Row, list[Row]]]:
        """The rows that are due, each with those up to it."""
        for timer in sorted(self.timers):
            if timer > watermark:
                break
            self.timers.remove(timer)
            if self.clearing is not None and self.clearing <= timer:
                self.rows, self.fired, self.clearing = [], BEFORE_ALL, None
                continue
            seen = sorted((r for r in self.rows if r.by <= timer), key=lambda r: r.by)
            yield from ((one, seen) for one in seen if one.by == timer)
            self.fired = timer


def expected_of_ranges(
    calls: tuple[OverCall, ...], events: list[Event]
) -> tuple[Emitted, list[int]]:
    length = max(-int(c.frame.start) for c in calls)
    partitions: dict[str | None, RangePartition] = {}
    emitted, late = [], []
    watermark = BEFORE_ALL
    for event in [*events, AFTER_ALL]:
        if not isinstance(event, int):
            partition = partitions.setdefault(event.key, RangePartition(length))
            if not partition.accepts(event):
                late.append(event.id)
        elif event > watermark:
            watermark = event
            for partition in partitions.values():
                for one, seen in partition.fire(watermark):
                    place = next(i for i, other in enumerate(seen) if other is one)
                    results = (reference.result(c, seen, place) for c in calls)
                    emitted.append((one.id, *results))
    return emitted, late


# How many events each step has but the last one, which has the rest.
CUTS = st.lists(st.integers(0, 5), min_size=8, max_size=8)


@searched(100)
@given(EVENTS, CALLS, CUTS)
def test_micro_batch_boundaries_do_not_change_the_answer(
    events: list[Event], calls: list[OverCall], cuts: list[int]
):
    _check_cuts(events, calls, cuts)


_LONGER = st.lists(
    st.one_of(
        st.builds(row, st.sampled_from(["a", "a", "bb"]), st.integers(1, 40), st.just(1)),
        st.integers(1, 40),
    ),
    max_size=40,
)


@searched(100)
@given(_LONGER, st.lists(st.integers(0, 12), min_size=1, max_size=2), CUTS)
def test_partitions_of_ranges_are_forgotten_like_those_of_flink(
    events: list[Event], lengths: list[int], cuts: list[int]
):
    _check_cuts(events, [call("COUNT", OverFrame(-length, 0)) for length in lengths], cuts)


def _check_cuts(events: list[Event], calls: list[OverCall], cuts: list[int]) -> None:
    events = [e if isinstance(e, int) else e._replace(id=n) for n, e in enumerate(events)]
    driver, rest, emitted = over(*calls), list(events), []
    for size in cuts:
        if not rest:
            break
        taken, rest = rest[:size], rest[size:]
        emitted += driver.step(*taken)
    emitted += driver.step(*rest, AFTER_ALL)

    rows, late = expected(named(*calls), events)
    assert sorted(emitted) == [pytest.approx(row) for row in sorted(rows)]
    assert driver.late == late
