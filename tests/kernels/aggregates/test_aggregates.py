"""Aggregate functions: their results, their types, and that merging in any way is the same."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import KIND, SEQUENCE
from tidemark.kernels.windows.spec import AggregateSpec

I8, I32, I64 = pl.Int8(), pl.Int32(), pl.Int64()
F64, TEXT, DAY = pl.Float64(), pl.String(), pl.Date()
CENTS = pl.Decimal(6, 2)
BAG = pl.List(pl.Struct({"key": pl.Int32, "value": pl.Int32}))


def aggregate(
    function: str,
    values: list[Any],
    type_: pl.DataType,
    result: pl.DataType,
    taken_back: list[Any] = (),
    **options: Any,
) -> Any:
    """The result over a group's values after some of them were retracted."""
    rows = pl.DataFrame({"x": pl.Series([*values, *taken_back], dtype=type_)}).with_columns(
        pl.lit(0).alias("g"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE),
        pl.Series(KIND, ["+I"] * len(values) + ["-D"] * len(taken_back), pl.String),
        pl.col("x").is_not_null().alias("known"),
    )
    call = AggregateSpec(function, ("x",), "result", result, **options)
    aggregates = Aggregates.of([call], retracts=bool(taken_back))
    told = aggregates.merged(aggregates.lifted(rows, ["g"]), ["g"]).select(aggregates.results)
    assert told.schema["result"] == result
    return told["result"].to_list()[0]


@pytest.mark.parametrize(
    ("function", "values", "type_", "result", "expected"),
    [
        ("COUNT", [1, None, 3], I32, I64, 2),
        ("COUNT", [None], I32, I64, 0),
        ("SUM", [1, None, 3], I32, I32, 4),
        ("SUM", [None], I32, I32, None),
        ("SUM", [100, 100], I8, I8, -56),  # wraps around
        ("SUM", [2**63 - 1, 1], I64, I64, -(2**63)),
        (
            "SUM",
            [Decimal("9999.99"), Decimal("0.02")],
            CENTS,
            pl.Decimal(38, 2),
            Decimal("10000.01"),
        ),
        ("AVG", [-1, -2], I32, I32, -1),  # toward zero
        ("AVG", [7, 8], I32, I32, 7),
        ("AVG", [1.0, 2.0], F64, F64, 1.5),
        (
            "AVG",
            [Decimal("10.00"), Decimal("0.01"), Decimal("0")],
            CENTS,
            pl.Decimal(38, 6),
            Decimal("3.336667"),
        ),
        ("VAR_POP", [1.0, 2.0], F64, F64, 0.25),
        ("VAR_SAMP", [1.0], F64, F64, None),
        ("VAR_POP", [1.0], F64, F64, 0.0),
        ("STDDEV_SAMP", [1, 2, -4], I32, I32, 3),
        ("MIN", ["b", None, "a"], TEXT, TEXT, "a"),
        ("MAX", [date(2024, 1, 1), date(2024, 2, 1)], DAY, DAY, date(2024, 2, 1)),
        ("FIRST_VALUE", [None, 5, 6], I32, I32, 5),
        ("LAST_VALUE", [5, 6, None], I32, I32, 6),
        ("LISTAGG", ["b", None, "a"], TEXT, TEXT, "b,a"),
        ("LISTAGG", [None], TEXT, TEXT, None),
        ("ARRAY_AGG", [2, None, 1], I32, pl.List(pl.Int32), [2, None, 1]),
        ("COLLECT", [2, None, 1, 2], I32, BAG, [{"key": 2, "value": 2}, {"key": 1, "value": 1}]),
    ],
)
def test_functions_have_flinks_results_and_types(function, values, type_, result, expected):
    assert aggregate(function, values, type_, result) == expected


@pytest.mark.parametrize(
    ("function", "result", "expected"),
    [
        ("COUNT", I64, 3),
        ("SUM", I32, 12),
        ("AVG", I32, 4),
        ("MIN", I32, 2),
        ("MAX", I32, 7),
        ("FIRST_VALUE", I32, 3),
        ("LAST_VALUE", I32, 7),
        ("LISTAGG", TEXT, "3,2,7"),
        ("ARRAY_AGG", pl.List(pl.Int32), [3, 2, None, 7]),
        ("VAR_POP", F64, pytest.approx(14 / 3)),
    ],
)
def test_retracted_rows_are_as_if_they_had_never_arrived(function, result, expected):
    values = [9, 3, 1, 2, None, 9, 7]

    assert aggregate(function, values, I32, result, taken_back=[9, 1, 9]) == expected


@searched(60)
@given(
    st.lists(
        st.tuples(st.none() | st.integers(-5, 5), st.none() | st.integers(-1, 3)), max_size=12
    ),
    st.lists(st.integers(0, 11), max_size=5),
    st.sampled_from([(0.5,), (0.0, 0.3, 1.0)]),
    st.booleans(),
)
def test_percentiles_lie_between_the_values(values, retracted, percentages, weighted):
    gone = [values[place] for place in {*retracted} if place < len(values)]
    rows = pl.DataFrame([*values, *gone], schema={"x": I32, "n": I64}, orient="row").with_columns(
        pl.lit(0).alias("g"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE),
        pl.Series(KIND, ["+I"] * len(values) + ["-D"] * len(gone), pl.String),
    )
    arguments = ("x", "n") if weighted else ("x",)
    type_ = F64 if len(percentages) == 1 else pl.List(F64)
    call = AggregateSpec("PERCENTILE", arguments, "result", type_, percentages=percentages)
    aggregates = Aggregates.of([call], retracts=True)
    told = aggregates.merged(aggregates.lifted(rows, ["g"]), ["g"]).select(aggregates.results)

    left = [value for place, value in enumerate(values) if place not in retracted]
    numbers = sorted(
        x for x, n in left if x is not None for _ in range((n or 0) if weighted else 1)
    )
    expected = [between(numbers, one) for one in percentages] if numbers else None
    if expected is not None and len(percentages) == 1:
        [expected] = expected
    assert told["result"].to_list() == ([pytest.approx(expected)] if values else [])


