"""Contenders: no row that could be among the first ones of its key is left out."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import HASH
from tidemark.kernels.contenders import Contenders
from tidemark.kernels.order import Order

# key, integer, float, string
Row = tuple[str | None, int | None, float | None, str | None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "cc", None]),
        st.sampled_from([None, 1, 2, 3]),
        st.sampled_from([None, -1.0, 0.0, 2.0, math.nan, math.inf]),
        st.sampled_from([None, "", "x", "y"]),
    ),
    max_size=24,
)
COLUMNS = "vxs"
ORDERS = st.lists(
    st.builds(Order, st.sampled_from(COLUMNS), st.booleans(), st.booleans()),
    max_size=2,
    unique_by=lambda order: order.column,
)


def frame(rows: list[Row]) -> pl.DataFrame:
    schema = {"k": pl.String, "v": pl.Int64, "x": pl.Float64, "s": pl.String}
    # Two hash values only: different keys must be told apart by more than their hash.
    hashes = pl.Series(HASH, [len(key or "") % 2 for key, *_ in rows], pl.Int64)
    return (
        pl.DataFrame(rows, schema=schema, orient="row").with_columns(hashes).with_row_index("row")
    )


def place(row: Row, order: tuple[Order, ...]) -> tuple[tuple[int, float], ...]:
    """Where a row is in an order, as numbers that can be compared. NaN is after all numbers."""

    def one(by: Order) -> tuple[int, float]:
        value = row[1 + COLUMNS.index(by.column)]
        if value is None:
            return (1 if by.nulls_last else -1), 0
        number = " xy".index(value or " ") if isinstance(value, str) else value
        number = 1e300 if math.isinf(number) else math.inf if math.isnan(number) else number
        return 0, -number if by.descending else number

    return tuple(map(one, order))


def first(rows: list[Row], of: Contenders) -> set[int]:
    """The positions of the rows that are numbered at most `high`, row by row."""
    places = [(place(row, of.order), at) for at, row in enumerate(rows)]
    found = set()
    for (mine, at), row in zip(places, rows, strict=True):
        others = [p for p, other in zip(places, rows, strict=True) if other[0] == row[0]]
        before = [theirs for theirs, _ in others if theirs < mine]
        number = {
            "ROW_NUMBER": sum(theirs < (mine, at) for theirs in others),
            "RANK": len(before),
            "DENSE_RANK": len(set(before)),
        }[of.by]
        if number < of.high:
            found.add(at)
    return found


@searched()
@given(
    ROWS,
    ORDERS,
    st.sampled_from([1, 2, 3, 4, 9]),
    st.sampled_from(["ROW_NUMBER", "RANK", "DENSE_RANK"]),
)
def test_the_first_rows_are_among_the_contenders(rows, order, high, by):
    contenders = Contenders(("k",), tuple(order), high, by if order else "ROW_NUMBER")

    kept = contenders(frame(rows))

    assert kept["row"].is_sorted()
    assert first(rows, contenders) <= set(kept["row"])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("high", [1, 2, 3])
@pytest.mark.parametrize("column", COLUMNS)
def test_without_ties_and_nulls_no_other_row_is_left(column, high, descending):
    rows: list[Row] = [("a", 1, 2.0, "x"), ("b", 3, 2.0, "x"), ("a", 3, 0.0, "y"), ("a", 2, -1, "")]
    contenders = Contenders(("k",), (Order(column, descending),), high)

    assert set(contenders(frame(rows))["row"]) == first(rows, contenders)


def test_without_an_order_the_first_rows_to_arrive_are_left():
    rows: list[Row] = [(key, None, None, None) for key in ("a", "b", "a", None, "a", None)]

    assert contending(rows, 1) == [0, 1, 3]
    assert contending(rows, 2) == [0, 1, 2, 3, 5]


def contending(rows: list[Row], high: int) -> list[int]:
    return Contenders(("k",), (), high)(frame(rows))["row"].to_list()


def test_there_may_be_no_rows():
    assert Contenders(("k",), (Order("v"),), 1)(frame([])).height == 0


def test_without_an_order_the_newest_rows_are_the_last_ones():
    rows = frame([("a", 1, None, None), ("b", 2, None, None), ("a", 3, None, None)])

    assert Contenders(("k",), (), 1, newest_first=True)(rows)["v"].to_list() == [2, 3]
    assert Contenders(("k",), (), 1)(rows)["v"].to_list() == [1, 2]
