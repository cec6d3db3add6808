"""Values read from strings: NULL where a string is not one in Flink."""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.columns import decimal_strings, moments
from tidemark.columns.call import Active
from tidemark.columns.moments_in_strings import BLANKS, clock_parts, read_moment
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type
from tidemark.functions.string_casts import DATE, FALSE, INTEGER, TIME, TRUE, ZERO

# What Java reads as a floating-point number, but for hexadecimal digits.
_NUMBER = (
    r"\A[\x00-\x20]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?[\x00-\x20]*\z"
)
_WORDS = {
    sign + word: float(sign + word) for sign in ("", "+", "-") for word in ("NaN", "Infinity")
}


def from_string(text: pl.Expr, target: t.DataType, active: Active, *, safe: bool) -> pl.Expr:
    """The value of the string; one that is not valid fails the job, or is NULL if `safe`."""
    value = _read(text, target, active.surroundings.zone)
    if not safe:
        what = pl.concat_str(pl.lit("cannot cast '"), text, pl.lit(f"' to {target.text()}"))
        active.fail(text.is_not_null() & value.is_null(), what)
    return value


def _read(text: pl.Expr, target: t.DataType, zone: str) -> pl.Expr:
    match target:
        case t.Boolean():
            return _read_boolean(text)
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            zero = pl.when(text.str.contains(ZERO)).then(pl.lit("0"))
            digits = zero.otherwise(text.str.extract(INTEGER, 1))
            return digits.cast(polars_type(target), strict=False)
        case t.Float() | t.Double():
            return _read_approximate(text, polars_type(target))
        case t.Decimal():
            return decimal_strings.of_string(text.str.strip_chars(BLANKS), target)
        case t.Date():
            return _read_date(text)
        case t.Time(precision=precision):
            return moments.cut(_read_time(text), target, 6, precision)
        case t.Timestamp(precision=precision):
            return moments.cut(read_moment(text), target, 6, precision)
        case t.TimestampLtz(precision=precision):
            instant = moments.to_instant(read_moment(text), zone)
            return moments.cut(instant, target, 6, precision)
    raise NotInColumns(f"CAST of STRING to {target.text()}")


def _read_boolean(text: pl.Expr) -> pl.Expr:
    word = text.str.to_lowercase()
    return pl.when(word.is_in(TRUE)).then(True).when(word.is_in(FALSE)).then(False)


def _read_approximate(text: pl.Expr, kind: pl.DataType) -> pl.Expr:
    number = text.str.extract(_NUMBER, 1).cast(kind, strict=False)
    word = text.str.strip_chars(BLANKS).replace_strict(_WORDS, default=None, return_dtype=kind)
    return pl.coalesce(number, word)


def _read_date(text: pl.Expr) -> pl.Expr:
    date = (pl.lit("000") + text.str.strip_chars(" ")).str.extract(DATE, 1)
    parts = date.str.extract_groups(r"\A([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
    return _date(*(parts.struct.field(str(place)) for place in (1, 2, 3)))


def _date(year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
    spelled = pl.concat_str(year, month.fill_null("1"), day.fill_null("1"), separator="-")
    return spelled.str.to_date("%Y-%m-%d", strict=False)


def _read_time(text: pl.Expr) -> pl.Expr:
    parts = text.str.strip_chars(" ").str.extract_groups(TIME)
    return (_micros_of_day(parts, 1) * 1000).cast(pl.Time)


def _micros_of_day(parts: pl.Expr, first: int) -> pl.Expr:
    """The time of day in these groups of a match; NULL if there is none."""
    hour, minute, second, fraction = clock_parts(parts, first)
    matched = parts.struct.field("1").is_not_null()
    valid = matched & (hour < 24) & (minute < 60) & (second < 60)
    return pl.when(valid).then(((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction)
