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


def of_double(value: pl.Expr, target: t.Decimal) -> pl.Expr:
    """The DECIMAL of the digits that a DOUBLE prints; NULL if it does not fit."""
    return of_string(value.cast(pl.String), target)


# A number without superfluous zeros: its sign, digits before and after the point, and exponent.
_NUMBER = r"\A([+-]?)0*([0-9]*)(?:[.]([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?\z"


def of_string(text: pl.Expr, target: t.Decimal) -> pl.Expr:
    """The DECIMAL that a string spells; NULL if it is not a number or does not fit."""
    is_number = text.str.contains(r"\A[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?\z")
    parts = text.str.extract_groups(_NUMBER)
    sign, before, fraction, exponent = (parts.struct.field(str(place)) for place in (1, 2, 3, 4))
    digits = (before.fill_null("") + fraction.fill_null("")).str.strip_chars_start("0")
    # Of more digits than there can be, only the first may decide: whether the last is rounded up.
    dropped = digits.str.len_bytes().cast(pl.Int64).clip(lower_bound=_ALL) - _ALL
    number = (pl.lit("0") + digits.str.head(_ALL)).cast(WHOLE, strict=False)
    places = exponent.cast(pl.Int64, strict=False).fill_null(0) + dropped + target.scale
    places = places - fraction.fill_null("").str.len_bytes().cast(pl.Int64)
    next_digit = digits.str.slice(_ALL, 1).cast(pl.Int8, strict=False).fill_null(0)
    number = number + ((places == 0) & (next_digit >= 5)).cast(WHOLE)
    grown = pl.when(_fits(number, places)).then(number * _power(places))
    shrunk = rounded_quotient(number, _power(-places))
    shrunk = pl.when(places >= -_ALL).then(shrunk).otherwise(pl.lit(0, dtype=WHOLE))
    size = pl.when(number == 0).then(number).when(places < 0).then(shrunk).otherwise(grown)
    signed = pl.when(sign == "-").then(pl.lit(0, dtype=WHOLE) - size).otherwise(size)
    return decimal_of(pl.when(is_number).then(signed), target)


def _power(places: pl.Expr) -> pl.Expr:
    """Ten to the power of each value, which counts as 0 to 38."""
    powers = pl.lit(pl.Series([10**n for n in range(_ALL + 1)], dtype=WHOLE))
    return powers.gather(places.clip(0, _ALL).cast(pl.UInt32))


def _fits(number: pl.Expr, places: pl.Expr) -> pl.Expr:
    """Whether a number still has at most 38 digits with more places."""
    return (places <= _ALL) & (number < whole(10**_ALL) // _power(places))
