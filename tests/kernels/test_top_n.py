"""Top-N: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.order import Order
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.top_n import side_by_side
from tidemark.kernels.top_n.kernel import TopNKernel

Row = tuple[str | None, int, int | None]  # key, identity, value
Change = tuple[str, Row]
Emitted = list[tuple[Any, ...]]

BY_VALUE = (Order("v"),)


def frame(changes: list[Change]) -> pl.DataFrame:
    longs = ("id", "v", HASH, TIME, ARRIVAL, STAMP)
    return pl.DataFrame(
        {
            KIND: [kind for kind, _ in changes],
            "k": [row[0] for _, row in changes],
            "id": [row[1] for _, row in changes],
            "v": [row[2] for _, row in changes],
            # Two hash values only: different keys must be told apart by more than their hash.
            HASH: [len(row[0] or "") % 2 for _, row in changes],
            TIME: [0] * len(changes),
            ARRIVAL: list(range(len(changes))),
            STAMP: [0] * len(changes),
        },
        schema={KIND: pl.String, "k": pl.String} | dict.fromkeys(longs, pl.Int64),
    )


def run(kernel: TopNKernel, steps: list[list[Change]], clock: int = 0) -> Emitted:
    """What comes out of the steps; the state is written down and read back after each."""
    state, emitted = State(), []
    for place, changes in enumerate(steps):
        rows = frame(changes)
        if kernel.input == "inserts":
            rows = rows.drop(KIND)
        step = kernel.step(state, [rows], 0, place * clock)
        shown = [KIND, "k", "id", "v", *[kernel.rank] * (kernel.rank is not None)]
        emitted += step.output.select(shown).rows()
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
    return emitted


def inserts(*rows: Row) -> list[Change]:
    return [("+I", row) for row in rows]


# --- the reference -------------------------------------------------------------------------------


@dataclass
class Reference:
    """Flink's three functions, one row at a time, over sorted lists."""

    kernel: TopNKernel
    lists: dict[str | None, list[tuple[Any, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    emitted: Emitted = field(default_factory=list)
    count: int = 0

    def emit(self, kind: str, row: Row, rank: int) -> None:
        if self.ranked:
            if not self.kernel.low <= rank <= self.kernel.high:
                return
            self.emitted.append((kind, *row, *[rank] * (self.kernel.rank is not None)))
        else:
            self.emitted.append((kind, *row))

    @property
    def ranked(self) -> bool:
        return self.kernel.rank is not None or self.kernel.low > 1

    def place(self, row: Row, since: int) -> tuple[Any, ...]:
        value = row[2]
        number = 0 if value is None else value
        [by] = self.kernel.order
        null_side = 1 if by.nulls_last else -1
        return (
            null_side if value is None else 0,
            -number if by.descending else number,
            since,
        )

    def change(self, kind: str, row: Row) -> None:
        self.count += 1
        rows = self.lists[row[0]]
        before = [entry[1] for entry in rows]
        if kind in ("-U", "-D"):
            if self.kernel.input == "updates" or row not in before:
                return
            where = min((entry, n) for n, entry in enumerate(rows) if entry[1] == row)[1]
            del rows[where]
            self.differ(before, [entry[1] for entry in rows], where)
            return
        since, old = self.count, None
        if self.kernel.input == "updates":
            old = next((entry for entry in rows if entry[1][1] == row[1]), None)
            if old is not None:
                rows.remove(old)
                if old[0][:2] == self.place(row, 0)[:2]:
                    since = old[0][2]
        rows.append((self.place(row, since), row))
        rows.sort(key=lambda entry: entry[0])
        after = [entry[1] for entry in rows]
        if old is not None:
            self.update(before, after, old[1], row)
        else:
            self.differ(before, after, after.index(row) if since == 0 else self.at(rows, since))
        if self.kernel.input != "retractions":
            del rows[self.kernel.high :]

    def at(self, rows: list[tuple[Any, ...]], since: int) -> int:
        return next(n for n, entry in enumerate(rows) if entry[0][2] == since)

    def update(self, before: list[Row], after: list[Row], old: Row, new: Row) -> None:
        if not self.ranked:
            self.emit("-U", old, 0)
            self.emit("+U", new, 0)
            return
        for rank in range(after.index(new), before.index(old) + 1):
            self.emit("-U", before[rank], rank + 1)
            self.emit("+U", after[rank], rank + 1)

    def differ(self, before: list[Row], after: list[Row], where: int) -> None:
        """A row came or went at a place."""
        high, grows = self.kernel.high, len(after) > len(before)
        if where >= high:
            return
        if self.ranked:
            for rank in range(where, min(len(before), len(after), high)):
                self.emit("-U", before[rank], rank + 1)
                self.emit("+U", after[rank], rank + 1)
            if grows and len(after) <= high:
                self.emit("+I", after[-1], len(after))
            if not grows and len(before) <= high:
                self.emit("-D", before[-1], len(before))
        elif grows:
            replaces = high == 1 and self.kernel.input != "retractions"
            if len(before) >= high:
                self.emit("-U" if replaces else "-D", before[high - 1], 0)
                self.emit("+U" if replaces else "+I", after[where], 0)
            else:
                self.emit("+I", after[where], 0)
        else:
            self.emit("-D", before[where], 0)
            if len(before) > high:
                self.emit("+I", after[high - 1], 0)


def reference(kernel: TopNKernel, changes: list[Change]) -> Emitted:
    slow = Reference(kernel)
    for kind, row in changes:
        slow.change(kind, row)
    return slow.emitted


# --- stories -------------------------------------------------------------------------------------


def test_a_better_row_pushes_out_the_last_one():
    rows = inserts(("a", 1, 5), ("a", 2, 3), ("a", 3, 9), ("a", 4, 4))

    assert run(TopNKernel(("k",), BY_VALUE, 1, 2), [rows]) == [
        ("+I", "a", 1, 5),
        ("+I", "a", 2, 3),
        ("-D", "a", 1, 5),
        ("+I", "a", 4, 4),
    ]


def test_with_ranks_each_row_that_moves_replaces_another_one():
    rows = inserts(("a", 1, 5), ("a", 2, 3), ("a", 3, 4))

    assert run(TopNKernel(("k",), BY_VALUE, 1, 2, rank="rn"), [rows]) == [
        ("+I", "a", 1, 5, 1),
        ("-U", "a", 1, 5, 1),
        ("+U", "a", 2, 3, 1),
        ("+I", "a", 1, 5, 2),
        ("-U", "a", 1, 5, 2),
        ("+U", "a", 3, 4, 2),
    ]


def test_of_no_rows_none_is_emitted():
    assert run(TopNKernel(("k",), BY_VALUE, 1, 0), [inserts(("a", 1, 1))]) == []


def test_of_equals_the_first_to_arrive_stays():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 1)
    assert run(kernel, [inserts(("a", 1, 5)), inserts(("a", 2, 5))]) == [("+I", "a", 1, 5)]


def test_a_retracted_row_lets_in_the_next_one():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 1, "retractions")
    steps = [inserts(("a", 1, 5), ("a", 2, 7)), [("-D", ("a", 1, 5))]]

    assert run(kernel, steps) == [("+I", "a", 1, 5), ("-D", "a", 1, 5), ("+I", "a", 2, 7)]


def test_a_retraction_of_a_row_that_is_not_there_changes_nothing():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 1, "retractions")
    steps = [inserts(("a", 1, 5)), [("-D", ("a", 1, 6)), ("-D", ("b", 1, 5))]]

    assert run(kernel, steps) == [("+I", "a", 1, 5)]


