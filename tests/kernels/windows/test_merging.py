"""Spans become sessions: whole columns at once, as if each span had come alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.kernels.windows.merging import DROPPED, Spans, merge

GAP = 5
Span = tuple[int, int, int, int]  # key, start, end, the watermark before it


def sessions(*spans: Span) -> list[int]:
    """Per span the place of the first one of its session."""
    columns = (np.array(column, dtype=np.int64) for column in zip(*spans, strict=True))
    numbers = merge(Spans(*columns)).tolist()
    return [n if n == DROPPED else numbers.index(n) for n in numbers]


def row(time: int, watermark: int = BEFORE_ALL, key: int = 0) -> Span:
    return key, time, time + GAP, watermark


def test_spans_that_overlap_or_touch_are_one_session():
    assert sessions(row(0), row(20), row(10), row(5)) == [0, 1, 0, 0]
    assert sessions(row(0), row(6)) == [0, 1]
    assert sessions(row(0), row(3, key=1)) == [0, 1]


def test_a_session_that_is_over_takes_nothing_more():
    #  0 ----5
    #     3 ----8   comes when the first is over, and so does the next
    #     4 -----9
    assert sessions(row(0), row(3, watermark=4), row(4, watermark=4)) == [0, 1, 1]
    assert sessions(row(0), row(3, watermark=3)) == [0, 0]


def test_a_late_row_joins_the_session_over_the_watermark_if_it_touches_that():
    assert sessions(row(10), row(5, watermark=12)) == [0, 0]
    assert sessions(row(10), row(4, watermark=12)) == [0, DROPPED]
    assert sessions(row(10), row(5, watermark=14)) == [0, DROPPED]


def test_a_late_row_does_not_match_rows_that_arrive_after_it():
    assert sessions(row(0), row(5, watermark=12), row(10, watermark=12)) == [0, DROPPED, 2]


def test_late_rows_that_have_joined_let_earlier_ones_join_but_only_those_behind_them():
    first, second = row(5, watermark=12), row(0, watermark=12)
    assert sessions(row(10), first, second) == [0, 0, 0]
    assert sessions(row(10), second, first) == [0, DROPPED, 0]


def test_a_late_row_may_touch_any_session_over_the_watermark():
    assert sessions(row(10), row(6, 10), row(8, 10), row(9, 10)) == [0, 0, 0, 0]


def test_a_day_read_backwards_is_one_session():
    backwards = [row(time, watermark=1000) for time in range(998, 0, -4)]
    assert sessions(*backwards, row(0, 1000, key=1)) == [0] * len(backwards) + [DROPPED]


def test_how_far_back_one_session_of_a_key_reaches_means_nothing_for_another():
    short = [row(time, watermark=1000) for time in range(998, 500, -4)]
    below = row(300, watermark=1000)
    long = [row(time, watermark=2000) for time in range(1998, 100, -4)]
    told = sessions(*short, below, *long)
    assert told == [0] * len(short) + [DROPPED] + [len(short) + 1] * len(long)


# --- the reference -----------------------------------------------------------------------------


def one_after_the_other(spans: list[Span]) -> list[int]:
    """Sessions span by span: slow, and plain enough to trust."""
    names = [DROPPED] * len(spans)
    open_: list[tuple[Span, list[int]]] = []
    for place, (key, start, end, watermark) in enumerate(spans):
        open_ = [one for one in open_ if one[0][2] - 1 > watermark]
        met = [one for one in open_ if one[0][0] == key and one[0][1] <= end and start <= one[0][2]]
        low = min([start, *(span[1] for span, _ in met)])
        high = max([end, *(span[2] for span, _ in met)])
        if high - 1 <= watermark:
            continue
        members = sorted([place, *(member for _, members in met for member in members)])
        open_ = [one for one in open_ if one not in met]
        open_.append(((key, low, high, watermark), members))
        for member in members:
            names[member] = members[0]
    return names


@st.composite
def stored(draw: st.DrawFn) -> list[Span]:
    """Open sessions of before: of a key they do not touch."""
    spans = []
    for key in range(draw(st.integers(0, 3))):
        end = draw(st.integers(-60, 0))
        for apart, length in draw(st.lists(st.tuples(st.integers(1, 15), st.integers(GAP, 40)))):
            start = end + apart
            end = start + length
            spans.append((key, start, end, BEFORE_ALL))
    return spans


@st.composite
def arriving(draw: st.DrawFn, most: int) -> list[Span]:
    """Rows around a watermark that rises between them, many of them far behind it."""
    watermark, spans = draw(st.integers(-60, 40)), []
    behind = st.one_of(st.integers(-3, 12), st.integers(-8, 60))
    each = st.tuples(st.integers(0, 2), behind, st.sampled_from([0, 0, 0, 1, 2, 7, 30]))
    for key, late, step in draw(st.lists(each, max_size=most)):
        watermark += step
        spans.append(row(watermark - late, watermark, key))
    return spans


@pytest.mark.parametrize("scale", [1, 2**30])
@given(before=stored(), rows=arriving(60))
@searched(100)
def test_spans_at_their_own_watermarks_merge_as_they_do_one_by_one(
    scale: int, before: list[Span], rows: list[Span]
):
    # So far apart a key and a time do not fit into one number.
    spans = [
        (key * scale, start * scale, end * scale, stamp if stamp == BEFORE_ALL else stamp * scale)
        for key, start, end, stamp in [*before, *rows]
    ]
    if spans:
        assert sessions(*spans) == one_after_the_other(spans)


@given(
    times=st.lists(st.integers(-40, 40), min_size=1, max_size=30),
    beyond=st.integers(1, 30),
)
def test_after_the_end_of_all_inputs_every_row_is_late(times: list[int], beyond: int):
    spans = [row(time) for time in times] + [row(-time, AFTER_ALL) for time in times[:beyond]]
    assert sessions(*spans) == one_after_the_other(spans)


def heavily_late(rows: int, keys: int, seed: int) -> list[Span]:
    """A third of the rows are late, up to six gaps; each at a watermark of its own."""
    random = np.random.default_rng(seed)
    watermark = np.arange(rows) // 2
    late = random.random(rows) < 1 / 3
    time = watermark + np.where(late, -random.integers(1, 6 * GAP, rows), 2)
    key = random.integers(0, keys, rows)
    return [row(*one) for one in zip(time.tolist(), watermark.tolist(), key.tolist(), strict=True)]


@pytest.mark.parametrize("keys", [1, 3, 10, 40])
@pytest.mark.parametrize("seed", range(5))
def test_thousands_of_late_rows_merge_as_they_do_one_by_one(keys: int, seed: int):
    spans = heavily_late(3000, keys, seed)
    assert sessions(*spans) == one_after_the_other(spans)
