"""The processing-time temporal join, step by step with a scripted clock."""

from __future__ import annotations

import pytest

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.segments import Compaction
from tidemark.kernels.temporal_join.clean_up import Retention
from tidemark.kernels.temporal_join.load_phase import AfterLoading
from tidemark.kernels.temporal_join.processing_time import ProcessingTimeTemporalJoinKernel

from .drive import Driver

INNER = ProcessingTimeTemporalJoinKernel(("l_key",), ("r_key",))
LEFT_JOIN = ProcessingTimeTemporalJoinKernel(("l_key",), ("r_key",), how="left")


def test_an_order_gets_the_rate_that_is_there_and_is_never_kept() -> None:
    join = Driver(INNER)

    assert join.feed(left="EUR 0 1") == []
    assert join.feed(right="EUR 0 110") == []
    assert join.feed(left="EUR 0 2") == ["2 110 +I"]
    assert join.feed(right="EUR 0 120 +U", left="EUR 0 3") == ["3 120 +I"]
    assert join.metrics is not None and join.metrics.waiting == 0


def test_a_delete_takes_the_rate_away_until_the_next_one() -> None:
    join = Driver(LEFT_JOIN)
    join.feed(right="EUR 0 110")

    assert join.feed(right="EUR 0 110 -D", left="EUR 0 1") == ["1 - +I"]
    assert join.feed(right="EUR 0 130", left="EUR 0 2 -U") == ["2 130 -U"]


def test_null_matches_null_as_a_key_like_any_other() -> None:
    join = Driver(LEFT_JOIN)

    assert join.feed(left="null 0 1", right="null 0 110, EUR 0 120") == ["1 110 +I"]
    assert join.feed(left="null 0 2", right="null 0 0 -D") == ["2 - +I"]


def test_only_matches_and_new_rates_renew_a_key() -> None:
    # Two hours, as in the rules: 10:00 sets 13:00, up to 11:00 leaves it, 11:30 moves it to 14:30.
    retention = Retention.of(120)
    join = Driver(
        ProcessingTimeTemporalJoinKernel(("l_key",), ("r_key",), "left", retention=retention)
    )
    join.feed(right="a 0 1, b 0 2", at=600)
    assert join.feed(left="a 0 1", at=660) == ["1 1 +I"]
    assert join.feed(left="b 0 2, c 0 3", at=690) == ["2 2 +I", "3 - +I"]

    assert join.feed(left="a 0 4", at=779) == ["4 1 +I"]  # moves a's timer to 15:59
    assert join.feed(left="b 0 5", at=869) == ["5 2 +I"]  # moves b's timer to 17:29
    assert join.feed(left="a 0 6, b 0 7", at=959) == ["6 - +I", "7 2 +I"]


def test_a_delete_takes_the_clean_up_timer_with_it() -> None:
    retention = Retention.of(120)
    join = Driver(ProcessingTimeTemporalJoinKernel(("l_key",), ("r_key",), retention=retention))
    join.feed(right="a 0 1", at=600)
    assert join.state.queue("clean_ups").next == 780

    join.feed(right="a 0 1 -D, a 0 2", at=700)
    assert join.feed(left="a 0 1", at=800) == ["1 2 +I"]


# --- with a load phase -------------------------------------------------------------------------


def loading(idle_ms: int = 10) -> Driver:
    return Driver(AfterLoading(LEFT_JOIN, idle_ms, Compaction(fanout=2, smallest=1)))


def test_orders_wait_until_no_rate_has_arrived_for_a_while() -> None:
    join = loading(idle_ms=10)

    assert join.feed(left="EUR 0 1, USD 0 2", at=100) == []
    assert join.feed(right="EUR 0 110", at=108) == []
    assert join.metrics is not None and join.metrics.waiting == 2
    assert join.next_event_time == 100
    assert join.feed(left="EUR 0 3", right="USD 0 100", at=117) == []
    assert join.feed(at=126) == []

    assert join.feed(at=127) == ["1 110 +I", "2 100 +I", "3 110 +I"]
    assert join.metrics.waiting == 0
    assert join.next_event_time is None


def test_rows_that_arrive_after_the_idle_time_follow_those_that_waited() -> None:
    join = loading(idle_ms=10)
    join.feed(right="EUR 0 110", left="EUR 0 1", at=100)

    late = join.feed(right="EUR 0 120", left="EUR 0 2", at=110)

    assert late == ["1 110 +I", "2 120 +I"]


def test_once_loaded_nothing_waits_any_more_and_a_restart_does_not_load_again() -> None:
    join = loading(idle_ms=10)
    join.feed(right="EUR 0 110", at=100)
    join.feed(at=110)
    join.restart()

    assert join.feed(left="EUR 0 1", right="EUR 0 120", at=111) == ["1 120 +I"]


def test_rates_are_loaded_when_their_watermark_reaches_the_start() -> None:
    join = loading(idle_ms=1_000)
    join.feed(left="EUR 0 1", right="EUR 90 110", at=100)
    join.restart()

    assert join.feed(right="EUR 99 120", watermark=99, at=101) == []
    assert join.feed(right="EUR 101 130", left="EUR 0 2", watermark=100, at=102) == [
        "1 130 +I",
        "2 130 +I",
    ]


def test_the_end_of_input_ends_the_loading() -> None:
    join = loading(idle_ms=1_000)

    assert join.feed(left="EUR 0 1", right="EUR 0 110", watermark=AFTER_ALL) == ["1 110 +I"]


@pytest.mark.parametrize("restart", [False, True])
def test_waiting_rows_are_emitted_in_order_of_arrival(restart: bool) -> None:
    join, came_out = loading(idle_ms=10), []
    for place in range(13):
        right = "a 0 1" if place <= 2 else ""
        came_out.append(join.feed(left=f"{'ab'[place % 2]} 0 {place}", right=right, at=place))
        if restart:
            join.restart()

    assert came_out[:12] == [[]] * 12
    assert [int(line.split()[0]) for line in came_out[12]] == list(range(13))
