"""The interval join against its row-at-a-time reference, over all that can happen to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel
from tidemark.kernels.segments import Compaction

from .drive import Arrived
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
    in_any_order,
)
from .interval_reference import IntervalReference, StreamReference
from .reference import NONE_YET

MANY = searched(25)

# Negative, zero, wide on one side, and such that nothing can lie between.
BOUNDS = st.one_of(
    st.tuples(st.integers(-6, 3), st.integers(-3, 6)),
    st.sampled_from([(0, 0), (-3, 3), (-1000, 2), (-2, 1000)]),
)

HISTORIES = histories(near=9, far=6)


def joins() -> st.SearchStrategy[tuple[IntervalJoinKernel, IntervalReference]]:
    return st.builds(
        _pair,
        bounds=BOUNDS,
        how=st.sampled_from(HOWS),
        slack=st.sampled_from([0, 0, 0, 1, 2, 5]),
        conditional=st.booleans(),
        wanted=st.sampled_from([(), ("l_payload", "r_payload")]),
        compaction=COMPACTIONS,
    )


def _pair(
    bounds: tuple[int, int],
    how: str,
    slack: int,
    conditional: bool,
    wanted: tuple[str, ...],
    compaction: Compaction,
) -> tuple[IntervalJoinKernel, IntervalReference]:
    kernel = IntervalJoinKernel(
        ("l_key",),
        ("r_key",),
        *bounds,
        how=how,  # type: ignore[arg-type]
        condition=CONDITION if conditional else None,
        slack=slack,
        wanted=wanted,
        compaction=compaction,
    )
    reference = IntervalReference(*bounds, how=how, slack=slack)
    if conditional:
        reference.condition = holds
    return kernel, reference


def feed(reference: IntervalReference | StreamReference, events: Sequence[Event]) -> list[Pair]:
    out: list[Pair] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        else:
            out += reference.arrive(event.side, event.row)
    return out


@given(joins(), HISTORIES, CUTS)
@MANY
def test_stamped_rows_join_as_they_do_one_by_one(
    join: tuple[IntervalJoinKernel, IntervalReference], history: list[Event], cuts: list[str]
) -> None:
    kernel, reference = join
    driver = JoinDriver(kernel)

    driver.check(history, cuts, driver.pairs, lambda events: feed(reference, events))


@given(joins(), HISTORIES)
@MANY
def test_a_kernel_called_only_when_it_asks_to_misses_nothing(
    join: tuple[IntervalJoinKernel, IntervalReference], history: list[Event]
) -> None:
    kernel, reference = join
    driver = JoinDriver(kernel)
    for event in [*history, AFTER_ALL]:
        expected = in_any_order(feed(reference, [event]))
        if isinstance(event, Arrived):
            assert in_any_order(driver.pairs([event], event.stamp)) == expected
        elif driver.next_event_time is not None and driver.next_event_time <= event:
            assert in_any_order(driver.pairs([], event)) == expected
        else:
            assert expected == []


@given(joins(), HISTORIES)
@MANY
def test_by_the_time_of_day_rows_are_as_old_as_their_arrival(
    join: tuple[IntervalJoinKernel, IntervalReference], history: list[Event]
) -> None:
    kernel, reference = replace(join[0], time="processing"), join[1]
    driver = JoinDriver(kernel)
    clock = 1000
    for event in history:
        clock += event % 3 if isinstance(event, int) else 0
        expected = reference.advance(clock)
        rows = [] if isinstance(event, int) else [event]
        for arrived in rows:
            expected += reference.arrive(arrived.side, replace(arrived.row, time=clock))

        assert in_any_order(driver.pairs(rows, NONE_YET, clock)) == in_any_order(expected)


@given(BOUNDS, HISTORIES, CUTS, COMPACTIONS)
@MANY
def test_the_form_of_the_stream_api_drops_late_rows_and_keeps_each_row_by_its_own_time(
    bounds: tuple[int, int], history: list[Event], cuts: list[str], compaction: Compaction
) -> None:
    driver = JoinDriver(StreamIntervalJoinKernel(("l_key",), ("r_key",), *bounds, compaction))
    reference = StreamReference(*bounds)

    driver.check(history, cuts, driver.pairs, lambda events: feed(reference, events))

    assert driver.late == reference.late
