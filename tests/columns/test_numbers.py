"""Arithmetic and numeric casts in columns; Spark agrees in `test_same_as_spark`."""

import math
from decimal import Decimal

import pytest

from tests.columns.computing import values_of
from tidemark.errors import DataError

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("expression", "columns", "expected"),
    [
        ("a + b", {"a INT": [MOST, None, -MOST - 1], "b INT": [1, 1, -1]}, [-MOST - 1, None, MOST]),
        ("a / b", {"a INT": [7, -7, -MOST - 1], "b INT": [2, 2, -1]}, [3, -3, -MOST - 1]),
        ("a % b", {"a BIGINT": [7, -7, 7], "b INT": [3, 3, -3]}, [1, -1, 1]),
        ("a / b", {"a DOUBLE": [1.0, -1.0], "b DOUBLE": [0.0, 0.0]}, [math.inf, -math.inf]),
        ("-a", {"a INT": [-MOST - 1, 5]}, [-MOST - 1, -5]),
    ],
)
def test_integers_wrap_around_and_truncate(expression, columns, expected):
    assert values_of(expression, columns) == expected


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("CAST(p AS DOUBLE)", "p DECIMAL(4, 2)"),
        ("p / 100.0E0", "p DOUBLE"),
        ("p / (0.0E0 + 100)", "p INT"),
    ],
)
def test_quotients_are_the_nearest_numbers(expression, column):
    hundreds = range(-999, 1000)
    exact = {"DECIMAL(4, 2)": [Decimal(number) / 100 for number in hundreds]}
    values = exact.get(column.split(" ", 1)[1], hundreds)
    expected = [number / 100 for number in hundreds]

    assert values_of(expression, {column: values}) == expected


@pytest.mark.parametrize(
    ("expression", "left", "right", "expected"),
    [
        ("a / b", ("DECIMAL(10, 2)", "7"), ("DECIMAL(10, 2)", "3"), "2.3333333333333"),
        ("a * b", ("DECIMAL(10, 2)", "-9.99"), ("DECIMAL(10, 2)", "9.99"), "-99.8001"),
        ("a * b", ("DECIMAL(38, 2)", "9" * 36), ("DECIMAL(10, 2)", "9"), None),
        ("a + b", ("DECIMAL(38, 18)", "1.25"), ("DECIMAL(38, 18)", "5E-18"), "1.25000000000000001"),
        ("a % b", ("DECIMAL(10, 2)", "-7.5"), ("DECIMAL(10, 1)", "2"), "-1.50"),
    ],
)
def test_decimals_round_half_up_and_are_null_where_they_do_not_fit(
    expression, left, right, expected
):
    (a, x), (b, y) = left, right

    (value,) = values_of(expression, {f"a {a}": [Decimal(x)], f"b {b}": [Decimal(y)]})

    assert value == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize(
    ("cast", "source", "values", "expected"),
    [
        (
            "DECIMAL(4, 1)",
            "DECIMAL(10, 2)",
            [Decimal("1.25"), Decimal("-1.25"), Decimal("999.95")],
            ["1.3", "-1.3"],
        ),
        ("DECIMAL(10, 2)", "DOUBLE", [1.005, -0.005, 1e300], ["1.01", "-0.01"]),
        ("DECIMAL(10, 2)", "DOUBLE", [1e-9, math.nan, None], ["0.00"]),
        ("DECIMAL(3, 1)", "INT", [99, 100], ["99.0"]),
    ],
)
def test_cast_to_decimal_is_null_where_it_does_not_fit(cast, source, values, expected):
    found = values_of(f"CAST(a AS {cast})", {f"a {source}": values})

    assert found == [Decimal(each) for each in expected] + [None] * (len(values) - len(expected))


def test_numbers_narrow_as_in_java():
    assert values_of("CAST(a AS TINYINT)", {"a INT": [300, -129]}) == [44, 127]
    assert values_of("CAST(a AS INT)", {"a DOUBLE": [1e300, math.nan, -1.9]}) == [MOST, 0, -1]
    assert values_of(
        "CAST(a AS INT)", {"a DECIMAL(38, 1)": [Decimal(2**32 + 5), Decimal("-1.9")]}
    ) == [5, -1]


def test_every_digit_of_a_decimal_counts_for_the_double():
    assert values_of(
        "CAST(a AS DOUBLE)", {"a DECIMAL(38, 20)": [Decimal("0.1"), Decimal("300.99")]}
    ) == [
        0.1,
        300.99,
    ]


@pytest.mark.parametrize("type_", ["INT", "DECIMAL(5, 2)"])
def test_null_divided_by_zero_is_null(type_):
    assert values_of("a / b", {f"a {type_}": [None], "b INT": [0]}) == [None]
    assert values_of("a % b", {f"a {type_}": [None], "b INT": [0]}) == [None]


def test_division_by_zero_fails():
    with pytest.raises(DataError, match="Division by zero"):
        values_of("a / b", {"a INT": [1, 1], "b INT": [1, 0]})
