"""DECIMALs from strings: numbers as people write them at once, all others by their parts."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark import types as t
from tidemark.columns.decimals import decimal_of
from tidemark.kernels.whole_numbers import WHOLE, rounded_quotient, whole

_ALL = t.MAX_DECIMAL_PRECISION
_NO_ROUNDING = r"\A[+-]?[0-9]{1,19}(?:[.][0-9]{1,%d})?\z"
_INTEGER = r"\A[+-]?[0-9]{1,19}\z"
_EXPONENT = "[+-]?0*[0-9]{1,9}"
_NUMBER = rf"\A[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE]{_EXPONENT})?\z"
# A number without superfluous zeros: its sign, digits before and after the point, and exponent.
_PARTS = rf"\A([+-]?)0*([0-9]*)(?:[.]([0-9]*))?(?:[eE]({_EXPONENT}))?\z"

Divide = Callable[[pl.Expr, pl.Expr], pl.Expr]


def of_string(strings: pl.Expr, target: t.Decimal) -> pl.Expr:
    """The DECIMAL that a string spells; NULL if it is not a number or does not fit."""
    digits = strings.map_batches(
        lambda some: digits_of(some, target.scale), return_dtype=WHOLE, is_elementwise=True
    )
    return decimal_of(digits, target)


def digits_of(strings: pl.Series, scale: int, divide: Divide = rounded_quotient) -> pl.Series:
    """The digits of numbers up to a place after the point; `divide` drops what comes after it.
    NULL for what is not a number or has too many digits.
    """
    simple = strings.str.contains(_NO_ROUNDING % scale if scale else _INTEGER)
    named = strings.alias("string").to_frame()
    kept = pl.when(simple).then("string").cast(pl.Decimal(_ALL, scale), strict=False)
    digits = named.select(kept.to_physical().cast(WHOLE)).to_series()
    others = (~simple).arg_true()
    return digits.scatter(others, _by_parts(strings.gather(others), scale, divide))


def _by_parts(strings: pl.Series, scale: int, divide: Divide) -> pl.Series:
    # In steps: as one expression, Polars computes its parts many times.
    string, parts = pl.col("string"), pl.col("parts")
    before, fraction, exponent = (
        parts.struct.field(str(place)).fill_null("") for place in (2, 3, 4)
    )
    all_digits, number, places = pl.col("digits"), pl.col("number"), pl.col("places")
    # Of more digits than there can be, only the first may decide: whether the last is rounded up.
    dropped = all_digits.str.len_bytes().cast(pl.Int64).clip(lower_bound=_ALL) - _ALL
    next_digit = all_digits.str.slice(_ALL, 1).cast(pl.Int8, strict=False).fill_null(0)
    grown = pl.when(_fits(number, places)).then(number * _power(places))
    shrunk = pl.when(places >= -_ALL).then(divide(number, _power(-places))).otherwise(whole(0))
    size = pl.when(number == 0).then(number).when(places < 0).then(shrunk).otherwise(grown)
    is_negative = parts.struct.field("1") == "-"
    frame = strings.alias("string").to_frame()
    for step in (
        {"parts": string.str.extract_groups(_PARTS)},
        {"digits": (before + fraction).str.strip_chars_start("0")},
        {
            "number": (pl.lit("0") + all_digits.str.head(_ALL)).cast(WHOLE, strict=False),
            "places": exponent.cast(pl.Int64, strict=False).fill_null(0) + dropped + scale
            - fraction.str.len_bytes().cast(pl.Int64),
        },
        {"number": number + ((places == 0) & (next_digit >= 5)).cast(WHOLE)},
        {"size": size},
        {"size": pl.when(is_negative).then(whole(0) - pl.col("size")).otherwise("size")},
    ):  # fmt: skip
        frame = frame.with_columns(**step)
    return frame.select(pl.when(string.str.contains(_NUMBER)).then("size")).to_series()


def _power(places: pl.Expr) -> pl.Expr:
    """Ten to the power of each value, which counts as 0 to 38."""
    powers = pl.lit(pl.Series([10**n for n in range(_ALL + 1)], dtype=WHOLE))
    return powers.gather(places.clip(0, _ALL).cast(pl.UInt32))


def _fits(number: pl.Expr, places: pl.Expr) -> pl.Expr:
    """Whether a number still has at most 38 digits with more places."""
    return (places <= _ALL) & (number < whole(10**_ALL) // _power(places))
