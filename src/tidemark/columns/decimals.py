"""DECIMALs of the types of SQL, rounded half up.

Polars' own arithmetic rounds half to even and fails where Flink's result is NULL.
"""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.kernels.whole_numbers import digits_of, rounded_quotient, whole, with_scale


def decimal_of(digits: pl.Expr, type_: t.Decimal) -> pl.Expr:
    """The DECIMAL of these digits; NULL if they are too many."""
    number = with_scale(digits, type_.scale)
    return number.cast(pl.Decimal(type_.precision, type_.scale), strict=False)


def moved(digits: pl.Expr, places: int) -> pl.Expr:
    """The digits of the same number with more places after the point, or rounded to fewer."""
    if places > 0:
        return digits * whole(10**places)
    return rounded_quotient(digits, whole(10**-places)) if places < 0 else digits


def rescaled(value: pl.Expr, source: t.Decimal, target: t.Decimal) -> pl.Expr:
    """A DECIMAL as another type: rounded half up, or NULL if it does not fit."""
    if target.scale >= source.scale:
        return value.cast(pl.Decimal(target.precision, target.scale), strict=False)
    return decimal_of(moved(digits_of(value), target.scale - source.scale), target)
