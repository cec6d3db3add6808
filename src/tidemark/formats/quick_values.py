"""Strings to values of a type, as whole columns, where the result is surely the exact one.

A string that is NULL in the result is left to the exact way, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark import types as t
from tidemark.formats import quick_times
from tidemark.formats.column_types import dtype
from tidemark.formats.exact_values import MILLISECONDS, Spelling

# What JSON calls a number, and CSV and Java as well.
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^[+-]?[0-9]+$"
_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

Convert = Callable[[pl.Series], pl.Series]


def converter(type_: t.DataType, spelling: Spelling, *, numbers_only: bool) -> Convert:
    """`numbers_only`: all strings are known to be numbers as JSON writes them, or a boolean."""
    match type_:
        case t.Char() | t.VarChar():
            return lambda text: text
        case t.Boolean():
            return _boolean
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return _number(type_, None if numbers_only else _INTEGER)
        case t.Float() | t.Double():
            return _number(type_, None if numbers_only else _NUMBER)
        case t.Decimal():
            return lambda text: _decimal(text, type_)
        case t.Binary() | t.VarBinary():
            return lambda text: _only(text, _BASE64).str.decode("base64", strict=False)
        case t.Date():
            return lambda text: quick_times.dates(text)
        case t.Time():
            # Both formats keep milliseconds at most.
            kept = min(type_.precision, MILLISECONDS) if spelling.short_times else MILLISECONDS
            return lambda text: quick_times.times(text, kept)
        case t.Timestamp() | t.TimestampLtz():
            return lambda text: quick_times.timestamps(text, type_, iso=spelling.iso_times)
    raise ValueError(f"{type_} cannot be read from a string")


def _only(text: pl.Series, pattern: str) -> pl.Series:
    """The strings that match; the others are NULL."""
    fits = text.str.contains(pattern)
    return text if fits.all() else _where(text, fits)


def _where(text: pl.Series, condition: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(text)).to_series()


def _boolean(text: pl.Series) -> pl.Series:
    return text.str.strip_chars(" ").str.to_lowercase() == "true"


def _number(type_: t.DataType, pattern: str | None) -> Convert:
    wanted = dtype(type_)

    def convert(text: pl.Series) -> pl.Series:
        fitting = text if pattern is None else _only(text, pattern)
        return fitting.cast(wanted, strict=False)

    return convert


# A number is rounded by way of a DECIMAL with this many digits on either side of the point.
_EITHER_SIDE = 19


def _decimal(text: pl.Series, type_: t.Decimal) -> pl.Series:
    wanted = pl.Decimal(type_.precision, type_.scale)
    plain = _only(text, rf"^-?[0-9]{{1,{_EITHER_SIDE}}}(?:\.[0-9]{{1,{_EITHER_SIDE}}})?$")
    longer = plain.str.contains(rf"\.[0-9]{{{type_.scale + 1},}}$")
    if not longer.any():
        return plain.cast(wanted, strict=False)
    wide = plain.cast(pl.Decimal(2 * _EITHER_SIDE, _EITHER_SIDE), strict=False)
    return wide.round(type_.scale, mode="half_away_from_zero").cast(wanted, strict=False)
