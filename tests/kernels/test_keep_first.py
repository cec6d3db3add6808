"""Keep-first deduplication: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

Row = tuple[str | None, int, int]  # key, time, payload
Event = Row | int  # a row arrives, or the watermark moves
Emitted = list[tuple[str | None, int]]


def frame(rows: list[Row], stamps: list[int]) -> pl.DataFrame:
    columns = {"k": pl.String, "v": pl.Int64} | dict.fromkeys(
        (HASH, TIME, ARRIVAL, STAMP), pl.Int64
    )
    return pl.DataFrame(
        {
            "k": [key for key, _, _ in rows],
            "v": [payload for _, _, payload in rows],
            # Two hash values only: different keys must be told apart by more than their hash.
            HASH: [len(key or "") % 2 for key, _, _ in rows],
            TIME: [time for _, time, _ in rows],
            ARRIVAL: list(range(len(rows))),
            STAMP: stamps,
        },
        schema=columns,
    )


@dataclass
class Driver:
    """A kernel whose state is written down and read back after each step."""

    kernel: KeepFirstKernel
    state: State = field(default_factory=State)
    late: list[int] = field(default_factory=list)
    next_event_time: int | None = None

    def step(self, *events: Event, now: int = 0) -> Emitted:
        rows: list[Row] = []
        stamps: list[int] = []
        watermark = self.state.watermark
        for event in events:
            if isinstance(event, int):
                watermark = max(watermark, event)
            else:
                rows.append(event)
                stamps.append(watermark)
        step = self.kernel.step(self.state, [frame(rows, stamps)], watermark, now)
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        self.state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
        self.next_event_time = step.next_event_time
        assert step.late is not None
        self.late += step.late[0]["v"].to_list()
        return step.output.select("k", "v").rows()


def by_time(**more: int) -> Driver:
    return Driver(KeepFirstKernel(("k",), compaction=Compaction(fanout=2, smallest=1), **more))


def test_a_row_waits_for_the_watermark_and_an_earlier_one_takes_its_place():
    driver = by_time()

    assert driver.step(("EUR", 5, 1), 2) == []
    assert driver.step(("EUR", 3, 2), 2) == []
    assert driver.next_event_time == 3
    assert driver.step(3) == [("EUR", 2)]
    assert driver.step(("EUR", 4, 3), 9) == []


def test_of_two_rows_with_one_time_the_first_to_arrive_wins():
    assert by_time().step(("EUR", 5, 1), ("EUR", 5, 2), 5) == [("EUR", 1)]


def test_a_row_behind_the_watermark_is_late_and_one_at_it_is_not():
    driver = by_time()

    assert driver.step(6, ("EUR", 5, 1), ("USD", 6, 2), 7) == [("USD", 2)]
    assert driver.late == [1]


def test_rows_are_emitted_by_their_times():
    assert by_time().step(("a", 5, 1), ("bb", 3, 2), ("ccc", 4, 3), 9) == [
        ("bb", 2),
        ("ccc", 3),
        ("a", 1),
    ]


def test_null_is_a_key():
    assert by_time().step((None, 5, 1), (None, 4, 2), AFTER_ALL) == [(None, 2)]


def test_in_processing_time_the_first_row_is_emitted_at_once():
    driver = Driver(KeepFirstKernel(("k",), processing_time=True))

    assert driver.step(("EUR", 5, 1), ("EUR", 3, 2), ("USD", 4, 3)) == [("EUR", 1), ("USD", 3)]
    assert driver.step(("EUR", 1, 4)) == []


def test_a_key_expires_some_time_after_it_was_written():
    driver = Driver(KeepFirstKernel(("k",), processing_time=True, ttl=10))

    assert driver.step(("EUR", 1, 1), now=0) == [("EUR", 1)]
    assert driver.step(("EUR", 1, 2), now=9) == []
    assert driver.step(("EUR", 1, 3), now=10) == [("EUR", 3)]


def test_state_of_a_key_that_came_out_is_one_record():
    driver = by_time()
    for time in range(100):
        driver.step(("EUR", time, time), time)

    assert driver.state.keyed("first").height <= 2
    assert driver.state.queue("waiting").height == 0


# --- any rows and watermarks, cut anyhow ---------------------------------------------------------

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["a", "b", "cc", None]), st.integers(-9, 9), st.integers(0, 9)),
        st.integers(-9, 9),
    ),
    max_size=25,
)


def reference(events: list[Event]) -> Emitted:
    """One event after the other, in Flink's words: a value and a timer for each key."""
    waiting: dict[str | None, Row] = {}
    closed: set[str | None] = set()
    emitted: Emitted = []
    watermark = BEFORE_ALL
    for event in [*events, AFTER_ALL]:
        if isinstance(event, int):
            watermark = max(watermark, event)
            ready = [key for key, row in waiting.items() if row[1] <= watermark]
            for key in ready:
                emitted.append((key, waiting.pop(key)[2]))
                closed.add(key)
            continue
        key, time, _ = event
        if time < watermark or key in closed:
            continue
        if key not in waiting or time < waiting[key][1]:
            waiting[key] = event
    return emitted


@given(EVENTS, st.lists(st.integers(1, 4), min_size=25))
def test_micro_batch_boundaries_do_not_change_the_answer(events: list[Event], cuts: list[int]):
    driver, rest, emitted = by_time(), list(events), []
    for size in cuts:
        taken, rest = rest[:size], rest[size:]
        emitted += driver.step(*taken)
    emitted += driver.step(*rest, AFTER_ALL)

    by_key = lambda row: (str(row[0]), row[1])  # noqa: E731
    assert sorted(emitted, key=by_key) == sorted(reference(events), key=by_key)
