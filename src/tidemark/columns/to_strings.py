"""Values as strings, in exactly Flink's formats."""

from __future__ import annotations

from decimal import Decimal

import polars as pl

from tidemark import types as t
from tidemark.columns import moments
from tidemark.columns.call import Active
from tidemark.columns.nested_casts import CastColumn, cast_elements
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.utf8 import decoded
from tidemark.functions.spark_text import safe_names

_SECONDS = "%Y-%m-%d %H:%M:%S"
# What Java prints without an exponent.
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7


def to_string(value: pl.Expr, type_: t.DataType, active: Active) -> pl.Expr:
    """The whole value as Flink prints it; NULL stays NULL."""
    match type_:
        case t.Boolean():
            true, false = pl.lit("TRUE"), pl.lit("FALSE")
            return pl.when(value).then(true).when(~value).then(false)
        case t.Float() | t.Double():
            return _approximate(value, _SMALLEST[type(type_)])
        case t.Date():
            return value.dt.to_string("%Y-%m-%d")
        case t.Time(precision=precision):
            return _time(value, precision)
        case t.Timestamp(precision=precision):
            return _clock(value, precision)
        case t.TimestampLtz(precision=precision):
            return _clock(moments.to_clock(value, active.surroundings.zone), precision)
        case t.DayTimeInterval():
            return _day_time(value.cast(pl.Int64))
        case t.YearMonthInterval():
            return _year_month(value)
        case t.Binary() | t.VarBinary():
            return active.batches(_decoded, (value,), t.STRING)
        case t.Array() | t.Map() | t.Multiset() | t.Row():
            return _nested(value, type_, active)
    return value.cast(pl.String)


def _smallest(step: Decimal) -> dict[str, str]:
    """Java prints two digits even where one is enough to tell a number from its neighbors, as it is
    for the smallest: the nearest two.
    """
    short = {f"{n * step:.0e}": f"{n * step:.1e}" for n in range(1, 70)}
    return {one.replace("e-0", "e-"): two.replace("e", "E") for one, two in short.items()}


_SMALLEST = {t.Double: _smallest(Decimal(2) ** -1074), t.Float: _smallest(Decimal(2) ** -149)}


def _approximate(value: pl.Expr, smallest: dict[str, str]) -> pl.Expr:
    """Java's `toString`: of the same shortest digits that Polars prints."""
    text = value.cast(pl.String)
    parts = text.str.extract_groups(r"^(-?)([0-9]+)(?:[.]([0-9]+))?(?:e([+-]?[0-9]+))?$")
    sign, whole = parts.struct.field("1"), parts.struct.field("2")
    fraction = parts.struct.field("3").fill_null("")
    given = parts.struct.field("4").cast(pl.Int32).fill_null(0)
    leading = fraction.str.extract("^(0*)").str.len_bytes().cast(pl.Int32)
    places = whole.str.len_bytes().cast(pl.Int32) - 1
    exponent = given + pl.when(whole == "0").then(-leading - 1).otherwise(places)
    digits = (whole + fraction).str.strip_chars_start("0").str.strip_chars_end("0")
    tail = digits.str.slice(1)
    tail = pl.when(tail == "").then(pl.lit("0")).otherwise(tail)
    written = sign + digits.str.head(1) + "." + tail + "E" + exponent.cast(pl.String)
    size = value.abs()
    tiny = text.str.strip_prefix("-").replace_strict(smallest, default=None)
    written = pl.coalesce(sign + tiny, written)
    return (
        pl.when(value.is_nan())
        .then(pl.lit("NaN"))
        .when(value.is_infinite())
        .then(pl.when(value > 0).then(pl.lit("Infinity")).otherwise(pl.lit("-Infinity")))
        .when((size == 0) | ((size >= _PLAIN_FROM) & (size < _PLAIN_TO)))
        .then(text)
        .otherwise(written)
    )


def _time(value: pl.Expr, precision: int) -> pl.Expr:
    """With at least one digit of the fraction, like Java's `Timestamp`."""
    if precision == 0:
        return value.dt.to_string("%H:%M:%S")
    exact = value.dt.to_string("%H:%M:%S%.6f")
    return exact.str.replace(r"0{1,5}$", "").str.head(9 + precision)


