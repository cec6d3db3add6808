"""DOUBLEs as the decimal numbers that they print: 2.675 rounds to 2.68, though the nearest binary
number is below it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.columns import decimal_strings
from tidemark.columns.decimal_strings import Divide
from tidemark.columns.decimals import decimal_of
from tidemark.kernels.whole_numbers import WHOLE, quotient, rounded_quotient

# Beyond this place after the point a DECIMAL has no room for all whole DOUBLEs.
MOST_PLACES = 17
# Ten to these powers is a DOUBLE.
_EXACT_POWERS = 22
# Numbers below are printed with all their digits; from there on, none has digits after the point.
_PRINTED, _WHOLE = 1e15, 2.0**53
# How far a product with a power of ten may be from that of the printed number.
_ERROR = 2.0**-50


def of_double(numbers: pl.Expr, target: t.Decimal) -> pl.Expr:
    """The DECIMAL of the digits that a DOUBLE prints; NULL if it does not fit."""
    digits = numbers.map_batches(
        lambda some: _all_digits(some, target.scale), return_dtype=WHOLE, is_elementwise=True
    )
    return decimal_of(digits, target)


def to_places(numbers: pl.Expr, places: int, *, cut: bool) -> pl.Expr:
    """Rounded half away from zero, or cut, to at most MOST_PLACES after the point."""
    return numbers.map_batches(
        lambda some: _nearest(some, places, cut), return_dtype=pl.Float64(), is_elementwise=True
    )


def _all_digits(numbers: pl.Series, scale: int) -> pl.Series:
    known, is_known = _quick_digits(numbers.to_numpy(), scale, cut=False)
    others = np.flatnonzero(~is_known & numbers.is_not_null().to_numpy())
    digits = pl.Series(known, dtype=WHOLE).set(numbers.is_null(), None)
    return digits.scatter(others, _printed_digits(numbers.gather(others), scale, rounded_quotient))


def _nearest(numbers: pl.Series, places: int, cut: bool) -> pl.Series:
    values = numbers.to_numpy()
    digits, is_known = _quick_digits(values, places, cut)
    found = np.where(is_known, digits / 10.0**places, values)
    others = np.flatnonzero(~is_known & (np.abs(values) < _WHOLE))
    exact = _printed_digits(numbers.gather(others), places, quotient if cut else rounded_quotient)
    type_ = t.Decimal(t.MAX_DECIMAL_PRECISION, places)
    # Reading the digits rounds once, to the nearest number.
    read = decimal_of(pl.col("digits"), type_).cast(pl.String).cast(pl.Float64)
    found[others] = exact.alias("digits").to_frame().select(read).to_series()
    return pl.Series(found).set(numbers.is_null(), None)


def _printed_digits(numbers: pl.Series, scale: int, divide: Divide) -> pl.Series:
    return decimal_strings.digits_of(numbers.cast(pl.String), scale, divide)


def _quick_digits(numbers: np.ndarray, scale: int, cut: bool) -> tuple[np.ndarray, np.ndarray]:
    """The digits up to a place after the point, and where they are certain: where the number has
    no digits but these and one more, or where an error of the product makes no difference.
    """
    size = np.abs(numbers)
    if scale >= _EXACT_POWERS:
        return np.zeros(len(size), np.int64), np.zeros(len(size), bool)
    with np.errstate(invalid="ignore", over="ignore"):
        one_more = np.rint(size * 10.0 ** (scale + 1))
        has_no_more = (one_more < _PRINTED) & (one_more / 10.0 ** (scale + 1) == size)
        product = size * 10.0**scale
        whole = np.floor(product)
        to_limit = np.abs(product - whole - 0.5)  # from where the result changes
        to_limit = 0.5 - to_limit if cut else to_limit
        is_clear = (product < _WHOLE) & (to_limit > product * _ERROR)
        above = np.zeros(len(size), bool) if cut else product - whole >= 0.5
    digits = np.where(is_clear, whole + above, 0).astype(np.int64)
    exact = np.where(has_no_more, one_more, 0).astype(np.int64)
    digits = np.where(has_no_more, (exact + (0 if cut else 5)) // 10, digits)
    return np.where(numbers < 0, -digits, digits), has_no_more | is_clear
