"""Top-N by RANK and DENSE_RANK: stories, and what is left of the changes against a reference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.over import reference
from tests.kernels.over.calls import call
from tests.kernels.over.reference import Row
from tests.kernels.over.test_at_end import DOWN, LONG, ROWS, UP, frame, row
from tests.kernels.over.test_updating import Change, Driver, Emitted
from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, KIND
from tidemark.kernels.order import Order
from tidemark.kernels.over.updating import OverUpdatingKernel, Within
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.top_n.kernel import TopNKernel

BY = st.sampled_from(["RANK", "DENSE_RANK"])


def top(
    by: str,
    low: int,
    high: int,
    *,
    shown: bool = True,
    order: tuple[Order, ...] = UP,
    **more: Any,
) -> Driver:
    small = Compaction(fanout=2, smallest=1)
    within = Within("r", low, high, shown)
    calls = (call(by),)
    return Driver(OverUpdatingKernel(("k",), order, calls, within=within, compaction=small, **more))


def test_all_rows_with_the_rank_are_emitted_and_pushed_out_together():
    driver = top("RANK", 1, 2)

    assert driver.step(row("a", 5, id=1)) == [("+I", 1, 1)]
    assert driver.step(row("a", 5, id=2), row("a", 9, id=3)) == [("+I", 2, 1)]
    assert driver.step(row("a", 3, id=4)) == [
        *[("-U", 1, 1), ("+U", 1, 2), ("-U", 2, 1), ("+U", 2, 2)],
        ("+I", 4, 1),
    ]
    assert driver.step(row("a", 2, id=5)) == [
        *[("-D", 1, 2), ("-D", 2, 2)],
        *[("-U", 4, 1), ("+U", 4, 2)],
        ("+I", 5, 1),
    ]


def test_a_rank_without_gaps_counts_values():
    driver = top("DENSE_RANK", 2, 2)

    assert driver.step(row("a", 5, id=1), row("a", 5, id=2), row("a", 9, id=3)) == [("+I", 3, 2)]
    assert driver.step(row("a", 7, id=4)) == [("-D", 3, 2), ("+I", 4, 2)]


def test_without_its_number_a_row_only_comes_and_goes():
    driver = top("RANK", 1, 2, shown=False)

    assert driver.step(row("a", 5, id=1)) == [("+I", 1)]
    assert driver.step(row("a", 3, id=2)) == [("+I", 2)]
    assert driver.step(row("a", 4, id=3)) == [("-D", 1), ("+I", 3)]


def test_a_retraction_lets_all_rows_with_the_next_value_in():
    driver = top("RANK", 1, 1, retracts=True)
    driver.step(row("a", 1, id=1), row("a", 2, id=2), row("a", 2, id=3))

    assert driver.step(("-D", row("a", 1, id=1))) == [
        ("-D", 1, 1),
        ("+I", 2, 1),
        ("+I", 3, 1),
    ]


def test_only_rows_that_may_be_among_the_first_are_kept():
    driver = top("RANK", 1, 2)
    for n in range(64):
        driver.step(row("a", 1000 - n, id=n))

    assert driver.state.keyed("rows").height <= 8


@searched(60)
@given(
    ROWS,
    BY,
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from([UP, DOWN]),
    st.booleans(),
    st.lists(st.integers(0, 40), max_size=10),
    st.lists(st.integers(1, 6), min_size=40),
)
def test_the_changes_leave_the_rows_with_the_wanted_ranks(
    rows: list[Row],
    by: str,
    low: int,
    more: int,
    order: tuple[Order, ...],
    shown: bool,
    retracted: list[int],
    cuts: list[int],
):
    rows = [one._replace(id=n) for n, one in enumerate(rows)]
    changes: list[Change] = [("+I", one) for one in rows]
    gone = {n for n in retracted if n < len(rows)}
    for n in sorted(gone):
        changes.insert(changes.index(("+I", rows[n])) + 1 + n % 3, ("-D", rows[n]))
    high = low + more
    driver = top(by, low, high, shown=shown, order=order, retracts=bool(gone))
    left = Counter[tuple[Any, ...]]()
    for size in cuts:
        taken, changes = changes[:size], changes[size:]
        apply(left, driver.step(*taken))
        if not taken:  # one batch without rows is enough
            break

    wanted = Counter(
        (one.id, *[rank] * shown)
        for one, rank in ranks(by, [r for r in rows if r.id not in gone], descending=order == DOWN)
        if low <= rank <= high
    )
    assert +left == wanted


def apply(left: Counter[tuple[Any, ...]], emitted: Emitted) -> None:
    """Counts the rows; no row is retracted that was not emitted."""
    for kind, *result in emitted:
        left[tuple(result)] += 1 if kind in ("+I", "+U") else -1
        assert left[tuple(result)] >= 0


def ranks(by: str, rows: list[Row], *, descending: bool) -> list[tuple[Row, int]]:
    partitions: dict[str | None, list[Row]] = {}
    for one in sorted(rows, key=lambda r: (r.by is not None, r.by or 0), reverse=descending):
        partitions.setdefault(one.key, []).append(one)
    return [
        (one, reference.result(call(by), partition, n))
        for partition in partitions.values()
        for n, one in enumerate(partition)
    ]


@searched(40)
@given(ROWS, BY, st.integers(1, 3), st.integers(0, 2))
def test_at_the_end_of_a_batch_they_are_the_same_rows(
    rows: list[Row], by: str, low: int, more: int
):
    kernel = TopNKernel(("k",), UP, low, low + more, "retractions", "r", at_end=True, by=by)
    rows = [one._replace(id=n) for n, one in enumerate(rows)]
    arriving = frame(rows, LONG).with_columns(pl.lit("+I").alias(KIND))

    told = kernel.step(State(), [arriving], AFTER_ALL, 0).output.select("id", "r").rows()

    wanted = [(one.id, rank) for one, rank in ranks(by, rows, descending=False)]
    assert sorted(told) == sorted(w for w in wanted if low <= w[1] <= low + more)
