"""What a clock on the wall shows, and when a time of it has passed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, SEEN, STAMP, TIME
from tidemark.kernels.stamped import Stamped
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Session, Sliding
from tidemark.kernels.windows.wall_clock import ShownClock, WallClock, instants
from tidemark.kernels.windows.window_time import WINDOW_TIME, WithWindowTime

HOUR = 3_600_000
DAYS = WindowAggregateKernel(
    (), Sliding(24 * HOUR, 24 * HOUR), (AggregateSpec("COUNT", (), "n", pl.Int64()),)
)
LOS_ANGELES = WallClock(DAYS, "America/Los_Angeles")


def instant(text: str) -> int:
    """Milliseconds of a time in UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def rows(*times: int, stamps: tuple[int, ...] = ()) -> pl.DataFrame:
    return pl.DataFrame(
        {
            HASH: [0] * len(times),
            TIME: times,
            ARRIVAL: range(len(times)),
            STAMP: stamps or [BEFORE_ALL] * len(times),
        },
        schema=dict.fromkeys((HASH, TIME, ARRIVAL, STAMP), pl.Int64),
    )


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "GMT+08:00", "+8"])
def test_a_day_is_that_of_the_zone(zone):
    kernel = WallClock(DAYS, zone)
    before, after = instant("2024-05-05T15:59:59"), instant("2024-05-05T16:00:00")
    step = kernel.step(State(), [rows(before, after)], AFTER_ALL, 0)

    assert step.output["n"].to_list() == [1, 1]
    assert step.output["_tm_window_start"].to_list() == [
        instant("2024-05-05T00:00:00"),
        instant("2024-05-06T00:00:00"),
    ]


def test_days_of_processing_time_are_those_of_the_zone():
    days = replace(DAYS, processing_time=True)
    clock = ShownClock(days, "Asia/Shanghai")
    midnight = instant("2024-05-05T16:00:00")
    first = clock.step(State(), [rows(0, 0)], BEFORE_ALL, midnight - HOUR)
    second = clock.step(first.state, [rows()], BEFORE_ALL, midnight)

    assert first.output.is_empty()
    assert second.output["n"].to_list() == [2]
    assert second.output["_tm_window_start"].to_list() == [instant("2024-05-05T00:00:00")]


def test_sessions_of_processing_time_are_emitted_once():
    sessions = replace(DAYS, assigner=Session(HOUR), processing_time=True)
    clock, told = ShownClock(sessions, "Asia/Shanghai"), []
    state, now = State(), instant("2024-05-05T12:00:00")
    for hour, came in enumerate([rows(0), rows(), rows(0), rows(), rows()]):
        step = clock.step(state, [came], BEFORE_ALL, now + hour * HOUR)
        state = step.state
        told += [(start - now) // HOUR for start in step.output["_tm_window_start"]]

    assert told == [8, 10]


def test_a_day_ends_when_the_watermark_reaches_its_midnight():
    midnight = instant("2024-05-06T07:00:00")
    first = LOS_ANGELES.step(State(), [rows(midnight - HOUR)], midnight - 2, 0)
    second = LOS_ANGELES.step(first.state, [rows()], midnight - 1, 0)

    assert first.output.is_empty()
    assert (first.next_event_time, first.state.watermark) == (midnight - 1, midnight - 2)
    assert second.output["n"].to_list() == [1]


def test_of_an_hour_that_comes_twice_nothing_has_passed_before_the_second_time():
    # Clocks went back from two to one at 09:00 UTC.
    assert LOS_ANGELES.passed(instant("2024-11-03T08:59:59")) == instant("2024-11-03T01:00:00")
    assert LOS_ANGELES.passed(instant("2024-11-03T09:30:00")) == instant("2024-11-03T01:30:00")


def test_an_hour_that_is_left_out_has_passed_at_once():
    # Clocks went forward from two to three at 10:00 UTC.
    assert LOS_ANGELES.passed(instant("2024-03-10T10:00:00")) == instant("2024-03-10T03:00:00")


def test_no_watermark_and_the_end_are_the_same_on_every_clock():
    assert LOS_ANGELES.passed(BEFORE_ALL) == BEFORE_ALL
    assert LOS_ANGELES.passed(AFTER_ALL) == AFTER_ALL


@given(
    st.integers(instant("1990-01-01T00:00:00"), instant("2035-01-01T00:00:00")),
    st.sampled_from(["America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Tokyo"]),
)
def test_the_clock_is_that_of_the_calendar_and_what_has_passed_never_falls(moment, zone):
    clock = WallClock(DAYS, zone)
    shown = moment + int(clock.offsets(np.array([moment]))[0])
    calendar = datetime.fromtimestamp(moment // 1000, ZoneInfo(zone)).replace(tzinfo=UTC)

    assert shown // 1000 == int(calendar.timestamp())
    assert clock.passed(moment) <= shown
    assert clock.passed(moment) <= clock.passed(moment + HOUR // 2) <= clock.passed(moment + HOUR)


def test_rows_that_bring_their_stamps_are_judged_one_by_one():
    seconds = WindowAggregateKernel(
        (), Sliding(10, 10), (AggregateSpec("COUNT", (), "n", pl.Int64()),)
    )
    arrived = rows(1, 12, 2).with_columns(pl.Series(SEEN, [BEFORE_ALL, 1, 12], pl.Int64))
    step = Stamped(seconds).step(State(), [arrived], AFTER_ALL, 0)

    assert step.output["n"].to_list() == [1, 1]
    assert step.metrics.late == (1,)


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ("2024-07-01T12:00:00", "2024-07-01T10:00:00"),
        ("2024-03-31T02:30:00", "2024-03-31T01:30:00"),  # skipped: the clock shows 03:30
        ("2024-10-27T02:30:00", "2024-10-27T00:30:00"),  # shown twice: the first time
        ("1893-04-01T00:00:00", "1893-03-31T23:06:32"),
    ],
)
def test_a_time_that_a_clock_shows_is_an_instant(shown: str, meant: str) -> None:
    times = pl.Series([instant(shown), None, instant(shown)])

    assert instants(times, "Europe/Berlin").to_list() == [instant(meant), None, instant(meant)]


@given(st.integers(-(10**13), 10**13))
def test_the_instant_of_what_a_clock_shows_is_that_instant(moment: int) -> None:
    wall = WallClock(DAYS, "America/Los_Angeles")
    [offset] = wall.offsets(np.array([moment]))
    [found] = instants(pl.Series([moment + int(offset)]), wall.zone)

    # An hour that comes twice is taken for its first one.
    assert found == moment or 0 < moment - found <= HOUR


def test_windows_say_when_they_happen() -> None:
    in_berlin = WithWindowTime(WallClock(DAYS, "Europe/Berlin"), "Europe/Berlin")
    step = in_berlin.step(State(), [rows(instant("2024-07-01T12:00:00"))], AFTER_ALL, 0)

    assert step.output[WINDOW_TIME].to_list() == [instant("2024-07-01T21:59:59.999")]
    assert WithWindowTime(DAYS).step(State(), [rows(5)], AFTER_ALL, 0).output[
        WINDOW_TIME
    ].to_list() == [24 * HOUR - 1]
