"""Constants with a value for each row, where Polars would compute something else with one value."""

from __future__ import annotations

import polars as pl


def for_each_row_of(other: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value where the other one is not NULL, in as many rows. Polars does not repeat every
    constant whose arguments are columns.
    """
    return pl.when(other.is_not_null()).then(value)


def divisor(number: pl.Expr) -> pl.Expr:
    """A floating-point number to divide by. Instead of dividing by a constant, Polars multiplies by
    its reciprocal: 35 / 100 would be 0.35000000000000003. A column of a constant is one, too.
    """
    return number * (pl.int_range(pl.len()) >= 0).cast(pl.Float64)
