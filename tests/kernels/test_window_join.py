"""The window join: a story, and the kernel against its row-at-a-time reference."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.kernels.co_group import CoGroup, Placing
from tidemark.kernels.columns import AFTER_ALL, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.spec import Given

from .histories import (
    COMPACTIONS,
    CONDITION,
    CUTS,
    HOWS,
    Event,
    JoinDriver,
    Pair,
    histories,
    holds,
    left,
    right,
    window_of,
)
from .window_join_reference import WindowJoinReference


def joining(
    how: str,
    condition: pl.Expr | None = None,
    nulls_equal: bool = False,
    compaction: Compaction | None = None,
) -> CoGroup:
    return window_join(
        ("l_key",),
        ("r_key",),
        Placing(Given("l_start", "l_end")),
        Placing(Given("r_start", "r_end")),
        how=how,  # type: ignore[arg-type]
        condition=condition,
        nulls_equal=(nulls_equal,),
        compaction=compaction,
    )


def driver_of(kernel: CoGroup) -> JoinDriver:
    return JoinDriver(kernel, windowed=True)


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


def test_a_pair_that_fails_the_condition_leaves_both_rows_without_a_partner() -> None:
    driver = driver_of(joining("full", pl.col("l_payload") < pl.col("r_payload")))
    rows = [left("a", 1, 3), right("a", 2, 5), left("a", 4, 7), right("a", 3, 1)]

    assert driver.pairs(rows, AFTER_ALL) == [(3, 5), (7, None), (None, 1)]


def test_what_waits_holds_no_more_than_the_rows_their_hashes_and_windows() -> None:
    driver = driver_of(joining("inner"))
    driver.pairs([left("a", 1, 1)], 0)
    [segment] = driver.state.segments()

    assert TIME not in segment.rows().columns
    assert segment.rows().width == 5


# --- the reference -----------------------------------------------------------------------------


def expected(reference: WindowJoinReference, events: Sequence[Event]) -> list[Pair]:
    out: list[Pair] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        else:
            reference.arrive(event.side, event.row, window_of(event.row))
    return out


@given(
    st.sampled_from(HOWS),
    st.booleans(),
    st.booleans(),
    histories(near=25, far=12),
    CUTS,
    COMPACTIONS,
)
@settings(max_examples=150, deadline=None)
def test_rows_join_as_if_each_came_alone_however_they_are_cut(
    how: str,
    conditional: bool,
    nulls_equal: bool,
    history: list[Event],
    cuts: list[str],
    compaction: Compaction,
) -> None:
    reference = WindowJoinReference(how, nulls_equal=nulls_equal)
    if conditional:
        reference.condition = holds
    condition = CONDITION if conditional else None
    driver = driver_of(joining(how, condition, nulls_equal, compaction))

    driver.check(history, cuts, driver.pairs, lambda events: expected(reference, events))

    assert driver.late == reference.late
    assert driver.state.height == 0
