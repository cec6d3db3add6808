"""The window join: a story, and the kernel against its row-at-a-time reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.co_group.kernel import CoGroupKernel, WindowAssignment
from tidemark.kernels.columns import AFTER_ALL, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.spec import (
    WINDOW_END,
    WINDOW_START,
    Cumulating,
    Given,
    Sliding,
)

from .histories import (
    COMPACTIONS,
    CONDITION,
    CUTS,
    HOWS,
    Event,
    JoinDriver,
    Pair,
    Window,
    histories,
    holds,
    left,
    right,
    window_of,
)
from .reference import Row
from .window_join_reference import WindowJoinReference
from .windows.reference import windows_of

GIVEN = Given("l_start", "l_end"), Given("r_start", "r_end")
# Windows that follow from a row's time: next to each other, over each other, apart.
ASSIGNERS = [
    Sliding(10, 10),
    Sliding(10, 10, offset=3),
    Sliding(12, 5),
    Sliding(4, 9, offset=-2),
    Cumulating(12, 4, offset=1),
]


def joining(
    how: str,
    condition: pl.Expr | None = None,
    nulls_equal: bool = False,
    compaction: Compaction | None = None,
    windows: tuple[Given | Sliding | Cumulating, Given | Sliding | Cumulating] = GIVEN,
) -> CoGroupKernel:
    return window_join(
        ("l_key",),
        ("r_key",),
        WindowAssignment(windows[0]),
        WindowAssignment(windows[1]),
        how=how,  # type: ignore[arg-type]
        condition=condition,
        nulls_equal=(nulls_equal,),
        compaction=compaction,
    )


def driver_of(kernel: CoGroupKernel, windowed: bool = True) -> JoinDriver:
    return JoinDriver(kernel, windowed=windowed)


# --- a story -----------------------------------------------------------------------------------


def test_a_window_joins_at_its_last_millisecond_and_takes_no_rows_after_it() -> None:
    #  window [0, 10): left a1, b2   right a5    | at 9:  a1-a5, b2 alone
    #  window [10, 20): left a13     right z11   | at 19: a13 alone, z11 alone
    driver = driver_of(joining("full"))

    assert driver.pairs([left("a", 1, 1), left("b", 2, 2), right("a", 5, 5)], 8) == []
    assert driver.next_event_time == 9
    # Behind the watermark, but its window is still open.
    assert driver.pairs([left("a", 3, 3, 8), right("z", 11, 11, 8)], 9) == [
        (1, 5),
        (3, 5),
        (2, None),
    ]
    assert driver.pairs([right("a", 6, 6, 9), left("a", 13, 13, 9)], 18) == []
    assert driver.metrics is not None
    assert driver.metrics.late == (0, 1)
    assert driver.metrics.waiting == 2
    assert driver.pairs([], 19) == [(13, None), (None, 11)]
    assert driver.state.height == 0
    assert driver.next_event_time is None


def test_a_pair_that_fails_the_condition_leaves_both_rows_unmatched() -> None:
    driver = driver_of(joining("full", pl.col("l_payload") < pl.col("r_payload")))
    rows = [left("a", 1, 3), right("a", 2, 5), left("a", 4, 7), right("a", 3, 1)]

    assert driver.pairs(rows, AFTER_ALL) == [(3, 5), (7, None), (None, 1)]


def test_waiting_rows_are_stored_with_their_hashes_and_windows_only() -> None:
    driver = driver_of(joining("inner"))
    driver.pairs([left("a", 1, 1)], 0)
    [segment] = driver.state.segments()

    assert TIME not in segment.rows().columns
    assert segment.rows().width == 5


def test_a_row_matches_others_in_each_of_its_windows_and_shows_the_window() -> None:
    #  windows of 10 every 5:  left a7 in [0, 10) and [5, 15)   right a3 in [-5, 5) and [0, 10)
    start, end = pl.col(WINDOW_START).alias("from"), pl.col(WINDOW_END).alias("until")
    left_side, right_side = (
        WindowAssignment(Sliding(10, 5), (start, end)),
        WindowAssignment(Sliding(10, 5)),
    )
    wanted = ("l_payload", "from", "until", "r_payload")
    kernel = window_join(("l_key",), ("r_key",), left_side, right_side, "left", wanted=wanted)
    driver = driver_of(kernel, windowed=False)

    assert driver.output([left("a", 7, 1), right("a", 3, 2)], 4).rows() == []
    assert driver.output([], 9).rows() == [(1, 0, 10, 2)]
    # Its window [0, 10) is over, but not [5, 15).
    assert driver.output([right("a", 9, 3, 9)], 14).rows() == [(1, 5, 15, 3)]
    assert driver.metrics is not None
    assert driver.metrics.late == (0, 1)
    assert driver.late == ([], [])
    driver.pairs([right("a", 8, 4, 14)], 14)
    assert driver.metrics.late == (0, 2)
    assert driver.late == ([], [4])
    assert driver.state.height == 0


# --- the reference -----------------------------------------------------------------------------


def expected(
    reference: WindowJoinReference,
    events: Sequence[Event],
    windows: Callable[[Row], list[Window]],
) -> list[Pair]:
    out: list[Pair] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
            continue
        reference.arrive(event.side, event.row, windows(event.row))
    return out


@given(
    st.sampled_from(HOWS),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, *ASSIGNERS]),
    histories(near=25, far=12),
    CUTS,
    COMPACTIONS,
)
@searched(100)
def test_rows_join_as_they_do_one_by_one_however_they_are_cut(
    how: str,
    conditional: bool,
    nulls_equal: bool,
    assigner: Sliding | Cumulating | None,
    history: list[Event],
    cuts: list[str],
    compaction: Compaction,
) -> None:
    reference = WindowJoinReference(how, nulls_equal=nulls_equal)
    if conditional:
        reference.condition = holds
    condition = CONDITION if conditional else None
    windows = GIVEN if assigner is None else (assigner, assigner)
    kernel = joining(how, condition, nulls_equal, compaction, windows)
    driver = driver_of(kernel, windowed=assigner is None)

    def windows_of_row(row: Row) -> list[Window]:
        return [window_of(row)] if assigner is None else windows_of(assigner, row.time)

    driver.check(
        history, cuts, driver.pairs, lambda events: expected(reference, events, windows_of_row)
    )

    assert driver.late == reference.late
    assert driver.dropped == reference.dropped
    assert driver.state.height == 0
