"""Dates, times of day and timestamps: moved, cut, and taken from one zone to another."""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

import polars as pl

from tidemark import types as t
from tidemark.columns.refusals import NotInColumns
from tidemark.zones import zone_names

DAY = 86_400_000_000
CLOCK, INSTANT = pl.Datetime("us"), pl.Datetime("us", "UTC")
# Which of two times counts that clocks show twice.
Repeated = Literal["earliest", "latest"]
# Polars knows the changes of the clocks until the end of 2099.
_LAST_KNOWN = dt.datetime(2099, 12, 1)


# --- moving ------------------------------------------------------------------------------------


def plus_micros(value: pl.Expr, type_: t.DataType, micros: pl.Expr) -> pl.Expr:
    """A date, time or timestamp so much later. A day is 24 hours, also of an instant."""
    match type_:
        case t.Date():
            # Only whole days move a date: a day minus an hour is the same day.
            days = micros.abs() // DAY
            signed = pl.when(micros < 0).then(-days).otherwise(days)
            return (value.cast(pl.Int32) + signed.cast(pl.Int32)).cast(pl.Date)
        case t.Time():
            # A time of day wraps around at midnight. Polars counts nanoseconds of it.
            clock = value.cast(pl.Int64) + (micros % DAY) * 1000
            return (clock % (DAY * 1000)).cast(pl.Time)
    return (value.to_physical() + micros).cast(_kind(type_))


def plus_months(value: pl.Expr, months: pl.Expr) -> pl.Expr:
    """A date or timestamp so many months later, or the last day of a shorter month."""
    return value.dt.offset_by(months.cast(pl.String) + "mo")


def _kind(type_: t.DataType) -> pl.DataType:
    return INSTANT if isinstance(type_, t.TimestampLtz) else CLOCK


# --- precision ---------------------------------------------------------------------------------


def cut(value: pl.Expr, type_: t.DataType, given: int, kept: int) -> pl.Expr:
    """A time or timestamp without the digits beyond a precision."""
    if given <= kept:
        return value
    if isinstance(type_, t.Time):
        unit = 10 ** (9 - kept)
        whole = value.cast(pl.Int64)
        return pl.Expr.cast(whole - whole % unit, pl.Time)
    unit = 10 ** (6 - kept)
    whole = value.to_physical()
    return pl.Expr.cast(whole - whole % unit, _kind(type_))


# --- zones -------------------------------------------------------------------------------------

_FIXED_ZONE = re.compile(r"(?:UTC|GMT|UT)?(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\Z")
_UTC = ("Z", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT")


def _fixed_offset(zone: str) -> int | None:
    """How many microseconds clocks in the zone are always before UTC; None if it varies."""
    if zone in _UTC:
        return 0
    written = _FIXED_ZONE.match(zone)
    if written is None:
        return None
    sign, hours, minutes = written.groups()
    size = (int(hours or 0) * 60 + int(minutes or 0)) * 60_000_000
    return -size if sign == "-" else size


def _check(zone: str) -> None:
    if zone not in zone_names():
        raise NotInColumns(f"the time zone {zone}")


def to_clock(instant: pl.Expr, zone: str) -> pl.Expr:
    """What clocks in the zone show at an instant."""
    offset = _fixed_offset(zone)
    if offset is not None:
        return (instant.to_physical() + offset).cast(CLOCK)
    _check(zone)
    return instant.map_batches(
        lambda series: _shown(series, zone), return_dtype=CLOCK, is_elementwise=True
    )


def _shown(instants: pl.Series, zone: str) -> pl.Series:
    shift = _into_known_years(instants.dt.replace_time_zone(None))
    shifted = instants if shift is None else instants - shift
    clocks = shifted.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    return clocks if shift is None else clocks + shift


def session_clock(value: pl.Expr, type_: t.DataType, zone: str) -> pl.Expr:
    """The local time that a date, time or timestamp is in a zone."""
    match type_:
        case t.TimestampLtz():
            return to_clock(value, zone)
        case t.Time():
            return (value.cast(pl.Int64) // 1000).cast(CLOCK)
    return value.cast(CLOCK)


def of_clock(clock: pl.Expr, type_: t.DataType) -> pl.Expr:
    """The inverse of `session_clock`, but for instants."""
    match type_:
        case t.Date():
            return clock.dt.date()
        case t.Time():
            return clock.dt.time()
    return clock


def to_instant(clock: pl.Expr, zone: str, repeated: Repeated = "earliest") -> pl.Expr:
    """When clocks in the zone show a time; the first time if they do so twice, unless the latest is
    asked for, and as much later as they are moved forward if they never do.
    """
    offset = _fixed_offset(zone)
    if offset is not None:
        return (clock.to_physical() - offset).cast(INSTANT)
    _check(zone)
    return clock.map_batches(
        lambda series: _instant(series, zone, repeated), return_dtype=INSTANT, is_elementwise=True
    )


def _instant(clocks: pl.Series, zone: str, repeated: Repeated) -> pl.Series:
    shift = _into_known_years(clocks)
    shifted = clocks if shift is None else clocks - shift
    found = _located(shifted, zone, repeated)
    missing = found.is_null() & shifted.is_not_null()
    if missing.any():
        day = pl.duration(days=1)
        before = _located(shifted.to_frame("c").select(pl.col("c") - day)["c"], zone, repeated)
        later = before.to_frame("c").select(pl.col("c") + day)["c"]
        found = found.zip_with(~missing, later)
    return found if shift is None else found + shift


def _located(clocks: pl.Series, zone: str, repeated: Repeated) -> pl.Series:
    local = clocks.dt.replace_time_zone(zone, ambiguous=repeated, non_existent="null")
    return local.dt.convert_time_zone("UTC")


def _into_known_years(clocks: pl.Series) -> pl.Series | None:
    """How much earlier each time is in a year with the same days of the week whose clock changes
    Polars knows; None if all are.
    """
    if not (clocks > _LAST_KNOWN).any():
        return None
    year = (
        clocks.dt.year()
        .to_frame("y")
        .select(
            pl.col("y").replace_strict(_SAME_CALENDAR, default=pl.col("y"), return_dtype=pl.Int32)
        )["y"]
    )
    shown = pl.DataFrame({"clock": clocks, "year": year})
    return shown.select(
        pl.when(pl.col("clock") > _LAST_KNOWN)
        .then(pl.datetime(pl.col("clock").dt.year(), 1, 1) - pl.datetime(pl.col("year"), 1, 1))
        .otherwise(pl.duration(days=0))
        .alias("shift")
    )["shift"]


def _same_calendar() -> dict[int, int]:
    known = {_calendar(year): year for year in range(2071, 2099)}
    return {year: known[_calendar(year)] for year in range(2099, 10_000)}


def _calendar(year: int) -> tuple[int, bool]:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return dt.date(year, 1, 1).weekday(), leap


_SAME_CALENDAR = _same_calendar()
