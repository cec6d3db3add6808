"""The rows that joins drop, and those that are reported as late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.co_group.kernel import WindowAssignment
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.cuts import cut_of
from tidemark.kernels.handing_out import HandingOut, OutletColumns
from tidemark.kernels.held_back import held_back
from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel
from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK, DropLateRows, LateRowsKernel
from tidemark.kernels.pieces import steps_of
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.state import State
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.spec import Cumulating, Given, Sliding
from tidemark.kernels.windows.wall_clock import WallClock

from .drive import LEFT, RIGHT, Arrived
from .histories import CUTS, Event, JoinDriver, histories, in_any_order, left, right

TEN = Sliding(10, 10)
HOPPING, CUMULATING = Sliding(12, 5), Cumulating(12, 4)
NEVER = 2**40  # in milliseconds: no row is that late
TOKYO = "Asia/Tokyo"
WINDOWS = Given("l_start", "l_end"), Given("r_start", "r_end")
# A join, what drops its late rows on each side, and whether rows say which window they are in.
JOINS: dict[str, tuple[Kernel, tuple[Kernel, Kernel], bool]] = {
    "window join": (
        window_join(("l_key",), ("r_key",), *map(WindowAssignment, WINDOWS)),
        (DropLateRows(WINDOWS[LEFT]), DropLateRows(WINDOWS[RIGHT])),
        True,
    ),
    "window join that assigns windows": (
        window_join(("l_key",), ("r_key",), *map(WindowAssignment, (TEN, TEN))),
        (DropLateRows(TEN), DropLateRows(TEN)),
        False,
    ),
    "hopping windows": (
        window_join(("l_key",), ("r_key",), *map(WindowAssignment, (HOPPING, HOPPING))),
        (DropLateRows(HOPPING), DropLateRows(HOPPING)),
        False,
    ),
    "cumulative windows": (
        window_join(("l_key",), ("r_key",), *map(WindowAssignment, (CUMULATING, CUMULATING))),
        (DropLateRows(CUMULATING), DropLateRows(CUMULATING)),
        False,
    ),
    "by the wall clock": (
        WallClock(window_join(("l_key",), ("r_key",), *map(WindowAssignment, (TEN, TEN))), TOKYO),
        (WallClock(DropLateRows(TEN), TOKYO), WallClock(DropLateRows(TEN), TOKYO)),
        False,
    ),
    "interval join": (
        StreamIntervalJoinKernel(("l_key",), ("r_key",), -5, 5),
        # A row is late behind the watermark, not at it.
        (DropLateRows(None, lateness_ms=1), DropLateRows(None, lateness_ms=1)),
        False,
    ),
    "temporal join": (
        TemporalJoinKernel(("l_key",), ("r_key",), drops_late=True),
        (DropLateRows(None), DropLateRows(None, lateness_ms=NEVER)),
        False,
    ),
}


class LateDriver(JoinDriver):
    """Tells the late rows of one side of a join; of the other side only the watermark counts."""

    side: int = LEFT

    def told(self, rows: Sequence[Arrived], watermark: int) -> list[tuple[int, int, int]]:
        inputs = self.inputs(rows)
        output = self.take([inputs[self.side], inputs[1 - self.side]], watermark, 0).output
        return output.select(f"{'lr'[self.side]}_payload", LATE_TIME, LATE_WATERMARK).rows()


def late_rows(join: str, side: int, held_back_ms: int = 0) -> LateDriver:
    _, rules, windowed = JOINS[join]
    kernel = held_back(LateRowsKernel(rules[side]), held_back_ms)
    driver = LateDriver(kernel, windowed=windowed)
    driver.side = side
    return driver


def test_a_late_row_has_its_time_and_the_watermark_of_both_inputs() -> None:
    late = late_rows("interval join", LEFT)
    rows = [left("a", 8, 1, 9), left("b", 9, 2, 9), right("a", 1, 3, 9)]

    assert late.told(rows, AFTER_ALL) == [(1, 8, 9)]
    assert late.metrics is not None
    assert late.metrics.rows_in == (2, 1)
    assert late.metrics.late == (0, 0)


@pytest.mark.parametrize("name", JOINS)
@given(history=histories(near=25, far=12), cuts=CUTS)
@searched(8)
def test_rows_are_reported_exactly_when_a_join_drops_them(
    name: str, history: list[Event], cuts: list[str]
) -> None:
    join = JoinDriver(JOINS[name][0], windowed=JOINS[name][2])
    rules = {side: late_rows(name, side) for side in (LEFT, RIGHT)}

    for _, rows, watermark in join.steps(history, cuts):
        before = [len(late) for late in join.late]
        join.output(rows, watermark)
        for side, late in rules.items():
            told = [payload for payload, *_ in late.told(rows, watermark)]
            assert told == join.late[side][before[side] :]


# Columns that the joins do not see, which may have the same name on both sides.
BESIDE: Final = ("_tm_late0",)


class HandingOutDriver(JoinDriver):
    """Feeds a join that hands out late rows with rows that are accompanied by another column."""

    sides: tuple[int, ...] = (LEFT, RIGHT)

    def inputs(self, rows: Sequence[Arrived]) -> list[pl.DataFrame]:
        return [
            made.with_columns(pl.col(f"{'lr'[side]}_payload").neg().alias(*BESIDE))
            if side in self.sides
            else made
            for side, made in enumerate(super().inputs(rows))
        ]


@pytest.mark.parametrize("name", JOINS)
@given(
    by=st.sampled_from([0, 7]),
    sides=st.sampled_from([(RIGHT,), (LEFT, RIGHT)]),
    history=histories(near=25, far=12),
    cuts=CUTS,
)
@searched(8)
def test_a_join_hands_out_the_rows_it_drops_of_each_side_and_nothing_else_changes(
    name: str, by: int, sides: tuple[int, ...], history: list[Event], cuts: list[str]
) -> None:
    join, _, windowed = JOINS[name]
    handing = HandingOutDriver(
        held_back(HandingOut(join, {side: OutletColumns(side, BESIDE) for side in sides}), by),
        windowed=windowed,
    )
    handing.sides = sides
    plain = JoinDriver(held_back(join, by), windowed=windowed)
    rules = {side: late_rows(name, side, by) for side in sides}
    drivers = [handing, plain, *rules.values()]

    for events, rows, watermark in handing.steps(history, cuts):
        step = handing.take(handing.inputs(rows), watermark, 0)
        expected = plain.take(plain.inputs(rows), watermark, 0)
        assert in_any_order(step.output.rows()) == in_any_order(expected.output.rows())
        assert step.metrics == expected.metrics
        for side, rule in rules.items():
            late = [(-payload, *met) for payload, *met in step.handed_out[side].rows()]
            assert late == rule.told(rows, watermark)
            assert len(late) <= step.metrics.late[side]
        if len(events) % 2:
            for driver in drivers:
                driver.restart()
    kept = {column for table in handing.state.segments() for column in table.rows().columns}
    assert not kept.intersection(BESIDE)


def test_a_batch_of_a_join_that_hands_out_late_rows_is_cut_like_any_other() -> None:
    join, _, _ = JOINS["interval join"]
    driver = HandingOutDriver(
        HandingOut(join, {side: OutletColumns(side, BESIDE) for side in (LEFT, RIGHT)})
    )
    inputs = driver.inputs([left("a", 1, 1), left("a", 1, 2), right("a", 1, 3), right("a", 1, 4)])

    assert cut_of(driver.kernel, inputs) == cut_of(join, inputs)
    steps = list(steps_of(driver.kernel, State(), inputs, AFTER_ALL, 0, pairs=1))
    assert len(steps) > 1
    assert sum(step.output.height for step in steps) == 4
    assert not any(rows.height for step in steps for rows in step.handed_out.values())
