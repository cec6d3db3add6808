"""The interval join, step by step."""

from __future__ import annotations

import pytest

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel

from .drive import LEFT, RIGHT, Arrived
from .histories import JoinDriver, left, right
from .reference import Row

KEYS = (("l_key",), ("r_key",))
LABELS = {1: "1,111", 2: "2,222", 4: "4,4444"}


class Worked:
    """The worked example: left rows five seconds late at most, right rows two, a LEFT JOIN with
    `r_time BETWEEN l_time - 4s AND l_time + 6s`, kept half the width longer. Times are seconds
    after 10:10; each row is a micro-batch, and sees the watermark of the rows before it."""

    def __init__(self) -> None:
        join = IntervalJoinKernel(*KEYS, -4000, 6000, how="left", slack=(6000 + 4000) // 2)
        self.driver = JoinDriver(join)
        self.seen = [None, None]

    def left(self, key: str, second: int) -> list[str]:
        return self._feed(LEFT, key, second, int(key), delay=5)

    def right(self, key: str, location: str, second: int) -> list[str]:
        return self._feed(RIGHT, key, second, ord(location), delay=2)

    def _feed(self, side: int, key: str, second: int, payload: int, delay: int) -> list[str]:
        before = self.watermark()
        row = Arrived(side, Row(key, second * 1000, payload), before)
        self.seen[side] = max(self.seen[side] or 0, (second - delay) * 1000)
        pairs = self.driver.pairs([row], self.watermark())
        return [f"{LABELS[a]},{chr(b) if b else 'null'}" for a, b in pairs]

    def watermark(self) -> int:
        """That of the operator: nothing until both sides have one, then the smaller."""
        return 0 if None in self.seen else min(self.seen)

    def up_to_row_five(self) -> Worked:
        assert self.left("1", 16) == []
        assert self.right("2", "B", 20) == []
        assert self.watermark() == 11_000
        assert self.left("2", 22) == ["2,222,B"]
        assert self.watermark() == 17_000
        assert self.left("4", 35) == []
        assert self.watermark() == 18_000
        assert self.right("4", "D", 29) == []
        assert self.watermark() == 27_000
        return self


def test_worked_example_first_ending_the_timer_pads_a_row():
    join = Worked().up_to_row_five()

    assert join.driver.next_event_time == 27_001
    assert join.right("5", "E", 30) == ["1,111,null"]
    assert join.watermark() == 28_000


def test_worked_example_second_ending_an_expired_row_matches_once_more():
    join = Worked().up_to_row_five()

    assert join.right("1", "A", 17) == ["1,111,A"]
    assert join.right("1", "A", 17) == []
    assert join.right("5", "E", 30) == []


def test_worked_example_third_ending_looking_at_an_expired_row_removes_it():
    join = Worked().up_to_row_five()

    assert join.right("1", "A", 30) == ["1,111,null"]
    assert join.watermark() == 28_000
    assert join.right("5", "E", 31) == []


def test_a_row_that_is_overtaken_outlives_its_expiry_and_matches_once_more():
    # left    20 then 10; both live 5 longer      timer at 26, set for the row at 20
    # right                    10 (at watermark 18, when the left row at 10 has expired)
    join = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5))
    rows = [Arrived(LEFT, Row("a", 20, 1), 0), Arrived(LEFT, Row("a", 10, 2), 0)]
    assert join.pairs(rows, 18) == []

    late = [Arrived(RIGHT, Row("a", 10, payload), 18) for payload in (7, 8)]
    assert join.pairs(late, 18) == [(2, 7)]
    assert join.metrics is not None and join.metrics.late == (0, 2)


def test_a_row_in_order_is_gone_as_soon_as_it_expires():
    join = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5))
    join.pairs([Arrived(LEFT, Row("a", 10, 1), 0)], 15)

    assert join.pairs([Arrived(RIGHT, Row("a", 9, 7), 15)], 15) == [(1, 7)]
    assert join.pairs([Arrived(RIGHT, Row("a", 9, 8), 16)], 16) == []


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("inner", []),
        ("left", [(1, None)]),
        ("right", [(None, 7)]),
        ("full", [(1, None), (None, 7)]),
        ("semi", []),
        ("anti", [(1, None)]),
    ],
)
def test_unmatched_rows_are_emitted_at_the_end_of_the_input(how, end):
    join = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5, how=how))
    join.pairs([Arrived(RIGHT, Row("a", 10, 7), 0), Arrived(LEFT, Row("a", 90, 1), 0)], 0)

    assert sorted(join.pairs([], AFTER_ALL), key=str) == end


def test_pairs_are_emitted_in_the_order_of_their_later_rows():
    join = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5))
    rows = [(RIGHT, 7, 3), (LEFT, 1, 4), (LEFT, 2, 1), (RIGHT, 8, 2)]
    arrived = [Arrived(side, Row("a", time, payload), 0) for side, payload, time in rows]

    assert join.pairs(arrived, 0) == [(1, 7), (2, 7), (2, 8), (1, 8)]


@pytest.mark.parametrize("how", ["inner", "full"])
@pytest.mark.parametrize("wanted", ["l_payload", "r_payload"])
def test_one_side_may_be_wanted_without_the_other(how, wanted):
    rows = [left("a", 3, 1), right("a", 4, 2), left("b", 3, 3), right("c", 4, 4)]
    whole = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5, how=how)).output(rows, AFTER_ALL)
    narrow = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5, how=how, wanted=(wanted,)))

    assert narrow.output(rows, AFTER_ALL).to_dict(as_series=False) == {
        wanted: whole[wanted].to_list()
    }


@pytest.mark.parametrize(
    ("join", "kept"), [(IntervalJoinKernel, 15), (StreamIntervalJoinKernel, 14)]
)
def test_rows_that_expire_within_a_step_are_never_stored(join, kept):
    driver = JoinDriver(join(*KEYS, -5, 5), hash_values=1000)
    rows = [Arrived(side, Row("a", n, n), 0) for n in range(100) for side in (LEFT, RIGHT)]

    driver.pairs(rows, 90)

    # Of each side those that are not 5 behind the watermark; in the stream's form less than 5.
    assert driver.state.height == 2 * kept
    driver.restart()
    found = driver.pairs([Arrived(RIGHT, Row("a", 92, 200), 90)], 90)
    assert sorted(found) == [(payload, 200) for payload in range(87, 98)]


def test_what_is_kept_does_not_grow_with_time():
    join = JoinDriver(IntervalJoinKernel(*KEYS, -5, 5, how="full"), hash_values=1000)
    heights = []
    for start in range(0, 40_000, 400):
        rows = [
            Arrived(side, Row(str(n % 7), start + n, n), max(start - 50, 0))
            for n in range(400)
            for side in (LEFT, RIGHT)
        ]
        join.pairs(rows, start + 350)
        heights.append(join.state.height)

    assert max(heights[50:]) <= max(heights[:50])
