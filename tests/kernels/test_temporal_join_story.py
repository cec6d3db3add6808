"""The event-time temporal join, step by step."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, HASH, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.temporal_join.clean_up import Retention
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel

from .drive import Driver

INNER = TemporalJoinKernel(("l_key",), ("r_key",))
LEFT_JOIN = TemporalJoinKernel(("l_key",), ("r_key",), how="left")


def test_an_order_waits_until_its_rate_cannot_change() -> None:
    join = Driver(INNER)

    assert join.feed(left="EUR 5 1", right="EUR 1 110", watermark=4) == []
    assert join.next_event_time == 5
    assert join.feed(right="EUR 5 120", watermark=4) == []
    assert join.feed(watermark=5) == ["1 120 +I"]
    assert join.next_event_time is None


def test_rows_are_emitted_in_order_of_arrival_with_their_kind() -> None:
    join = Driver(INNER)
    join.feed(left="EUR 5 1 +I, EUR 3 2 -U, EUR 4 3 +U", right="EUR 1 110")

    assert join.feed(watermark=9) == ["1 110 +I", "2 110 -U", "3 110 +U"]


def test_of_two_versions_with_one_time_the_later_one_counts() -> None:
    join = Driver(INNER)
    join.feed(left="EUR 5 1", right="EUR 5 110, EUR 5 120")

    assert join.feed(watermark=9) == ["1 120 +I"]


def test_a_delete_ends_a_version_and_a_retraction_does_not() -> None:
    join = Driver(LEFT_JOIN)
    join.feed(left="EUR 3 1, EUR 6 2, EUR 9 3", right="EUR 1 110, EUR 5 110 -U, EUR 8 0 -D")

    assert join.feed(watermark=9) == ["1 110 +I", "2 110 +I", "3 - +I"]


def test_a_retraction_may_end_the_version_at_its_time() -> None:
    join = Driver(
        TemporalJoinKernel(("l_key",), ("r_key",), how="left", update_before="ends version")
    )
    join.feed(left="EUR 3 1, EUR 6 2", right="EUR 1 110, EUR 1 110 -U, EUR 5 120 +U")

    assert join.feed(watermark=9) == ["1 - +I", "2 120 +I"]


def test_a_late_order_matches_the_only_version_left_or_nothing() -> None:
    # versions   1---12---20        35
    # orders           10      30 (15!)   the row at 15 comes after the watermark 30
    join = Driver(LEFT_JOIN)
    join.feed(right="a 1 1, a 12 2, a 20 3", left="a 10 1, a 30 2")
    assert join.feed(watermark=30) == ["1 1 +I", "2 3 +I"]

    assert join.feed(left="a 15 3, a 25 4", watermark=30) == []
    assert join.metrics is not None and join.metrics.late == (2, 0)
    assert join.next_event_time == 31
    assert join.feed(watermark=31) == ["3 - +I", "4 3 +I"]


def test_late_orders_may_be_dropped_by_the_watermark_that_they_meet() -> None:
    join = Driver(replace(LEFT_JOIN, drops_late=True))
    join.feed(right="a 1 1, a 12 2, a 20 3", left="a 10 1, a 30 2")
    join.feed(watermark=30)

    assert join.feed(left="a 15 3, a 30 4, a 31 5, b 2 6", right="a 25 7", watermark=30) == []
    assert join.metrics is not None
    assert (join.metrics.late, join.metrics.waiting) == ((3, 1), 1)
    assert join.feed(watermark=31) == ["5 7 +I"]


def test_a_retraction_of_an_old_version_is_not_late() -> None:
    join = Driver(INNER)
    join.feed(right="a 1 1, a 9 2", watermark=9)

    join.feed(right="a 9 2 -U, a 12 3 +U, a 12 3 -U, a 5 4 +U", watermark=9)
    assert join.metrics is not None and join.metrics.late == (0, 1)


def test_late_orders_that_wait_when_a_job_resumes_are_joined_although_it_drops_others_now() -> None:
    join = Driver(LEFT_JOIN)
    join.feed(right="a 1 1", left="a 10 1", watermark=30)
    join.restart()
    join.kernel = replace(LEFT_JOIN, drops_late=True)

    join.feed(left="a 10 2", watermark=30)
    assert join.feed(watermark=31) == ["1 1 +I"]


def test_null_matches_null_as_a_key_like_any_other() -> None:
    join = Driver(LEFT_JOIN)
    join.feed(left="null 5 1, null 8 2, EUR 9 3", right="null 3 110, null 7 0 -D")

    assert join.feed(watermark=9) == ["1 110 +I", "2 - +I", "3 - +I"]


def test_an_inner_join_drops_null_keys_that_have_no_version() -> None:
    join = Driver(INNER)
    join.feed(left="null 5 1", right="EUR 1 110")

    assert join.feed(watermark=9) == []


def test_the_end_of_input_lets_everything_out() -> None:
    join = Driver(LEFT_JOIN)
    join.feed(left="EUR 5 1, USD 99 2", right="EUR 1 110")

    assert sorted(join.feed(watermark=AFTER_ALL)) == ["1 110 +I", "2 - +I"]
    assert join.metrics is not None and join.metrics.waiting == 0


def test_a_key_keeps_one_version_of_the_past_however_many_came() -> None:
    join = Driver(TemporalJoinKernel(("l_key",), ("r_key",), compaction=Compaction(2, 1)))
    for time in range(100):
        join.feed(right=f"EUR {time} {time}", watermark=time - 1)

    assert join.state.keyed("versions").height < 10


def test_an_idle_key_expires_between_the_shortest_and_the_longest_time() -> None:
    # With two hours: access at 10:00 sets 13:00, one at 11:00 leaves it, one at 11:30 moves it.
    join = Driver(TemporalJoinKernel(("l_key",), ("r_key",), retention=Retention.of(120)))
    join.feed(right="a 1 1, b 1 1", at=600)
    assert join.state.queue("clean_ups").next == 780
    join.feed(right="a 2 2", at=660)
    join.feed(right="b 2 2", at=690)
    join.feed(left="a 3 1, b 3 2", at=690)
    assert join.state.queue("clean_ups").next == 780

    join.feed(at=780)  # nothing of a's first timer is left: it moved to 14:30 at 11:30
    assert join.state.queue("clean_ups").next == 870
    assert join.feed(watermark=3, at=780) == ["1 2 +I", "2 2 +I"]
    join.feed(at=960)
    join.feed(left="a 9 3", at=961)
    assert join.feed(watermark=9, at=962) == []


def test_expired_keys_leave_no_state() -> None:
    kernel = TemporalJoinKernel(
        ("l_key",), ("r_key",), retention=Retention(2, 3), compaction=Compaction(2, 1)
    )
    join = Driver(kernel, hash_values=2**62)
    for time in range(100):
        join.feed(right=f"key{time} {time} 1", watermark=time - 1, at=time)

    assert join.state.height < 50


def test_a_step_writes_what_it_touches_and_not_what_is_kept() -> None:
    def frame(name: str, keys: range, time: int, stamp: int) -> pl.DataFrame:
        count = len(keys)
        columns = {
            f"{name}_key": list(keys),
            HASH: [key * 7919 for key in keys],
            TIME: [time] * count,
            ARRIVAL: list(range(count)),
            STAMP: [stamp] * count,
        }
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))

    no_keys = range(0)
    state = State()
    for part in range(10):
        keys = range(part * 5000, (part + 1) * 5000)
        rows = [frame("l", no_keys, 0, part - 1), frame("r", keys, part, part - 1)]
        state = INNER.step(state, rows, part, 0).state
    versions = state.keyed("versions").segments
    assert sum(segment.height for segment in versions) == 50_000
    assert len(versions) < 10

    orders = [frame("l", range(7, 10), 20, 10), frame("r", no_keys, 0, 10)]
    waiting = INNER.step(state, orders, 10, 0).state
    step = INNER.step(waiting, [rows.clear() for rows in orders], 20, 0)

    assert step.output["l_key"].to_list() == [7, 8, 9]
    assert step.state.keyed("versions").segments == versions
    written = {segment.id for segment in step.state.segments()}
    before = {segment.id: segment for segment in waiting.segments()}
    assert sum(s.height for s in step.state.segments() if s.id in written - before.keys()) <= 3