def test_an_update_of_a_row_replaces_it():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 2, "updates", unique=("id",))
    steps = [inserts(("a", 1, 5)), [("-U", ("a", 1, 5)), ("+U", ("a", 1, 4))]]

    assert run(kernel, steps) == [("+I", "a", 1, 5), ("-U", "a", 1, 5), ("+U", "a", 1, 4)]


def test_rows_expire_when_they_have_not_been_written_for_long():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 1, ttl=5)
    steps = [inserts(("a", 1, 5)), inserts(("a", 2, 7)), inserts(("a", 3, 8))]

    assert run(kernel, steps, clock=4) == [("+I", "a", 1, 5), ("+I", "a", 3, 8)]


def test_state_is_only_what_can_still_be_emitted():
    kernel = TopNKernel(("k",), BY_VALUE, 1, 2, compaction=Compaction(fanout=2, smallest=1))
    state = State()
    for value in range(20, 0, -1):
        state = kernel.step(state, [frame(inserts(("a", value, value))).drop(KIND)], 0, 0).state

    assert state.height < 10


# --- against the reference -----------------------------------------------------------------------

keys = st.sampled_from(["a", "b", "cc", None])
values = st.one_of(st.none(), st.integers(0, 5))
orders = st.builds(lambda down, last: (Order("v", down, last),), st.booleans(), st.booleans())
cuts = st.lists(st.integers(0, 40), max_size=4)


