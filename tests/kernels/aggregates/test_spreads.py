"""Variances of numbers that are far from zero, and close together."""

from __future__ import annotations

from fractions import Fraction
from statistics import pvariance

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.aggregates import Aggregates, spreads
from tidemark.kernels.columns import KIND, SEQUENCE
from tidemark.kernels.over.ranged import results_of_ranges
from tidemark.kernels.windows.spec import AggregateSpec

CALL = AggregateSpec("VAR_POP", ("x",), "variance", pl.Float64())

far = st.sampled_from([0.0, 1e9, -1.7e12])
near = st.lists(st.integers(-8, 8).map(lambda n: n / 4), min_size=1, max_size=12)


def lifted(aggregates: Aggregates, numbers: list[float], kinds: list[str]) -> pl.DataFrame:
    rows = pl.DataFrame(
        {"g": 0, "x": numbers, KIND: kinds, SEQUENCE: range(len(numbers))},
        schema_overrides={"x": pl.Float64, SEQUENCE: pl.Int64},
    )
    return aggregates.lifted(rows, ["g"])


def results(aggregates: Aggregates, accumulators: pl.DataFrame) -> list[float]:
    return accumulators.select(aggregates.results)["variance"].to_list()


def variance(numbers: list[float]) -> float:
    return float(pvariance([Fraction(number) for number in numbers]))


@given(far, near, near, near)
def test_they_are_exact_whatever_is_merged_and_retracted(offset, stay, go, others):
    """Parts of a group may have more retracted rows than others."""
    aggregates = Aggregates.of([CALL], retracts=True)
    numbers = [offset + number for number in [*stay, *go, *others, *go, *others]]
    kinds = ["+I"] * len([*stay, *go, *others]) + ["-D"] * len([*go, *others])
    rows = lifted(aggregates, numbers, kinds)
    half = len(numbers) // 2
    parts = [aggregates.merged(part, ["g"]) for part in (rows[:half], rows[half:])]

    whole = aggregates.merged(pl.concat(parts), ["g"])

    assert results(aggregates, whole) == [pytest.approx(variance(stay), abs=1e-6)]


@given(far, near)
def test_they_are_exact_row_by_row(offset, numbers):
    aggregates = Aggregates.of([CALL], retracts=False)
    rows = lifted(aggregates, [offset + number for number in numbers], ["+I"] * len(numbers))
    every = pl.lit(True)

    parts = [*aggregates.running(rows, "g", every, every)]

    wanted = [variance(numbers[:end]) for end in range(1, len(numbers) + 1)]
    assert results(aggregates, pl.concat(parts)) == [pytest.approx(w, abs=1e-6) for w in wanted]


@given(far, near, st.integers(1, 5))
def test_they_are_exact_for_ranges_of_rows(offset, numbers, size):
    aggregates = Aggregates.of([CALL], retracts=False)
    rows = lifted(aggregates, [offset + number for number in numbers], ["+I"] * len(numbers))
    end = np.arange(1, len(numbers) + 1)
    first = np.maximum(end - size, 0)

    found = results_of_ranges(rows, aggregates, first, end)

    wanted = [variance(numbers[a:b]) for a, b in zip(first, end, strict=True)]
    assert found["variance"].to_list() == [pytest.approx(w, abs=1e-6) for w in wanted]


def test_a_first_number_that_is_far_from_all_others_does_not_blur_them():
    numbers = [0.0, *(1e9 + n / 4 for n in range(1000))]
    aggregates = Aggregates.of([CALL], retracts=False)
    rows = lifted(aggregates, numbers, ["+I"] * len(numbers))

    whole = aggregates.merged(rows, ["g"])

    assert results(aggregates, whole) == [pytest.approx(variance(numbers), rel=1e-12)]


def test_one_without_numbers_is_null():
    aggregates = Aggregates.of([CALL], retracts=False)
    rows = lifted(aggregates, [None, None], ["+I", "+I"])  # type: ignore[list-item]

    assert results(aggregates, aggregates.merged(rows, ["g"])) == [None]


def test_squares_that_are_too_large_are_infinite():
    aggregates = Aggregates.of([CALL], retracts=False)
    rows = lifted(aggregates, [1e300, -1e300, 1.0], ["+I"] * 3)

    assert results(aggregates, aggregates.merged(rows, ["g"])) == [float("inf")]


def test_moments_of_lists_are_those_of_their_numbers():
    lists = pl.DataFrame({"x": [[1e9, 1e9 + 1, 1e9 + 3], [5.0], []]}, schema={"x": pl.List(float)})

    assert lists.select(spreads.of_lists(pl.col("x")))["x"].to_list() == [
        pytest.approx(14 / 3),
        0.0,
        0.0,
    ]