def _clock(value: pl.Expr, precision: int) -> pl.Expr:
    text = value.dt.to_string(_SECONDS if precision == 0 else f"{_SECONDS}%.6f")
    return text.str.head(20 + precision) if precision else text


def _day_time(micros: pl.Expr) -> pl.Expr:
    """As in `-1 02:03:04.500`."""
    millis = micros.abs() // 1000
    parts = [
        (millis // 86_400_000).cast(pl.String) + " ",
        _padded(millis // 3_600_000 % 24, 2) + ":",
        _padded(millis // 60_000 % 60, 2) + ":",
        _padded(millis // 1000 % 60, 2) + ".",
        _padded(millis % 1000, 3),
    ]
    return pl.concat_str(_sign(micros), *parts)


def _year_month(months: pl.Expr) -> pl.Expr:
    """As in `-1-02`."""
    size = months.abs()
    return pl.concat_str(
        _sign(months), (size // 12).cast(pl.String), pl.lit("-"), _padded(size % 12, 2)
    )


def _padded(number: pl.Expr, width: int) -> pl.Expr:
    return number.cast(pl.String).str.zfill(width)


def _sign(number: pl.Expr) -> pl.Expr:
    return pl.when(number < 0).then(pl.lit("-")).otherwise(pl.lit("+"))


def _decoded(values: pl.Series) -> pl.Series:
    """Bytes as UTF-8; U+FFFD for what is not valid."""
    try:
        return values.cast(pl.String)
    except pl.exceptions.PolarsError:
        strings = [None if v is None else decoded(v) for v in values]
        return pl.Series(values.name, strings, dtype=pl.String)


# --- collections and rows ----------------------------------------------------------------------


def _nested(value: pl.Expr, type_: t.DataType, active: Active) -> pl.Expr:
    match type_:
        case t.Array(element=element):
            return _listed(
                "[", value, lambda each, inside: to_string(each, element, inside), active
            )
        case t.Map() | t.Multiset():
            return _listed("{", value.map.entries(), _entry(type_), active)
        case t.Row():
            return _row(value, type_, active)
    raise NotInColumns(f"CAST of {type_.text()} to STRING")


_CLOSING = {"[": "]", "{": "}"}


def _listed(opening: str, lists: pl.Expr, write: CastColumn, active: Active) -> pl.Expr:
    """The elements, as written, between brackets."""
    written = cast_elements(
        lists, t.Array(t.STRING), active, lambda each, inside: _or_null(write(each, inside))
    )
    listed = written.list.join(", ")
    return pl.concat_str(pl.lit(opening), listed, pl.lit(_CLOSING[opening]))


def _element(type_: t.DataType) -> CastColumn:
    return lambda each, inside: to_string(each, type_, inside)


def _entry(type_: t.Map | t.Multiset) -> CastColumn:
    """An entry of a map, as in `key=value`."""
    parts: dict[str, t.DataType] = (
        {"key": type_.key, "value": type_.value}
        if isinstance(type_, t.Map)
        else {"key": type_.element, "value": t.Int()}
    )

    def write(each: pl.Expr, inside: Active) -> pl.Expr:
        strings = [
            _or_null(to_string(each.struct.field(name), kind, inside))
            for name, kind in parts.items()
        ]
        return pl.concat_str(*strings, separator="=")

    return write


def _row(value: pl.Expr, type_: t.Row, active: Active) -> pl.Expr:
    names = safe_names([field.name for field in type_.fields])
    fields = [
        _or_null(to_string(value.struct.field(name), field.type, active))
        for name, field in zip(names, type_.fields, strict=True)
    ]
    listed = pl.concat_str(*fields, separator=", ") if fields else pl.lit("")
    return pl.when(value.is_not_null()).then(pl.concat_str(pl.lit("("), listed, pl.lit(")")))


def _or_null(text: pl.Expr) -> pl.Expr:
    return text.fill_null("NULL")
