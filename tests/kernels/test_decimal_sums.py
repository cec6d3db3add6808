"""Sums and means of DECIMALs are exact, or an error."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import DataError
from tidemark.kernels import decimal_sums
from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.over.ranged import results_of_ranges
from tidemark.kernels.windows.spec import AggregateSpec

PLENTY = Context(prec=80)
LARGEST = 10**38 - 1


def digits(value: int, scale: int) -> Decimal:
    return PLENTY.scaleb(Decimal(value), -scale)


def lifted(
    function: str, groups: list[list[int]], scale: int, counted: bool = False
) -> tuple[Aggregates, pl.DataFrame]:
    """The accumulators of numbers with these digits."""
    pairs = [(number, value) for number, group in enumerate(groups) for value in group]
    type_ = pl.Decimal(38, scale)
    rows = pl.DataFrame(
        {
            "g": [number for number, _ in pairs],
            "x": pl.Series([digits(value, scale) for _, value in pairs], dtype=type_),
        }
    ).with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE))
    result = pl.Decimal(38, max(scale, 6)) if function == "AVG" else type_
    call = AggregateSpec(function, ("x",), "result", result)
    aggregates = Aggregates.of([call], retracts=False, counted=counted)
    return aggregates, aggregates.lifted(rows, ["g"])


def aggregated(function: str, groups: list[list[int]], scale: int) -> list[Decimal | None]:
    with decimal_sums.in_words():
        aggregates, rows = lifted(function, groups, scale)
        return aggregates.merged(rows, ["g"]).select(aggregates.results).to_series().to_list()


def of_ranges(function: str, values: list[int], scale: int, size: int) -> list[Decimal | None]:
    """The results of each number and those before it, so many in all."""
    aggregates, rows = lifted(function, [values], scale, counted=True)
    end = np.arange(1, len(values) + 1)
    found = results_of_ranges(rows, aggregates, np.maximum(end - size, 0), end)
    return found["result"].to_list()


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=9), st.integers(0, 9))
def test_means_are_rounded_half_up(values, scale):
    places = max(scale, 6)
    mean = PLENTY.divide(digits(sum(values), scale), Decimal(len(values)))
    wanted = mean.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, PLENTY)
    assert aggregated("AVG", [values], scale) == [wanted]


@pytest.mark.parametrize("scale", [0, 18, 38])
@pytest.mark.parametrize(
    "values", [[LARGEST], [LARGEST - 1, 1], [LARGEST, 5, -5], [LARGEST, LARGEST, -LARGEST]]
)
def test_sums_of_38_digits_are_exact(values, scale):
    """Whatever other groups have."""
    sums = aggregated("SUM", [values, [1, 2]], scale)
    assert sums == [digits(sum(values), scale), digits(3, scale)]


@pytest.mark.parametrize("scale", [0, 18, 38])
@pytest.mark.parametrize("values", [[LARGEST, 1], [LARGEST] * 2, [LARGEST] * 4, [-LARGEST] * 3])
def test_a_sum_of_more_digits_is_an_error(values, scale):
    with pytest.raises(DataError, match="more than 38 digits"):
        aggregated("SUM", [[1, 2], values], scale)


@given(
    st.lists(st.sampled_from([LARGEST, -LARGEST, LARGEST // 2, -1, 1, 0, 7]), max_size=20),
    st.integers(1, 4),
    st.sampled_from([0, 18, 38]),
)
def test_sums_of_ranges_are_exact_or_an_error(values, size, scale):
    """Whatever the sum of all is."""
    wanted = [sum(values[max(end - size, 0) : end]) for end in range(1, len(values) + 1)]
    if all(abs(total) <= LARGEST for total in wanted):
        assert of_ranges("SUM", values, scale, size) == [digits(total, scale) for total in wanted]
    else:
        with pytest.raises(DataError, match="more than 38 digits"):
            of_ranges("SUM", values, scale, size)


@given(st.lists(st.integers(-(10**12), 10**12), max_size=9), st.integers(1, 4))
def test_means_of_ranges_are_rounded_half_up(values, size):
    ranges = [values[max(end - size, 0) : end] for end in range(1, len(values) + 1)]
    wanted = [aggregated("AVG", [numbers], 3)[0] for numbers in ranges]
    assert of_ranges("AVG", values, 3, size) == wanted


def test_a_mean_whose_numbers_have_no_room_for_its_places_is_an_error():
    with pytest.raises(DataError, match="more than 38 digits"):
        aggregated("AVG", [[LARGEST]], 0)
