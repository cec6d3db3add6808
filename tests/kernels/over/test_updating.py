"""OVER as a changelog: stories, and what is left of it against a reference."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.over import reference
from tests.kernels.over.calls import call, named
from tests.kernels.over.reference import Row
from tests.kernels.over.test_at_end import CALLS, ROWS, UP, frame, row
from tests.searching import searched
from tidemark.kernels.columns import KIND
from tidemark.kernels.over.spec import OverCall, OverFrame
from tidemark.kernels.over.updating import OverUpdatingKernel
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

Change = tuple[str, Row]
Emitted = list[tuple[Any, ...]]


@dataclass
class Driver:
    """A kernel whose state is written down and read back after each step."""

    kernel: OverUpdatingKernel
    state: State = field(default_factory=State)

    def step(self, *changes: Change | Row, now: int = 0) -> Emitted:
        """The changes that come out: their kind, the row's id, and its results."""
        kinds = [c[0] if c[0] in ("+I", "-D") else "+I" for c in changes]
        rows = [c if isinstance(c, Row) else c[1] for c in changes]
        arriving = frame(rows, pl.Int64())
        if self.kernel.retracts:
            arriving = arriving.with_columns(pl.Series(KIND, kinds, pl.String))
        step = self.kernel.step(self.state, [arriving], 0, now)
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        self.state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
        return step.output.select(KIND, pl.exclude(KIND, "k", "by", "v", "text")).rows()


def over(*calls: OverCall, **more: Any) -> Driver:
    small = Compaction(fanout=2, smallest=1)
    return Driver(OverUpdatingKernel(("k",), UP, named(*calls), compaction=small, **more))


def test_an_earlier_row_updates_the_results_after_it():
    driver = over(call("SUM"))

    assert driver.step(row("a", 5, 1, id=1)) == [("+I", 1, 1)]
    assert driver.step(row("a", 3, 2, id=2)) == [("-U", 1, 1), ("+U", 1, 3), ("+I", 2, 2)]
    assert driver.step(row("a", 9, 4, id=3)) == [("+I", 3, 7)]
    assert driver.step(row("b", 0, 8, id=4)) == [("+I", 4, 8)]


def test_a_retracted_row_is_deleted_and_updates_others():
    driver = over(call("SUM"), retracts=True)
    driver.step(row("a", 5, 1, id=1), row("a", 3, 2, id=2))

    assert driver.step(("-D", row("a", 3, 2, id=2))) == [
        ("-D", 2, 2),
        ("-U", 1, 3),
        ("+U", 1, 1),
    ]


def test_a_partition_expires_some_time_after_its_last_row():
    driver = over(call("SUM"), ttl=10)

    driver.step(row("a", 1, 1), now=0)
    assert driver.step(row("a", 2, 2), now=9) == [("+I", 0, 3)]
    assert driver.step(row("a", 3, 4), now=19) == [("+I", 0, 4)]


def test_rows_that_are_gone_leave_no_state():
    driver = over(call("SUM"), retracts=True)
    for id_ in range(32):
        driver.step(row("a", id_, 1, id=id_))
        driver.step(("-D", row("a", id_, 1, id=id_)))

    assert driver.state.keyed("rows").height <= 16


def test_lists_are_compared_too():
    frame = OverFrame(None, None)
    driver = over(call("LISTAGG", frame), call("COUNT", frame, distinct=True))
    driver.step(row("a", 1, 1, id=1))

    assert driver.step(row("a", 2, 2, id=2)) == [
        ("-U", 1, "1", 1),
        ("+U", 1, "1,2", 2),
        ("+I", 2, "1,2", 2),
    ]


# --- any rows, some of them retracted later ------------------------------------------------------


@searched(40)
@given(
    ROWS, CALLS, st.lists(st.integers(0, 40), max_size=10), st.lists(st.integers(1, 6), min_size=30)
)
def test_the_changes_leave_the_results_of_the_rows_that_are_left(
    rows: list[Row], calls: list[OverCall], retracted: list[int], cuts: list[int]
):
    rows = [one._replace(id=n) for n, one in enumerate(rows)]
    changes: list[Change] = [("+I", one) for one in rows]
    gone = {n for n in retracted if n < len(rows)}
    for n in sorted(gone):
        changes.insert(changes.index(("+I", rows[n])) + 1 + n % 3, ("-D", rows[n]))
    driver, left = over(*calls, retracts=True), Counter[tuple[Any, ...]]()
    for size in cuts:
        if not changes:
            break
        taken, changes = changes[:size], changes[size:]
        for kind, *result in driver.step(*taken):
            left[tuple(_rounded(result))] += 1 if kind in ("+I", "+U") else -1
            assert left[tuple(_rounded(result))] >= 0

    assert +left == Counter(expected(named(*calls), [r for r in rows if r.id not in gone]))


def expected(calls: tuple[OverCall, ...], rows: list[Row]) -> list[tuple[Any, ...]]:
    partitions: dict[str | None, list[Row]] = {}
    for one in sorted(rows, key=lambda r: (r.by is not None, r.by or 0)):
        partitions.setdefault(one.key, []).append(one)
    return [
        tuple(_rounded([one.id, *(reference.result(c, partition, n) for c in calls)]))
        for partition in partitions.values()
        for n, one in enumerate(partition)
    ]


def _rounded(values: list[Any]) -> list[Any]:
    return [round(value, 9) if isinstance(value, float) else value for value in values]
