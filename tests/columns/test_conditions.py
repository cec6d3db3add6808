"""Comparisons, logic and choices in columns."""

import math
from decimal import Decimal

import pytest

from tests.columns.computing import values_of
from tidemark.errors import DataError

NAN = math.nan


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a = 1", [False, True, None]),
        ("a <> 1", [True, False, None]),
        ("NOT a = 1", [True, False, None]),
        ("a = 1 OR a IS NULL", [False, True, True]),
        ("a = 1 AND a IS NULL", [False, False, None]),
        ("a IN (1, NULL)", [None, True, None]),
        ("a NOT IN (1, 2.5)", [True, False, None]),
        ("a BETWEEN 1 AND 2", [False, True, None]),
        ("a IS DISTINCT FROM 1", [True, False, True]),
        ("a = NULL", [None, None, None]),
        ("(a = 1) IS NOT TRUE", [True, False, True]),
        ("NULLIF(a, 1)", [0, None, None]),
        ("COALESCE(a, 7)", [0, 1, 7]),
        ("CASE a WHEN 0 THEN 'none' WHEN 1 THEN 'one' END", ["none", "one", None]),
    ],
)
def test_unknown_is_neither_true_nor_false(expression, expected):
    assert values_of(expression, {"a INT": [0, 1, None]}) == expected


@pytest.mark.parametrize(
    ("left", "right", "less", "equal"),
    [
        ("12.5", "12.5000001", True, True),  # as in Flink, which rounds for `=`
        ("12.5", "12.51", True, False),
        ("12.5", "12.5", False, True),
        ("-99999999999999999999999999999999999.99", "-1", True, False),
        (
            "99999999999999999999999999999999999.99",
            "9999999999999999999999999999999.9",
            False,
            False,
        ),
        ("0", None, None, None),
    ],
)
def test_decimals_are_compared_by_all_their_digits(left, right, less, equal):
    columns = {
        "a DECIMAL(38, 2)": [Decimal(left)],
        "b DECIMAL(38, 7)": [right if right is None else Decimal(right)],
    }

    assert values_of("a < b", columns) == [less]
    assert values_of("b > a", columns) == [less]
    assert values_of("a = b", columns) == [equal]


NANS = {"a DOUBLE": [NAN, 1.0, NAN, NAN, None], "b DOUBLE": [NAN, NAN, 1.0, None, NAN]}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        *((f"a {test} b", [False] * 3 + [None] * 2) for test in ("=", "<", "<=", ">", ">=")),
        *((f"NOT a {test} b", [False] * 3 + [None] * 2) for test in ("<", "<=", ">", ">=")),
        *((test, [True] * 3 + [None] * 2) for test in ("a <> b", "NOT a = b", "a NOT IN (b)")),
        ("a BETWEEN 0 AND 1", [False, True, False, False, None]),
        ("a NOT BETWEEN 0 AND 1", [False, False, False, False, None]),
        ("1 BETWEEN b AND a", [False, False, False, False, False]),
        ("NOT (a > b AND b < a)", [False, False, False, None, None]),
        ("NOT (a > b OR a < b)", [False, False, False, None, None]),
        ("NOT (NOT a > b)", [False, False, False, None, None]),
        ("a IS DISTINCT FROM b", [True] * 5),
        ("a IN (1, b)", [False, True, False, None, None]),
        ("a > 1", [False, False, False, False, None]),
        ("1 < b", [False, False, False, None, False]),
    ],
)
def test_nan_is_not_smaller_larger_or_equal(expression, expected):
    assert values_of(expression, NANS) == expected


def test_nan_is_the_largest_number_beside_decimals():
    assert values_of("a > 1.5", NANS) == [True, False, True, True, None]
    assert values_of("NOT a > 1.5", NANS) == [False, True, False, False, None]
    assert values_of("LEAST(a, b) = 1", NANS) == [False, True, True, None, None]
    assert values_of("GREATEST(a, b) = 1", NANS) == [False, False, False, None, None]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CASE WHEN a = 0 THEN -1 ELSE 10 / a END", [-1, 10, None]),
        ("a <> 0 AND 10 / a > 3", [False, True, None]),
        ("a = 0 OR 10 / a > 3", [True, True, None]),
        ("IF(a = 0, a, 10 / a)", [0, 10, None]),
        ("COALESCE(a, 1 / (a - a))", [0, 1, None]),
    ],
)
def test_a_branch_that_is_not_taken_does_not_fail(expression, expected):
    assert values_of(expression, {"a INT": [0, 1, None]}) == expected


def test_a_branch_that_is_taken_fails():
    with pytest.raises(DataError, match="Division by zero"):
        values_of("CASE WHEN a = 0 THEN 10 / a ELSE 0 END", {"a INT": [1, 0]})


def test_constants_have_a_value_for_each_row():
    assert values_of("1 + 1", {"a INT": [1, 2]}) == [2, 2]
    assert values_of("1 + 1", {"a INT": []}) == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{row} = r", [None, None, True, None]),
        ("{row} <> r", [None, None, False, None]),
        ("r IN ({row}, CAST(ROW(1, 'a') AS ROW<x INT, y STRING>))", [True, True, True, None]),
        ("CASE {row} WHEN r THEN 1 ELSE 2 END", [2, 2, 1, 2]),
        ("{row} IS NOT DISTINCT FROM r", [False, False, True, False]),
    ],
)
def test_rows_of_which_some_were_chosen_are_compared(expression, expected):
    rows = [
        dict(zip("xy", pair, strict=True)) for pair in [(1, "a"), (1, "a"), (2, None), (3, "c")]
    ]
    table = {"ok BOOLEAN": [False, None, True, False], "r ROW<x INT, y STRING>": rows}

    assert values_of(expression.format(row="CASE WHEN ok THEN r END"), table) == expected
