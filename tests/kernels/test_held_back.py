"""An operator above one that may emit rows behind the watermark."""

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.held_back import HeldBack, held_back
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel

from .drive import LEFT, RIGHT, Arrived, Driver
from .reference import Row

JOIN = TemporalJoinKernel(("l_key",), ("r_key",))


def test_it_acts_when_the_watermark_is_as_much_further():
    join = Driver(HeldBack(JOIN, 3))

    assert join.feed(left="EUR 5 1", right="EUR 5 110", watermark=6) == []
    assert join.next_event_time == 8
    assert join.feed(watermark=8) == ["1 110 +I"]


def test_a_row_within_the_delay_is_not_late():
    join = Driver(HeldBack(JOIN, 3))
    rows = [Arrived(RIGHT, Row("EUR", 1, 110), 8), Arrived(LEFT, Row("EUR", 6, 1), 8)]

    assert join.step(rows, 8) == []
    assert join.metrics is not None and join.metrics.late == (0, 1)
    assert join.step([], AFTER_ALL) == [(1, 110, "+I")]


def test_without_a_delay_the_kernel_is_itself():
    assert held_back(JOIN, 0) is JOIN