@st.composite
def ranges(draw: Any) -> tuple[int, int]:
    low = draw(st.integers(1, 3))
    return low, draw(st.integers(low, 4))


def cut(changes: list[Change], at: list[int]) -> list[list[Change]]:
    ends = sorted({min(place, len(changes)) for place in (*at, 0, len(changes))})
    return [changes[a:b] for a, b in itertools.pairwise(ends)] or [[]]


def with_retractions(rows: list[Row], chosen: list[int]) -> list[Change]:
    """Rows that come, and now and then go again, or that were never there."""
    there: list[Row] = []
    changes: list[Change] = []
    for row, number in zip(rows, chosen, strict=False):
        if number % 3 == 0 and there:
            changes.append(("-D" if number % 2 else "-U", there.pop(number % len(there))))
        elif number == 7:
            changes.append(("-D", row))
        else:
            changes.append(("+U" if number % 2 else "+I", row))
            there.append(row)
    return [c for n, c in enumerate(changes) if c[0][0] == "+" or c[1] in _there(changes[:n])]


def _there(changes: list[Change]) -> list[Row]:
    there: list[Row] = []
    for kind, row in changes:
        if kind[0] == "+":
            there.append(row)
        elif row in there:
            there.remove(row)
    return there


def kernel_of(order: Any, limits: tuple[int, int], rank: bool, **more: Any) -> TopNKernel:
    small = Compaction(fanout=2, smallest=2)
    return TopNKernel(("k",), order, *limits, rank="rn" if rank else None, compaction=small, **more)


@searched(300)
@given(
    st.lists(st.tuples(keys, st.integers(0, 99), values), max_size=40),
    orders,
    ranges(),
    st.booleans(),
    cuts,
    st.sampled_from([0, 3, 64]),
)
def test_inserted_rows_are_ranked_as_by_the_reference(rows, order, limits, rank, at, few):
    changes, kernel = inserts(*rows), kernel_of(order, limits, rank)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_by_side, "_FEW_TURNS", few)
        assert run(kernel, cut(changes, at)) == reference(kernel, changes)


@searched(300)
@given(
    st.lists(st.tuples(keys, st.integers(0, 3), values), max_size=40),
    st.lists(st.integers(0, 9), min_size=40, max_size=40),
    orders,
    ranges(),
    st.booleans(),
    cuts,
)
def test_retracted_rows_are_ranked_as_by_the_reference(rows, chosen, order, limits, rank, at):
    changes = with_retractions(rows, chosen)
    kernel = kernel_of(order, limits, rank, input="retractions")

    assert run(kernel, cut(changes, at)) == reference(kernel, changes)


@searched(300)
@given(
    st.lists(st.tuples(keys, st.integers(0, 4), st.integers(0, 2)), max_size=40),
    ranges(),
    st.booleans(),
    cuts,
)
def test_rows_that_get_better_are_ranked_as_by_the_reference(steps, limits, rank, at):
    best: dict[tuple[str | None, int], int] = {}
    changes: list[Change] = []
    for key, identity, more in steps:
        old = best.get((key, identity))
        best[key, identity] = new = (old or 0) + more
        changes += [("-U", (key, identity, old))] * (old is not None)
        changes.append(("+I" if old is None else "+U", (key, identity, new)))
    kernel = kernel_of((Order("v", True, True),), limits, rank, input="updates", unique=("id",))

    assert run(kernel, cut(changes, at)) == reference(kernel, changes)


@searched(100)
@given(
    st.lists(st.tuples(keys, st.integers(0, 3), values), max_size=40),
    st.lists(st.integers(0, 9), min_size=40, max_size=40),
    ranges(),
    st.booleans(),
    st.booleans(),
    cuts,
)
def test_upserts_are_the_changes_without_the_rows_that_are_replaced(
    rows, chosen, limits, rank, retracts, at
):
    changes = with_retractions(rows, chosen) if retracts else inserts(*rows)
    what = "retractions" if retracts else "inserts"
    kernel = kernel_of(BY_VALUE, limits, rank, input=what, upserts=True)

    emitted = [change for change in reference(kernel, changes) if change[0] != "-U"]
    assert run(kernel, cut(changes, at)) == emitted
