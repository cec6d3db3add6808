"""Window Top-N: stories, and the kernel against a row-at-a-time reference."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.order import Order
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.rank import WindowRankKernel

SIZE = 10
# key, time, value, the watermark before the row
Row = tuple[str | None, int, int | None, int]
Told = tuple[str | None, int, int | None, int]  # key, window's start, value, place


def frame(rows: list[Row]) -> pl.DataFrame:
    starts = [time // SIZE * SIZE for _, time, _, _ in rows]
    columns = {
        "k": ([key for key, *_ in rows], pl.String),
        "v": ([value for _, _, value, _ in rows], pl.Int64),
        "start": (starts, pl.Int64),
        "end": ([start + SIZE for start in starts], pl.Int64),
        # Two hash values only: different keys must be told apart by more than their hash.
        HASH: ([len(key or "") % 2 for key, *_ in rows], pl.Int64),
        TIME: ([time for _, time, _, _ in rows], pl.Int64),
        ARRIVAL: (list(range(len(rows))), pl.Int64),
        STAMP: ([stamp for *_, stamp in rows], pl.Int64),
    }
    return pl.DataFrame(
        {name: values for name, (values, _) in columns.items()},
        schema={name: type_ for name, (_, type_) in columns.items()},
    )


def top(
    low: int, high: int, *, descending: bool = True, newest_first: bool = False
) -> WindowRankKernel:
    order = (Order("v", descending, nulls_last=descending),)
    small = Compaction(fanout=2, smallest=2)
    return WindowRankKernel(("k",), "start", "end", order, low, high, "rn", newest_first, small)


def run(kernel: WindowRankKernel, steps: list[tuple[list[Row], int]]) -> list[Told]:
    """What steps of rows and a watermark tell; the state is written down and read after each."""
    state, told = State(), []
    for rows, watermark in steps:
        step = kernel.step(state, [frame(rows)], watermark, 0)
        told += step.output.select("k", "start", "v", "rn").rows()
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
    return told


def reference(rows: list[Row], kernel: WindowRankKernel) -> list[Told]:
    """Each window with the rows that came before its last millisecond had passed."""
    windows: dict[tuple[str | None, int], list[tuple[int, int | None]]] = {}
    watermark = BEFORE_ALL
    for number, (key, time, value, stamp) in enumerate(rows):
        watermark = max(watermark, stamp)
        start = time // SIZE * SIZE
        if start + SIZE - 1 > watermark:
            windows.setdefault((key, start), []).append((number, value))
    told = []
    for (key, start), members in windows.items():
        # null is the smallest of all
        members.sort(key=lambda m: m[0], reverse=kernel.newest_first)
        members.sort(key=lambda m: (m[1] is not None, m[1]), reverse=kernel.order[0].descending)
        for place, (_, value) in enumerate(members, start=1):
            if kernel.low <= place <= kernel.high:
                told.append((key, start, value, place))
    return told


def test_the_largest_rows_of_a_window_are_emitted_when_it_closes():
    rows: list[Row] = [("a", 1, 5, 0), ("a", 2, 9, 0), ("a", 9, 7, 0), ("a", 11, 1, 0)]

    assert run(top(1, 2), [(rows, 8)]) == []
    assert run(top(1, 2), [(rows, 8), ([], 9)]) == [("a", 0, 9, 1), ("a", 0, 7, 2)]


def test_a_row_of_a_window_that_is_over_is_dropped():
    late: Row = ("a", 5, 99, 9)

    assert run(top(1, 1), [([("a", 1, 5, 0), late], 9)]) == [("a", 0, 5, 1)]


def test_of_equal_rows_the_first_wins_or_the_last_if_that_is_asked():
    kernel = top(1, 1)
    rows: list[Row] = [("a", 1, 5, 0), ("a", 2, 5, 0)]
    with_times = frame(rows).with_columns(nth=pl.Series([1, 2]))

    [first] = kernel.step(State(), [with_times], AFTER_ALL, 0).output["nth"]
    newest = top(1, 1, newest_first=True)
    [last] = newest.step(State(), [with_times], AFTER_ALL, 0).output["nth"]

    assert (first, last) == (1, 2)


def test_only_rows_that_may_be_emitted_are_kept():
    step = top(1, 1).step(State(), [frame([("a", 1, v, 0) for v in range(100)])], 0, 0)

    assert step.metrics.waiting == 1
    assert step.next_event_time == 9


rows_of_few_keys = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "cc", None]),
        st.integers(-25, 45),
        st.one_of(st.none(), st.integers(0, 4)),
        st.integers(-30, 40),
    ),
    max_size=25,
)


@given(
    rows_of_few_keys,
    st.lists(st.integers(0, 25), max_size=4),
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
)
def test_however_rows_are_cut_into_steps_the_answer_is_the_references(
    drawn, cuts, low, descending, newest_first
):
    # Watermarks never fall.
    stamps = itertools.accumulate((row[3] for row in drawn), max)
    rows = [(k, t, v, stamp) for (k, t, v, _), stamp in zip(drawn, stamps, strict=True)]
    ends = sorted({*cuts, 0, len(rows)})
    steps = [(rows[a:b], rows[b - 1][3]) for a, b in itertools.pairwise(ends) if rows[a:b]]
    kernel = top(low, 3, descending=descending, newest_first=newest_first)

    told = run(kernel, [*steps, ([], AFTER_ALL)])

    assert sorted(told, key=repr) == sorted(reference(rows, kernel), key=repr)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(0, 3)), max_size=20
    ),
    st.sampled_from(["RANK", "DENSE_RANK"]),
    st.integers(1, 3),
    st.integers(0, 20),
)
def test_equal_rows_of_a_window_have_the_same_rank(
    rows: list[tuple[str | None, int | None]], by: str, high: int, cut: int
):
    kernel = replace(top(1, high, descending=False), by=by)
    arriving: list[Row] = [(key, 5, value, BEFORE_ALL) for key, value in rows]

    told = run(kernel, [(arriving[:cut], BEFORE_ALL), (arriving[cut:], SIZE)])

    def place(value: int | None) -> int:
        return -1 if value is None else value

    expected = []
    for key, value in rows:
        smaller = [place(v) for k, v in rows if k == key and place(v) < place(value)]
        rank = 1 + (len(smaller) if by == "RANK" else len(set(smaller)))
        if rank <= high:
            expected.append((key, 0, value, rank))
    assert sorted(told, key=str) == sorted(expected, key=str)
