"""What follows an element, against a search one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.over.partitions import RowPartitions
from tidemark.kernels.over.successors import Following, reached_from

RUNS = st.lists(st.lists(st.integers(-5, 5), min_size=1, max_size=90), min_size=1, max_size=4)


def _flat(runs: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All values, where runs begin, and per value where its run ends."""
    begins = np.concatenate([np.arange(len(run)) == 0 for run in runs])
    return np.concatenate(runs), np.flatnonzero(begins), RowPartitions.of(begins, begins).end


def _next_above(values: np.ndarray, at: int, limit: int, end: int) -> int:
    return next((i for i in range(at + 1, end) if values[i] > limit), end)


@searched(100)
@given(RUNS, st.integers(-6, 6))
def test_the_next_value_above_a_limit_is_found(runs: list[list[int]], limit: int):
    values, _, ends = _flat(runs)
    at = np.arange(values.size)
    limits = np.full(values.size, limit)

    found = Following.of(values, ends)(at, limits)

    assert found.tolist() == [_next_above(values, i, limit, ends[i]) for i in at]


@searched(100)
@given(RUNS)
def test_what_is_reached_from_the_starts_of_runs(runs: list[list[int]]):
    values, starts, ends = _flat(runs)
    following = Following.of(values, ends)

    reached = reached_from(starts, lambda at: following(at, values[at] - 1), ends)

    expected = set()
    for start in starts.tolist():
        at = start
        while at < ends[start]:
            expected.add(at)
            at = _next_above(values, at, values[at] - 1, ends[start])
    assert np.flatnonzero(reached).tolist() == sorted(expected)