@pytest.mark.parametrize(
    ("numbers", "percentage", "expected"),
    [
        ([0, 1], 0.1, 0.10000000000000009),
        ([1, 127], 0.3, 38.80000000000001),
        ([-(2**31), 7, 2**31 - 1], 0.3, -858993454.9999998),
        (list(range(7)), 0.7, 4.199999999999999),
    ],
)
def test_percentiles_have_the_last_digits_that_they_have_in_flink(numbers, percentage, expected):
    found = aggregate("PERCENTILE", numbers, I32, F64, percentages=(percentage,))
    assert found == expected


def between(numbers: list[int], percentage: float) -> float:
    position = (len(numbers) - 1) * percentage
    lower, higher = numbers[math.floor(position)], numbers[math.ceil(position)]
    return lower + (higher - lower) * (position - math.floor(position))


def test_of_equal_values_the_first_is_retracted():
    assert aggregate("LISTAGG", [1, 2, 1], I32, TEXT, taken_back=[1]) == "2,1"


@pytest.mark.parametrize("taken_back", [[], [8]])
def test_distinct_values_count_once(taken_back):
    def over(function: str, result: pl.DataType) -> Any:
        return aggregate(function, [5, 8, 5, None], I32, result, taken_back, distinct=True)

    left = 1 if taken_back else 2
    assert over("COUNT", I64) == left
    assert over("SUM", I32) == (5 if taken_back else 13)
    assert over("LISTAGG", TEXT) == ("5" if taken_back else "5,8")


@pytest.mark.parametrize("taken_back", [[], [[1, 2]]])
def test_distinct_arrays_count_as_values_not_by_their_elements(taken_back):
    arrays = [[1, 2], [2, 3], [1, 2], None, [2, 3]]

    assert aggregate("COUNT", arrays, pl.List(I32), I64, taken_back, distinct=True) == 2


def test_rows_that_fail_the_filter_are_left_out():
    assert aggregate("ARRAY_AGG", [1, None], I32, pl.List(pl.Int32), filter="known") == [1]
    assert aggregate("COUNT", [1, None], I32, I64, filter="known") == 1


def test_equal_accumulators_are_kept_once():
    calls = [
        AggregateSpec("SUM", ("x",), "a", I64),
        AggregateSpec("AVG", ("x",), "b", I64),
        AggregateSpec("COUNT", ("x",), "c", I64),
    ]

    assert len(Aggregates.of(calls, retracts=False).accumulators) == 2


FUNCTIONS = {
    "COUNT": I64,
    "SUM": I64,
    "AVG": I64,
    "MIN": I64,
    "MAX": I64,
    "VAR_SAMP": F64,
    "FIRST_VALUE": I64,
    "LAST_VALUE": I64,
    "LISTAGG": TEXT,
}
ALL = [AggregateSpec(name, ("x",), name, type_) for name, type_ in FUNCTIONS.items()]
ALL += [AggregateSpec("SUM", ("x",), "distinct", I64, distinct=True)]
ALL += [AggregateSpec("COUNT", ("x",), "different", I64, distinct=True)]
rows = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(-5, 5))), min_size=1, max_size=30
)


def frame(rows: list[tuple[int, int | None]], retracts: bool) -> pl.DataFrame:
    made = pl.DataFrame(rows, schema={"g": pl.Int64, "x": pl.Int64}, orient="row")
    kinds = (
        ["+I" if index % 3 else "-U" for index in range(len(rows))]
        if retracts
        else ["+I"] * len(rows)
    )
    sequence = pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE)
    return made.with_columns(sequence, pl.Series(KIND, kinds, pl.String))


@given(rows=rows, cut=st.integers(0, 30), retracts=st.booleans())
@searched(25)
def test_accumulators_merge_in_any_grouping(rows, cut, retracts):
    aggregates = Aggregates.of(ALL, retracts=retracts)
    lifted = aggregates.lifted(frame(rows, retracts), ["g"])

    at_once = aggregates.merged(lifted, ["g"])
    parts = [aggregates.merged(part, ["g"]) for part in (lifted[:cut], lifted[cut:])]
    in_parts = aggregates.merged(pl.concat(parts), ["g"])

    assert results(aggregates, in_parts) == results(aggregates, at_once)


@given(rows=rows, retracts=st.booleans())
@searched(15)
def test_running_accumulators_end_where_merging_does(rows, retracts):
    aggregates = Aggregates.of(ALL, retracts=retracts)
    lifted = aggregates.lifted(frame(rows, retracts), ["g"]).sort("g", maintain_order=True)

    is_row = pl.col("g").is_not_null()
    running = aggregates.running(lifted, "g", is_row, is_row)
    last = pl.concat(running).group_by("g", maintain_order=True).agg(pl.all().last())

    assert results(aggregates, last) == results(aggregates, aggregates.merged(lifted, ["g"]))


def results(aggregates: Aggregates, groups: pl.DataFrame) -> list[tuple[Any, ...]]:
    told = groups.select("g", *aggregates.results).sort("g")
    return told.with_columns(pl.col(pl.Float64).round(9)).rows()
