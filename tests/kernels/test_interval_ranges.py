"""Ranges of time under a hash, found among sorted rows, against looking at every row."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.ranges import Ranges, Stretches, by_key_and_time

HUGE = 2**61


def frame(rows: list[tuple[int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={HASH: pl.Int64, TIME: pl.Int64}, orient="row")


def rows(longest: int, furthest: int = 20) -> st.SearchStrategy[list[tuple[int, int]]]:
    row = st.tuples(st.integers(-2, 2), st.integers(-furthest, furthest))
    return st.lists(row, max_size=longest)


def found(kept: list[tuple[int, int]], looking: list[tuple[int, int]], width: int) -> None:
    """Asserts that what is found is what is there."""
    table = by_key_and_time(frame(kept))
    ordered = by_key_and_time(frame(looking))
    hashes, first = ordered[HASH].to_numpy(), ordered[TIME].to_numpy()
    pairs = Ranges(hashes, first, first + width).among(table)

    expected = [
        (mine, theirs)
        for mine, (hash_, time) in enumerate(ordered.iter_rows())
        for theirs, (other, at) in enumerate(table.iter_rows())
        if hash_ == other and time <= at <= time + width
    ]
    assert sorted(zip(pairs.mine.tolist(), pairs.theirs.tolist(), strict=True)) == expected


@given(kept=rows(40), looking=rows(12), width=st.integers(-3, 10))
@searched(200)
def test_the_rows_found_are_those_in_the_range(kept, looking, width):
    found(kept, looking, width)


@given(kept=rows(60), looking=rows(2), width=st.integers(-3, 10))
@searched(100)
def test_a_few_rows_find_matches_in_long_runs(kept, looking, width):
    found(kept, looking, width)


@given(kept=rows(12, HUGE), looking=rows(12, HUGE), width=st.sampled_from([0, HUGE]))
@searched(100)
def test_times_may_be_as_far_apart_as_numbers_go(kept, looking, width):
    found(kept, looking, width)


@given(
    stretches=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=12),
    at_most=st.integers(1, 12),
)
@searched(200)
def test_pieces_are_all_pairs_in_their_order_and_none_is_larger_than_it_may_be(stretches, at_most):
    low, counts = (np.array([s[place] for s in stretches], np.int64) for place in (0, 1))
    searching = Stretches(low, counts)

    pieces = list(searching.pieces(at_most))

    for whole, parts in zip(searching.pairs(), zip(*pieces, strict=True), strict=True):
        assert np.array_equal(np.concatenate(parts), whole)
    assert all(mine.size <= at_most for mine, _ in pieces)
    assert all(mine.size for mine, _ in pieces) or not searching.total


@given(rows(40))
@searched(100)
def test_rows_are_sorted_by_hash_then_time(kept):
    ordered = list(by_key_and_time(frame(kept)).iter_rows())

    assert ordered == sorted(kept)
    assert np.array_equal([row[0] for row in ordered], sorted(row[0] for row in kept))
