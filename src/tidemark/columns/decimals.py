"""DECIMAL as whole numbers: its digits without the point, in 128 bits, rounded half up.

Polars' own arithmetic rounds half to even and fails where Flink's result is NULL.
"""

from __future__ import annotations

from decimal import Decimal

import polars as pl

from tidemark import types as t

WHOLE = pl.Int128()
_ALL = t.MAX_DECIMAL_PRECISION


def whole(value: int) -> pl.Expr:
    return pl.lit(value, dtype=WHOLE)


def digits_of(value: pl.Expr) -> pl.Expr:
    """The unscaled value: 1.25 is 125."""
    return value.to_physical().cast(WHOLE)


def decimal_of(digits: pl.Expr, type_: t.Decimal) -> pl.Expr:
    """The DECIMAL of these digits; NULL if they are too many."""
    number = digits.cast(pl.Decimal(_ALL, 0), strict=False)
    if type_.scale:
        # Multiplying by a one in the last place moves the point and nothing else.
        one = pl.lit(Decimal(1).scaleb(-type_.scale), dtype=pl.Decimal(_ALL, type_.scale))
        number = number * one
    return number.cast(pl.Decimal(type_.precision, type_.scale), strict=False)


def quotient(digits: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """The quotient of whole numbers, truncated toward zero."""
    size = digits.abs() // divisor.abs()
    return pl.when((digits < 0) != (divisor < 0)).then(whole(0) - size).otherwise(size)


def rounded_quotient(digits: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """The quotient of whole numbers, rounded half up: away from zero."""
    top, bottom = digits.abs(), divisor.abs()
    size = top // bottom
    rest = top - size * bottom
    # Not `2 * rest`, which may exceed 128 bits.
    size = size + (rest >= bottom - rest).cast(WHOLE)
    return pl.when((digits < 0) != (divisor < 0)).then(whole(0) - size).otherwise(size)


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
