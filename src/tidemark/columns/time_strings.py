"""Times read from strings and numbers, and written as strings."""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.columns import moments
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.casts import cast
from tidemark.columns.clocks_by_pattern import read_clock
from tidemark.columns.date_patterns import format_clock
from tidemark.columns.moments_in_strings import read_lenient_moment, read_sql_moment
from tidemark.functions.date_patterns import pieces
from tidemark.functions.pattern_readings import has_offset, without_sections
from tidemark.functions.time_strings import (
    FIRST_SECOND,
    LAST_SECOND,
    LEADING_MOMENT,
    LONG_MIN,
    SECONDS_PATTERN,
    is_java_zone,
)

# --- reading -----------------------------------------------------------------------------------


def _to_date(call: ColumnCall) -> pl.Expr:
    if len(call.args) == 1:
        return cast(call.args[0], t.STRING, t.Date(), call.active, safe=True)
    return _parsed(call).dt.date()


def _to_timestamp(call: ColumnCall) -> pl.Expr:
    if len(call.args) == 1:
        return cast(call.args[0], t.STRING, t.Timestamp(3), call.active, safe=True)
    return moments.cut(_matched(call), t.Timestamp(3), 6, 3)


def _matched(call: ColumnCall) -> pl.Expr:
    """The local time in the first argument, which either matches the pattern in the second or is a
    timestamp or a date in its usual form; otherwise NULL.
    """
    text, pattern = call.args[0], call.constant(1, "a pattern")
    if pattern is None:
        return pl.lit(None, dtype=moments.CLOCK)
    return pl.coalesce(read_clock(call, pattern, exact=True), read_sql_moment(text))


def _parsed(call: ColumnCall) -> pl.Expr:
    """The local time that the first argument begins with by the pattern in the second, or NULL."""
    pattern = call.constant(1, "a pattern")
    if pattern is None:
        return pl.lit(None, dtype=moments.CLOCK)
    return read_clock(call, pattern, exact=False)


def _to_ltz(call: ColumnCall) -> pl.Expr:
    if isinstance(call.type(0), t.NUMERICS):
        return _instant_of_number(call)
    if len(call.args) == 1:
        clock = cast(call.args[0], t.STRING, t.Timestamp(3), call.active)
        return moments.to_instant(clock, "UTC")
    # A string is a time in UTC, whatever the session's time zone, unless a zone is given.
    zone = call.constant(2, "a time zone") if len(call.args) == 3 else "UTC"
    if zone is None:
        return pl.lit(None, dtype=moments.INSTANT)
    assert isinstance(call.result, t.TimestampLtz)
    return moments.cut(
        moments.to_instant(_matched(call), zone), call.result, 6, call.result.precision
    )


def _instant_of_number(call: ColumnCall) -> pl.Expr:
    precision, type_ = call.literal(1, 3), call.type(0)
    number = call.args[0]
    if isinstance(type_, t.Decimal):
        # Flink drops the fraction of a DECIMAL, but not that of a DOUBLE.
        number = cast(number, type_, t.BigInt(), call.active)
    unit, factor = 10**precision, 10 ** (6 - precision)
    approximate = isinstance(type_, t.Float | t.Double)
    number = number.cast(pl.Float64 if approximate else pl.Int64)
    known = (number >= FIRST_SECOND * unit) & (number <= (LAST_SECOND + 1) * unit - 1)
    number = pl.when(known).then(number)
    micros = (number * factor).floor().cast(pl.Int64) if approximate else number * factor
    instant = micros.cast(moments.INSTANT)
    assert isinstance(call.result, t.TimestampLtz)
    return moments.cut(instant, call.result, 6, call.result.precision)


# --- writing -----------------------------------------------------------------------------------


def _date_format(call: ColumnCall) -> pl.Expr:
    pattern = call.constant(1, "a pattern")
    if pattern is None:
        return pl.lit(None, dtype=pl.String)
    if isinstance(call.type(0), t.CHARACTERS):
        # Unlike in a cast, a date alone is not valid here.
        clock = _leading_moment(call.args[0])
    else:
        clock = moments.session_clock(call.args[0], call.type(0), call.zone)
    return format_clock(clock, pieces(without_sections(pattern)), pattern, call.name)


def _leading_moment(text: pl.Expr) -> pl.Expr:
    return read_lenient_moment(text.str.extract(LEADING_MOMENT, 1))


def _from_unixtime(call: ColumnCall) -> pl.Expr:
    pattern = call.constant(1, "a pattern") if len(call.args) > 1 else SECONDS_PATTERN
    if pattern is None:
        return pl.lit(None, dtype=pl.String)
    instant = (call.args[0].cast(pl.Int64) * 1_000_000).cast(moments.INSTANT)
    written = pieces(pattern, simple=True, zones=True)
    return format_clock(moments.to_clock(instant, call.zone), written, pattern, call.name)


def _unix_timestamp(call: ColumnCall) -> pl.Expr:
    if not call.args:
        return pl.lit(int(call.active.surroundings.now.timestamp()), dtype=pl.Int64)
    clock = _leading_moment(call.args[0]) if len(call.args) == 1 else _parsed(call)
    zone = "UTC" if has_offset(call.literal(1)) else call.zone
    seconds = moments.to_instant(clock, zone, "latest").to_physical() // 1_000_000
    # A string that is not a valid time gives the smallest BIGINT.
    known = seconds.fill_null(pl.lit(int(LONG_MIN), dtype=pl.Int64))
    return pl.when(call.args[0].is_not_null()).then(known)


def _convert_tz(call: ColumnCall) -> pl.Expr:
    source, target = (call.constant(place, "a time zone") for place in (1, 2))
    if source is None or target is None:
        return pl.lit(None, dtype=pl.String)
    instant = moments.to_instant(_leading_moment(call.args[0]), _java_zone(source), "latest")
    return moments.to_clock(instant, _java_zone(target)).dt.to_string("%Y-%m-%d %H:%M:%S")


def _java_zone(name: str) -> str:
    """An unknown zone counts as UTC."""
    return name if is_java_zone(name) else "UTC"


COLUMNS: dict[str, WriteColumn] = {
    "TO_DATE": _to_date,
    "TO_TIMESTAMP": _to_timestamp,
    "TO_TIMESTAMP_LTZ": _to_ltz,
    "DATE_FORMAT": _date_format,
    "FROM_UNIXTIME": _from_unixtime,
    "UNIX_TIMESTAMP": _unix_timestamp,
    "CONVERT_TZ": _convert_tz,
}
