"""Keep-last deduplication: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.keep_last import KeepLastAtEndKernel, KeepLastKernel
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

Row = tuple[str | None, int, int]  # key, time, payload


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "k": [key for key, _, _ in rows],
            "v": [payload for _, _, payload in rows],
            # Two hash values only: different keys must be told apart by more than their hash.
            HASH: [len(key or "") % 2 for key, _, _ in rows],
            TIME: [time for _, time, _ in rows],
            ARRIVAL: list(range(len(rows))),
            STAMP: [0] * len(rows),
        },
        schema={
            "k": pl.String,
            "v": pl.Int64,
            HASH: pl.Int64,
            TIME: pl.Int64,
            ARRIVAL: pl.Int64,
            STAMP: pl.Int64,
        },
    )


def run(
    kernel: KeepLastKernel, steps: list[list[Row]], state: State | None = None
) -> list[tuple[str, str | None, int]]:
    """What comes out of the steps, one each millisecond; the state is written down and read back
    after each.
    """
    state, emitted = state or State(), []
    for now, rows in enumerate(steps):
        step = kernel.step(state, [frame(rows)], 0, now)
        emitted += step.output.select(KIND, "k", "v").rows()
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
    return emitted


def reference(rows: list[Row]) -> list[tuple[str, str | None, int]]:
    newest: dict[str | None, tuple[int, int]] = {}
    emitted = []
    for key, time, payload in rows:
        if key not in newest:
            emitted.append(("+I", key, payload))
        elif time >= newest[key][0]:
            emitted += [("-U", key, newest[key][1]), ("+U", key, payload)]
        else:
            continue
        newest[key] = (time, payload)
    return emitted


def test_a_newer_row_replaces_the_one_before_it_and_an_older_one_does_not():
    assert run(KeepLastKernel(("k",)), [[("EUR", 5, 1)], [("EUR", 3, 2)], [("EUR", 7, 3)]]) == [
        ("+I", "EUR", 1),
        ("-U", "EUR", 1),
        ("+U", "EUR", 3),
    ]


def test_of_two_rows_with_one_time_the_last_to_arrive_wins():
    assert run(KeepLastKernel(("k",)), [[("EUR", 5, 1), ("EUR", 5, 2)]])[-1] == ("+U", "EUR", 2)


def test_an_empty_step_changes_nothing():
    assert run(KeepLastKernel(("k",)), [[], [("EUR", 5, 1)], []]) == [("+I", "EUR", 1)]


rows_of_few_keys = st.lists(
    st.tuples(st.sampled_from(["a", "b", "cc", None]), st.integers(-3, 6), st.integers(0, 99)),
    max_size=30,
)


@given(rows_of_few_keys, st.lists(st.integers(0, 30), max_size=4))
def test_however_rows_are_cut_into_steps_the_answer_is_the_references(rows, cuts):
    ends = sorted({*cuts, 0, len(rows)})
    steps = [rows[a:b] for a, b in itertools.pairwise(ends)]
    kernel = KeepLastKernel(("k",), compaction=Compaction(fanout=2, smallest=2))

    assert run(kernel, steps) == reference(rows)
    upserts = [change for change in reference(rows) if change[0] != "-U"]
    assert run(replace(kernel, upserts=True), steps) == upserts


@given(
    st.lists(rows_of_few_keys.filter(lambda rows: len(rows) < 5), max_size=12), st.integers(1, 5)
)
def test_the_next_row_of_a_key_that_has_expired_is_a_first_one(steps, ttl):
    written: dict[str | None, tuple[int, int, int]] = {}
    expected = []
    for now, rows in enumerate(steps):
        for key, time, payload in rows:
            newest = written.get(key)
            if newest is None or newest[0] + ttl <= now:
                expected.append(("+I", key, payload))
            elif time >= newest[1]:
                expected += [("-U", key, newest[2]), ("+U", key, payload)]
            else:
                continue
            written[key] = (now, time, payload)
    kernel = KeepLastKernel(("k",), compaction=Compaction(fanout=2, smallest=2), ttl=ttl)

    assert run(kernel, steps) == expected


def test_expired_rows_leave_the_state():
    kernel = KeepLastKernel(("k",), ttl=2)
    state = kernel.step(State(), [frame([("EUR", 5, 1), ("USD", 5, 1)])], 0, 0).state
    state = kernel.step(state, [frame([("YEN", 1, 1)])], 0, 2).state

    assert sum(segment.left for segment in state.segments()) == 1


def test_rows_of_a_state_that_did_not_expire_are_kept_for_so_long():
    state = (
        KeepLastKernel(("k",)).step(State(), [frame([("EUR", 5, 1), ("USD", 5, 1)])], 0, 0).state
    )
    kernel = KeepLastKernel(("k",), ttl=2)

    assert run(kernel, [[], [("EUR", 6, 2)], [("USD", 6, 2)]], state) == [
        ("-U", "EUR", 1),
        ("+U", "EUR", 2),
        ("+I", "USD", 2),
    ]


@given(rows_of_few_keys)
def test_at_the_end_of_a_batch_there_is_what_the_changes_leave(rows):
    step = KeepLastAtEndKernel(("k",)).step(State(), [frame(rows)], 0, 0)

    left = {key: payload for kind, key, payload in reference(rows) if kind != "-U"}
    assert KIND not in step.output.columns
    assert dict(step.output.select("k", "v").rows()) == left
    assert step.output.height == len(left)
