"""Late rows are reported as they arrived, and are those that the windows themselves drop."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import KIND
from tidemark.kernels.late_rows import (
    LATE_KIND,
    LATE_TIME,
    LATE_WATERMARK,
    DropLateRows,
    LateRowsKernel,
)
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.rank import WindowRankKernel
from tidemark.kernels.windows.spec import Cumulating, Emit, Firing, Given, Session, Sliding
from tidemark.kernels.windows.wall_clock import WallClock

from .drive import CALLS, frame, parse
from .reference import Row

COUNT = (CALLS["count"][0],)


def told(kernel: Kernel, rows: str, stamps: list[int], kinds: bool = False) -> list[tuple]:
    """Key, time and watermark of the rows that are reported, in one step."""
    given_rows = frame(list(zip(parse(rows), stamps, strict=True)), 3, kinds)
    step = LateRowsKernel(kernel).step(State(), [given_rows], max(stamps), 0)
    assert step.metrics.late == (0,)
    assert step.metrics.rows_out == step.output.height
    return list(step.output.select("k", LATE_TIME, LATE_WATERMARK).iter_rows())


def test_a_row_is_late_when_its_last_window_is_over():
    # Windows [0, 10) and [5, 15): the last millisecond of the second is 14.
    hop = DropLateRows(Sliding(10, 5))

    assert told(hop, "a 6, b 7, c 20", [13, 14, 14]) == [("b", 7, 14)]


def test_allowed_lateness_keeps_windows_open():
    assert told(DropLateRows(Sliding(10, 10), lateness_ms=5), "a 1, b 2", [13, 14]) == [
        ("b", 2, 14)
    ]


def test_without_windows_the_watermark_itself_is_the_border():
    assert told(DropLateRows(None), "a 4, b 5, c 6", [5, 5, 5]) == [("a", 4, 5), ("b", 5, 5)]


def test_a_row_that_bridges_to_an_open_session_is_in_time():
    sessions = WindowAggregateKernel(("k",), Session(5), COUNT)

    # a 10 opens [10, 15); a 6 touches it; nothing of b is open.
    assert told(sessions, "a 10, a 6, b 6", [3, 11, 11]) == [("b", 6, 11)]


def test_kinds_come_along():
    rows = frame([(row, 9) for row in parse("a 1 5 -U, a 1 6 +U")], 3, kinds=True)
    step = LateRowsKernel(DropLateRows(Sliding(5, 5))).step(State(), [rows], 9, 0)

    assert step.output[LATE_KIND].to_list() == ["-U", "+U"]
    assert KIND not in step.output.columns


def test_times_and_watermarks_are_instants_whatever_the_clock_shows():
    processing_time = LateRowsKernel(
        WallClock(DropLateRows(Sliding(3_600_000, 3_600_000)), "Asia/Tokyo")
    )
    rows = frame([(Row("a", 1), 7_200_000)], 3, kinds=False)
    step = processing_time.step(State(), [rows], 7_200_000, 0)

    assert step.output.select(LATE_TIME, LATE_WATERMARK).row(0) == (1, 7_200_000)


ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-30, 60)), max_size=12)
WINDOWS = [Sliding(10, 10, -3), Sliding(12, 4), Sliding(4, 10), Cumulating(12, 4), Given("s", "e")]


@pytest.mark.parametrize("assigner", WINDOWS, ids=str)
@pytest.mark.parametrize("lateness", [0, 7])
@searched(15)
@given(batches=st.lists(st.tuples(ROWS, st.integers(-40, 60)), max_size=4))
def test_rows_are_late_exactly_where_an_aggregate_drops_them(assigner, lateness, batches):
    emit = Emit(late=Firing(each_row=True)) if lateness else Emit()
    aggregate = WindowAggregateKernel(("k",), assigner, COUNT, emit, lateness)
    kernels: list[Kernel] = [
        LateRowsKernel(aggregate),
        LateRowsKernel(DropLateRows(assigner, lateness)),
    ]
    states, watermark = [State(), State()], -100

    for pairs, step_by in batches:
        rows = [
            Row(key, time, window=(time // 10 * 10, time // 10 * 10 + 10)) for key, time in pairs
        ]
        arriving = frame([(row, watermark) for row in rows], 3, kinds=False)
        watermark = max(watermark, step_by)
        steps = [
            kernel.step(state, [arriving], watermark, 0)
            for kernel, state in zip(kernels, states, strict=True)
        ]
        states = [step.state for step in steps]
        dropped, late = (step.output.select("k", LATE_TIME, LATE_WATERMARK) for step in steps)
        assert dropped.equals(late)


def test_ranks_count_the_reported_rows_as_late():
    rank = WindowRankKernel(("k",), "s", "e", (), 1, 1, "rank")
    rows = [(Row("a", 5, window=(0, 10)), 8), (Row("a", 5, window=(0, 10)), 9)]
    arriving: pl.DataFrame = frame(rows, 3, kinds=False)

    assert rank.step(State(), [arriving], 9, 0).metrics.late == (1,)
    late = LateRowsKernel(DropLateRows(Given("s", "e"))).step(State(), [arriving], 9, 0)
    assert late.output.height == 1
