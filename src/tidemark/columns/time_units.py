"""Calendar units: EXTRACT, FLOOR and CEIL to a unit, TIMESTAMPADD and TIMESTAMPDIFF."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark import types as t
from tidemark.columns import moments, rounding
from tidemark.columns.call import ColumnCall, WriteColumn

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_MICROS = {
    "WEEK": 7 * moments.DAY,
    "DAY": moments.DAY,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}
_LARGE = {"DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}


def _unit(call: ColumnCall, place: int) -> str:
    return str(call.literal(place)).upper()


def _clock(call: ColumnCall, place: int) -> pl.Expr:
    """A date, time or timestamp as the local time that it is in the session's zone."""
    return moments.session_clock(call.args[place], call.type(place), call.zone)


# --- EXTRACT -----------------------------------------------------------------------------------

Field = Callable[[pl.Expr], pl.Expr]


def _fraction(clock: pl.Expr) -> pl.Expr:
    """The microseconds in the second."""
    return clock.to_physical() % 1_000_000


def _year(clock: pl.Expr) -> pl.Expr:
    return clock.dt.year().cast(pl.Int64)


_FIELDS: dict[str, Field] = {
    "YEAR": _year,
    "QUARTER": lambda clock: clock.dt.quarter(),
    "MONTH": lambda clock: clock.dt.month(),
    "WEEK": lambda clock: clock.dt.week(),
    "DAY": lambda clock: clock.dt.day(),
    "DOY": lambda clock: clock.dt.ordinal_day(),
    "DOW": lambda clock: clock.dt.weekday() % 7 + 1,
    "ISODOW": lambda clock: clock.dt.weekday(),
    "ISOYEAR": lambda clock: clock.dt.iso_year(),
    "HOUR": lambda clock: clock.dt.hour(),
    "MINUTE": lambda clock: clock.dt.minute(),
    "SECOND": lambda clock: clock.dt.second(),
    "MILLISECOND": lambda clock: _fraction(clock) // 1000,
    "MICROSECOND": _fraction,
    "NANOSECOND": lambda clock: _fraction(clock) * 1000,
    "DECADE": lambda clock: _year(clock) // 10,
    "CENTURY": lambda clock: (_year(clock) + 99) // 100,
    "MILLENNIUM": lambda clock: (_year(clock) + 999) // 1000,
    "EPOCH": lambda clock: _toward_zero(clock.to_physical(), 1_000_000),
}


def _extract(call: ColumnCall) -> pl.Expr:
    unit = _unit(call, 0)
    match call.type(1):
        case t.DayTimeInterval():
            return _of_interval(call.args[1].cast(pl.Int64), unit)
        case t.YearMonthInterval():
            years = _toward_zero(call.args[1].cast(pl.Int64), 12)
            return years if unit == "YEAR" else call.args[1].cast(pl.Int64) - years * 12
    return _FIELDS[unit](_clock(call, 1)).cast(pl.Int64)


def _of_interval(micros: pl.Expr, unit: str) -> pl.Expr:
    """A part of a length of time; all parts have its sign."""
    within = {"HOUR": 24, "MINUTE": 60, "SECOND": 60, "MILLISECOND": 1000}
    whole = _toward_zero(micros, _MICROS[unit])
    if unit not in within:
        return whole
    larger = _toward_zero(micros, _MICROS[unit] * within[unit])
    return whole - larger * within[unit]


def _toward_zero(number: pl.Expr, divisor: int) -> pl.Expr:
    size = number.abs() // divisor
    return pl.when(number < 0).then(-size).otherwise(size)


def _field(unit: str) -> WriteColumn:
    return lambda call: _FIELDS[unit](_clock(call, 0)).cast(pl.Int64)


# --- FLOOR and CEIL ----------------------------------------------------------------------------


def _first_day(date: pl.Expr, unit: str) -> pl.Expr:
    """The first day of the unit that contains a date; weeks begin on Sunday."""
    match unit:
        case "DAY":
            return date
        case "WEEK":
            days = date.to_physical() - (date.dt.weekday() % 7).cast(pl.Int32)
            return pl.Expr.cast(days, pl.Date)
        case "MONTH" | "QUARTER" | "YEAR":
            return date.dt.truncate({"MONTH": "1mo", "QUARTER": "1q", "YEAR": "1y"}[unit])
    years, shift = _LARGE[unit], 0 if unit == "DECADE" else 1
    year = date.dt.year()
    into = (year - shift) - (year - shift) // years * years
    return date.dt.truncate("1y").dt.offset_by((-into).cast(pl.String) + "y")


def _floor_clock(clock: pl.Expr, unit: str) -> pl.Expr:
    if unit in _MICROS and unit not in ("WEEK", "DAY"):
        whole = clock.to_physical()
        return (whole - whole % _MICROS[unit]).cast(moments.CLOCK)
    return _first_day(clock.dt.date(), unit).cast(moments.CLOCK)


