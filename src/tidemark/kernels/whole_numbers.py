"""The digits of DECIMALs as whole numbers, without the point, in 128 bits: rounded half up, where
Polars' own arithmetic rounds half to even.
"""

from __future__ import annotations

from decimal import Decimal

import polars as pl

WHOLE = pl.Int128()
# How many digits a DECIMAL has at most.
MOST_DIGITS = 38


def whole(value: int) -> pl.Expr:
    return pl.lit(value, dtype=WHOLE)


def digits_of(value: pl.Expr) -> pl.Expr:
    """The unscaled value: 1.25 is 125."""
    return value.to_physical().cast(WHOLE)


def with_scale(digits: pl.Expr, scale: int) -> pl.Expr:
    """The number of these digits, of which so many are after the point; NULL if they are too many.

    >>> pl.select(with_scale(whole(125), 2)).item()
    Decimal('1.25')
    """
    number = digits.cast(pl.Decimal(MOST_DIGITS, 0), strict=False)
    if not scale:
        return number
    # Multiplying by a one in the last place moves the point and nothing else.
    return number * pl.lit(Decimal(1).scaleb(-scale), dtype=pl.Decimal(MOST_DIGITS, scale))


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
