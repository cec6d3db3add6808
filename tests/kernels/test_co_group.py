"""coGroup: stories, and the kernel against its row-at-a-time reference."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given

from tests.searching import searched
from tidemark.kernels.co_group.kernel import CoGroupKernel, WindowAssignment, WindowsOfRows
from tidemark.kernels.co_group.sessions import SharedSessions
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.segments import Compaction
from tidemark.kernels.window_join import Matches
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Given

from .co_group_reference import CoGroupReference, Group
from .drive import Arrived
from .histories import (
    COMPACTIONS,
    CUTS,
    Event,
    JoinDriver,
    histories,
    in_any_order,
    left,
    right,
    window_of,
)

HISTORIES = histories(near=25, far=12)

GAP = 10


def groups_of(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """What meets, a row for each key and window."""
    sides = [
        rows.group_by(f"{name}_key", WINDOW_START, WINDOW_END, maintain_order=True)
        .agg(f"{name}_payload")
        .rename({f"{name}_key": "key"})
        for name, rows in (("l", left), ("r", right))
    ]
    on = ["key", WINDOW_START, WINDOW_END]
    return sides[0].join(sides[1], on=on, how="full", coalesce=True, nulls_equal=True)


def kernel(gap: int | None, compaction: Compaction | None = None) -> CoGroupKernel:
    if gap is None:
        given = WindowsOfRows(
            WindowAssignment(Given("l_start", "l_end")), WindowAssignment(Given("r_start", "r_end"))
        )
        return CoGroupKernel(given, groups_of, compaction or Compaction())
    sessions = SharedSessions(("l_key",), ("r_key",), gap)
    return CoGroupKernel(sessions, groups_of, compaction or Compaction())


class CoGroupDriver(JoinDriver):
    """A kernel fed step by step, whose output are groups."""

    def __init__(self, kernel: CoGroupKernel) -> None:
        super().__init__(kernel, windowed=isinstance(kernel.windows, WindowsOfRows))

    def groups(self, rows: Sequence[Arrived], watermark: int) -> list[Group]:
        told = self.output(rows, watermark)
        told = told.select("key", WINDOW_START, WINDOW_END, "l_payload", "r_payload")
        return [(k, s, e, tuple(one or ()), tuple(two or ())) for k, s, e, one, two in told.rows()]


# --- stories -----------------------------------------------------------------------------------


def test_a_row_of_either_side_bridges_sessions_of_both() -> None:
    #  a:  left 0 ----10          left 18 ----28
    #              right 9 ----19       => one session [0, 28)
    driver = CoGroupDriver(kernel(GAP))

    assert driver.groups([left("a", 0, 1), left("a", 18, 2)], 5) == []
    assert driver.next_event_time == 9
    assert driver.groups([right("a", 9, 3, 5)], 9) == []
    assert driver.groups([], 26) == []
    assert driver.groups([], 27) == [("a", 0, 28, (1, 2), (3,))]
    assert driver.state.queue("closing").height == 0


def test_a_session_of_only_one_side_is_a_group_with_the_other_side_empty() -> None:
    driver = CoGroupDriver(kernel(GAP))
    rows = [left("a", 0, 1), right("b", 3, 2), left("a", 30, 3)]

    assert sorted(driver.groups(rows, AFTER_ALL)) == [
        ("a", 0, 10, (1,), ()),
        ("a", 30, 40, (3,), ()),
        ("b", 3, 13, (), (2,)),
    ]


def test_rows_of_a_closed_session_are_not_in_a_later_one_over_their_time() -> None:
    driver = CoGroupDriver(kernel(GAP))

    assert driver.groups([left("a", 0, 1), left("a", 5, 2), left("a", 11, 9), left("a", 30, 4)], 4)\
        == []  # fmt: skip
    assert driver.groups([], 20) == [("a", 0, 21, (1, 2, 9), ())]
    # [12, 22), [21, 31) and [30, 40) are one session; so is [2, 12), which would be late alone.
    rows = [left("a", 12, 5, 20), left("a", 21, 6, 20), left("a", 2, 7, 20)]
    assert driver.groups(rows, 39) == [("a", 2, 40, (4, 5, 6, 7), ())]


def test_a_join_of_sessions_is_the_pairs_of_its_groups() -> None:
    joined = CoGroupKernel(
        SharedSessions(("l_key",), ("r_key",), GAP), Matches(("l_key",), ("r_key",))
    )
    rows = [left("a", 0, 1), right("a", 9, 2), left("a", 18, 3), right("b", 1, 4)]

    assert JoinDriver(joined).pairs(rows, AFTER_ALL) == [(1, 2), (3, 2)]


# --- the reference -----------------------------------------------------------------------------


def expected(reference: CoGroupReference, events: Sequence[Event]) -> list[Group]:
    out: list[Group] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        else:
            reference.arrive(event.side, event.row)
    return out


@pytest.mark.parametrize("gap", [None, GAP])
@given(history=HISTORIES, cuts=CUTS, compaction=COMPACTIONS)
@searched(25)
def test_rows_match_as_they_do_one_by_one_however_they_are_cut(
    gap: int | None, history: list[Event], cuts: list[str], compaction: Compaction
) -> None:
    reference = CoGroupReference(window_of, gap)
    driver = CoGroupDriver(kernel(gap, compaction))

    driver.check(history, cuts, driver.groups, lambda events: expected(reference, events))

    assert driver.late == reference.late


@given(HISTORIES, COMPACTIONS)
@searched(25)
def test_sessions_are_over_when_the_kernel_asks_to_be_called(
    history: list[Event], compaction: Compaction
) -> None:
    reference = CoGroupReference(window_of, GAP)
    driver = CoGroupDriver(kernel(GAP, compaction))
    for event in [*history, AFTER_ALL]:
        told = expected(reference, [event])
        if isinstance(event, Arrived):
            assert driver.groups([event], event.stamp) == []
        elif driver.next_event_time is not None and driver.next_event_time <= event:
            assert in_any_order(driver.groups([], event)) == in_any_order(told)
        else:
            assert told == []
