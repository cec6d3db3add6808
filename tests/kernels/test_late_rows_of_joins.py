"""The rows that joins drop, and those that are reported as late."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from tests.searching import searched
from tidemark.kernels.co_group.kernel import WindowAssignment
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel
from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK, DropLateRows, LateRowsKernel
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.spec import Given

from .drive import LEFT, RIGHT, Arrived
from .histories import CUTS, Event, JoinDriver, histories, left, right

WINDOWS = Given("l_start", "l_end"), Given("r_start", "r_end")
# A join, what drops its late rows on each side, and whether rows say which window they are in.
JOINS: dict[str, tuple[Kernel, tuple[DropLateRows, DropLateRows], bool]] = {
    "window join": (
        window_join(("l_key",), ("r_key",), *map(WindowAssignment, WINDOWS)),
        (DropLateRows(WINDOWS[LEFT]), DropLateRows(WINDOWS[RIGHT])),
        True,
    ),
    "interval join": (
        StreamIntervalJoinKernel(("l_key",), ("r_key",), -5, 5),
        # A row is late behind the watermark, not at it.
        (DropLateRows(None, lateness_ms=1), DropLateRows(None, lateness_ms=1)),
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


def late_rows(join: str, side: int) -> LateDriver:
    _, rules, windowed = JOINS[join]
    driver = LateDriver(LateRowsKernel(rules[side]), windowed=windowed)
    driver.side = side
    return driver


def test_a_late_row_has_its_time_and_the_watermark_of_both_inputs() -> None:
    late = late_rows("interval join", LEFT)
    rows = [left("a", 8, 1, 9), left("b", 9, 2, 9), right("a", 1, 3, 9)]

    assert late.told(rows, AFTER_ALL) == [(1, 8, 9)]
    assert late.metrics is not None
    assert late.metrics.rows_in == (2, 1)
    assert late.metrics.late == (0, 0)


@pytest.mark.parametrize("side", [LEFT, RIGHT])
@pytest.mark.parametrize("name", JOINS)
@given(history=histories(near=25, far=12), cuts=CUTS)
@searched(12)
def test_rows_are_reported_exactly_when_a_join_drops_them(
    name: str, side: int, history: list[Event], cuts: list[str]
) -> None:
    join = JoinDriver(JOINS[name][0], windowed=JOINS[name][2])
    late = late_rows(name, side)

    for _, rows, watermark in late.steps(history, cuts):
        before = len(join.late[side])
        join.output(rows, watermark)
        assert [payload for payload, *_ in late.told(rows, watermark)] == join.late[side][before:]
