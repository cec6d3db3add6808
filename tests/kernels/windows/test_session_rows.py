"""The rows of sessions: stories, and the kernel against its row-at-a-time reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, KIND
from tidemark.kernels.protocol import Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.session_rows import SessionRows
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

from .drive import frame, parse, restarted
from .reference import NONE_YET, Row

GAP = 5
Told = tuple[Any, ...]  # key, time of the row, start and end of its session


@dataclass
class Driver:
    """The kernel with its state, fed step by step."""

    kernel: SessionRows
    hash_values: int = 3
    kinds: bool = False
    state: State = field(default_factory=State)
    last: Step | None = None

    def step(self, rows: Sequence[tuple[Row, int]], watermark: int, clock: int = 0) -> list[Told]:
        given = frame(rows, self.hash_values, self.kinds)
        step = self.kernel.step(self.state, [given], watermark, clock)
        self.state, self.last = step.state, step
        kinds = [KIND] * self.kinds
        return list(step.output.select("k", "v", WINDOW_START, WINDOW_END, *kinds).iter_rows())

    def feed(self, rows: str = "", watermark: int = BEFORE_ALL, at: int = 0) -> list[str]:
        """A micro-batch, written as "key time value", and the watermark after it."""
        stamp = self.state.watermark
        told = self.step([(row, stamp) for row in parse(rows)], watermark, at)
        return [" ".join(map(str, line)) for line in told]

    @property
    def late(self) -> int:
        assert self.last is not None
        return self.last.metrics.late[0]


# --- stories -----------------------------------------------------------------------------------


def test_rows_wait_until_their_session_ends_and_are_emitted_with_its_bounds():
    #  a:  0 ----5
    #         3 ----8          20 ----25      gap 5
    #  b:        6 ----11
    sessions = Driver(SessionRows(("k",), GAP))

    assert sessions.feed("a 0 1, a 3 2, b 6 3, a 20 4", watermark=6) == []
    assert sessions.feed(watermark=7) == ["a 1 0 8", "a 2 0 8"]
    assert sessions.last is not None and sessions.last.next_event_time == 10
    assert sessions.feed(watermark=AFTER_ALL) == ["b 3 6 11", "a 4 20 25"]
    assert sessions.state.queue("closing").height == 0


def test_a_row_that_bridges_two_sessions_brings_both_together_in_order_of_arrival():
    sessions = Driver(SessionRows(("k",), GAP))
    sessions.feed("a 10 1, a 0 2", watermark=3)

    assert sessions.feed("a 5 3", watermark=14) == ["a 1 0 15", "a 2 0 15", "a 3 0 15"]


def test_a_row_is_late_if_what_it_becomes_part_of_is_over():
    sessions = Driver(SessionRows(("k",), GAP))
    sessions.feed("a 0 1, b 6 2", watermark=7)

    # Behind the watermark all three; the second reaches past it, the third meets b's session.
    assert sessions.feed("a 3 3, a 4 4, b 2 5", watermark=7) == []
    assert sessions.late == 1
    assert sessions.feed(watermark=AFTER_ALL) == ["a 4 4 9", "b 2 2 11", "b 5 2 11"]


def test_a_retraction_follows_its_row_if_both_are_in_one_session():
    sessions = Driver(SessionRows(("k",), GAP), kinds=True)
    sessions.feed("a 0 1, a 2 1 -U, a 20 1 +U, a 8 3 -D")

    assert sessions.feed(watermark=50) == [
        "a 1 0 7 +I",
        "a 1 0 7 -U",
        "a 3 8 13 -D",
        "a 1 20 25 +U",
    ]


def test_in_processing_time_a_session_ends_when_no_row_arrives_for_the_gap():
    sessions = Driver(SessionRows(("k",), GAP, processing_time=True))

    assert sessions.feed("a 900 1", at=100) == []
    assert sessions.last is not None and sessions.last.next_event_time == AFTER_ALL
    assert sessions.feed("a 0 2", at=104) == []
    assert sessions.feed(at=108) == []
    assert sessions.feed("a 0 3", at=109) == ["a 1 100 109", "a 2 100 109"]
    assert sessions.feed(watermark=AFTER_ALL, at=110) == ["a 3 109 114"]


# --- the reference -----------------------------------------------------------------------------


@dataclass
class Session:
    key: str | None
    start: int
    end: int
    rows: list[Row]


@dataclass
class Reference:
    """Sessions row by row: slow, and plain enough to trust. Values number rows by arrival."""

    watermark: int = NONE_YET
    open: list[Session] = field(default_factory=list)
    late: int = 0

    def arrive(self, row: Row) -> None:
        start, end = row.time, row.time + GAP
        met = [s for s in self.open if s.key == row.key and s.start <= end and start <= s.end]
        merged = Session(
            row.key,
            min([start, *(session.start for session in met)]),
            max([end, *(session.end for session in met)]),
            [*(row for session in met for row in session.rows), row],
        )
        if merged.end - 1 <= self.watermark:
            self.late += 1
            return
        self.open = [session for session in self.open if session not in met] + [merged]

    def advance(self, watermark: int) -> list[Told]:
        self.watermark = max(self.watermark, watermark)
        over = [session for session in self.open if session.end - 1 <= self.watermark]
        self.open = [session for session in self.open if session not in over]
        return [
            (session.key, row.value or 0, session.start, session.end)
            for session in sorted(over, key=lambda session: session.end)
            for row in sorted(session.rows, key=lambda row: row.value or 0)
        ]


CUT, RESTART = "cut", "restart"
rows = st.tuples(st.sampled_from(["a", "b", None]), st.integers(-30, 40))
scripts = st.lists(
    st.one_of(rows, rows, rows, rows, st.integers(-25, 45), st.sampled_from([CUT, CUT, RESTART])),
    max_size=40,
)
COMPACTIONS = st.builds(Compaction, fanout=st.integers(2, 4), smallest=st.integers(1, 4))


@pytest.mark.parametrize("hash_values", [2, 1000])
@given(script=scripts, compaction=COMPACTIONS)
@searched(60)
def test_rows_have_the_sessions_that_they_have_one_by_one(
    hash_values: int, script: list[Any], compaction: Compaction
):
    driver = Driver(SessionRows(("k",), GAP, compaction=compaction), hash_values)
    slow, waiting, expected, late = Reference(), [], [], 0
    for number, item in enumerate([*script, CUT, AFTER_ALL, CUT]):
        if isinstance(item, tuple):
            row = Row(*item, value=number)
            waiting.append((row, slow.watermark))
            slow.arrive(row)
        elif isinstance(item, int):
            expected += slow.advance(item)
        else:
            told = driver.step(waiting, slow.watermark)
            # Sessions that end together come in any order.
            assert sorted(told, key=by_session) == sorted(expected, key=by_session)
            assert [row[3] for row in told] == sorted(row[3] for row in told)
            late += driver.late
            assert late == slow.late
            waiting, expected = [], []
            if item == RESTART:
                driver.state = restarted(driver.state)
    assert driver.last is not None and driver.last.next_event_time is None


def by_session(told: Told) -> tuple[str, int, int]:
    return str(told[0]), told[2], told[3]
