"""A stream in the order of its times: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import itertools
import json
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.order import Order
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sort_by_time import SortByTimeKernel
from tidemark.kernels.state import State

Row = tuple[int, int]  # time, payload
Event = Row | int  # a row arrives, or the watermark moves


def run(steps: list[list[Event]], kernel: SortByTimeKernel | None = None) -> tuple[list[int], int]:
    """What is emitted, and how many rows are late; the state is written down after each step."""
    kernel = kernel or SortByTimeKernel(compaction=Compaction(fanout=2, smallest=1))
    state, emitted, late, watermark = State(), [], 0, BEFORE_ALL
    for events in steps:
        rows: list[Any] = []
        for event in events:
            if isinstance(event, int):
                watermark = max(watermark, event)
            else:
                rows.append((*event, 0, event[0], len(rows), watermark))
        names = ("t", "v", HASH, TIME, ARRIVAL, STAMP)
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
        step = kernel.step(state, [frame], watermark, 0)
        emitted += step.output["v"].to_list()
        late += step.metrics.late[0]
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
    return emitted, late


def reference(events: list[Event]) -> tuple[list[int], int]:
    """Flink's RowTimeSortOperator: rows wait for timers, which fire in order."""
    waiting: list[tuple[int, int, int]] = []
    emitted, late, last, watermark = [], 0, BEFORE_ALL, BEFORE_ALL
    for number, event in enumerate(events):
        if isinstance(event, int):
            if event > watermark:
                watermark = event
                due = sorted(row for row in waiting if row[0] <= watermark)
                waiting = [row for row in waiting if row[0] > watermark]
                emitted += [row[2] for row in due]
                last = max([last, *(row[0] for row in due)])
        elif event[0] <= last:
            late += 1
        else:
            waiting.append((event[0], number, event[1]))
    return emitted, late


def test_rows_wait_for_the_watermark_and_come_by_time():
    assert run([[(5, 1), (3, 2), 2], [(4, 3), 4], [9]]) == ([2, 3, 1], 0)


def test_a_row_is_late_if_it_is_not_after_the_last_emitted_one():
    assert run([[(3, 1), 5, (3, 2), (4, 3)], [6]]) == ([1, 3], 1)


def test_rows_of_one_time_are_in_the_given_order():
    kernel = SortByTimeKernel((Order("v", True, True),))
    assert run([[(5, 1), (5, 3)], [(5, 2), AFTER_ALL]], kernel) == ([3, 2, 1], 0)


@searched(300)
@given(
    st.lists(
        st.one_of(st.tuples(st.integers(0, 12), st.integers(0, 99)), st.integers(0, 14)),
        max_size=40,
    ),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_however_rows_are_cut_into_steps_the_answer_is_the_references(events, cuts):
    events = [*events, AFTER_ALL]
    ends = sorted({min(cut, len(events)) for cut in (*cuts, 0, len(events))})

    assert run([events[a:b] for a, b in itertools.pairwise(ends)]) == reference(events)