def _ceil_clock(clock: pl.Expr, unit: str) -> pl.Expr:
    if unit not in _MICROS or unit == "WEEK":
        # The time of day does not count: noon on the first of a month is the start of that month.
        clock = clock.dt.date().cast(moments.CLOCK)
    if unit != "MILLISECOND":
        # As in Flink, microseconds alone do not round up to larger units.
        clock = _floor_clock(clock, "MILLISECOND")
    floor = _floor_clock(clock, unit)
    if unit in _MICROS:
        following = (floor.to_physical() + _MICROS[unit]).cast(moments.CLOCK)
    else:
        months = _MONTHS.get(unit) or 12 * _LARGE[unit]
        following = moments.plus_months(floor, pl.lit(months, dtype=pl.Int32))
    return pl.when(floor == clock).then(clock).otherwise(following)


def _to_unit(cut: Callable[[pl.Expr, str], pl.Expr], whole: WriteColumn) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        if len(call.args) == 1:
            return whole(call)
        unit, type_ = _unit(call, 1), call.type(0)
        if isinstance(type_, t.Date) and unit in _MICROS and unit not in ("WEEK", "DAY"):
            return call.args[0]
        clock = _clock(call, 0)
        if isinstance(type_, t.TimestampLtz):
            # The instant moves as far as the local time does, even across a change of the clocks.
            distance = cut(clock, unit).to_physical() - clock.to_physical()
            return (call.args[0].to_physical() + distance).cast(moments.INSTANT)
        return moments.of_clock(cut(clock, unit), type_)

    return write


# --- TIMESTAMPADD and TIMESTAMPDIFF ------------------------------------------------------------


def _add(call: ColumnCall) -> pl.Expr:
    unit, amount, type_ = _unit(call, 0), call.args[1], call.type(2)
    if isinstance(type_, t.TimestampLtz):
        clock = call.args[2].dt.replace_time_zone(None)
    else:
        clock = _clock(call, 2)
    if unit in _MONTHS:
        moved = moments.plus_months(clock, amount.cast(pl.Int64) * _MONTHS[unit])
    else:
        micros = amount.cast(pl.Int64) * _MICROS[unit]
        moved = (clock.to_physical() + micros).cast(moments.CLOCK)
    if isinstance(type_, t.TimestampLtz):
        return moved.dt.replace_time_zone("UTC")
    return moments.of_clock(moved, call.result)


def _difference(call: ColumnCall) -> pl.Expr:
    """Whole units; months are those of the calendar."""
    unit = _unit(call, 0)
    start, end = (_utc_clock(call, place) for place in (1, 2))
    if unit in _MONTHS:
        return _toward_zero(_months_between(start, end), _MONTHS[unit]).cast(pl.Int32)
    micros = end.to_physical() - start.to_physical()
    if unit in ("MILLISECOND", "MICROSECOND"):
        # Flink counts whole seconds before converting them to smaller units.
        seconds = _toward_zero(micros, _MICROS["SECOND"])
        number = seconds * (_MICROS["SECOND"] // _MICROS[unit])
    else:
        number = _toward_zero(micros, _MICROS[unit])
    return number.cast(pl.Int32, wrap_numerical=True)


def _interval(call: ColumnCall) -> pl.Expr:
    start, end = (_utc_clock(call, place) for place in (1, 2))
    if isinstance(call.result, t.YearMonthInterval):
        return _months_between(start, end).cast(pl.Int32)
    millis = end.to_physical() // 1000 - start.to_physical() // 1000
    return (millis * 1000).cast(pl.Duration("us"))


def _utc_clock(call: ColumnCall, place: int) -> pl.Expr:
    """A time to the millisecond, as Flink compares them."""
    if isinstance(call.type(place), t.TimestampLtz):
        clock = call.args[place].dt.replace_time_zone(None)
    else:
        clock = _clock(call, place)
    return _floor_clock(clock, "MILLISECOND")


def _months_between(start: pl.Expr, end: pl.Expr) -> pl.Expr:
    """Full months by date; one less if the last one is not complete.

    Going backward, Flink subtracts one too, although it should add one.
    """
    first, last = start.dt.date(), end.dt.date()
    forward, backward = _full_months(first, last), -_full_months(last, first)
    months = pl.when(first <= last).then(forward).otherwise(backward)
    later = end.dt.time() < start.dt.time()
    whole = moments.plus_months(first, months) == last
    return months - (whole & later).cast(pl.Int64)


def _full_months(first: pl.Expr, last: pl.Expr) -> pl.Expr:
    # The end of a short month completes it: from January 31 to February 29 is one month.
    years = _year(last) - _year(first)
    months = last.dt.month().cast(pl.Int64) - first.dt.month().cast(pl.Int64)
    calendar = years * 12 + months
    return calendar - (moments.plus_months(first, calendar) > last).cast(pl.Int64)


_FIELD_NAMES = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}

COLUMNS: dict[str, WriteColumn] = {
    "EXTRACT": _extract,
    **{name: _field(unit) for name, unit in _FIELD_NAMES.items()},
    "FLOOR": _to_unit(_floor_clock, rounding.floor),
    "CEIL": _to_unit(_ceil_clock, rounding.ceil),
    "TIMESTAMPADD": _add,
    "TIMESTAMPDIFF": _difference,
    "- TO INTERVAL": _interval,
}
