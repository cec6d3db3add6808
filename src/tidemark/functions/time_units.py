"""Calendar units: EXTRACT, FLOOR and CEIL to a unit, TIMESTAMPADD and TIMESTAMPDIFF."""

from __future__ import annotations

from collections.abc import Callable

from tidemark import types as t
from tidemark.errors import did_you_mean
from tidemark.functions import moments, numeric
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import bound
from tidemark.functions.times_of_day import time_of

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_MILLIS = 3  # the precision
_CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
_YEARS = {"DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}


def _unit(argument: Argument, known: tuple[str, ...] | dict[str, str]) -> str:
    unit = str(argument.value).upper()
    if unit not in known:
        hint = did_you_mean(unit, known)
        raise SignatureMismatch(f"unit {unit} is not allowed here" + (f"; {hint}" if hint else ""))
    return unit


# --- EXTRACT -----------------------------------------------------------------------------------

# Spark SQL over a local time ({0} is a TIMESTAMP_NTZ).
_FIELDS = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "dayofmonth({0})",
    "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})",
    "ISODOW": "weekday({0}) + 1",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "HOUR": "hour({0})",
    "MINUTE": "minute({0})",
    "SECOND": "second({0})",
    "MILLISECOND": "extract(SECOND FROM {0}) % 1 * 1000",
    "MICROSECOND": "extract(SECOND FROM {0}) % 1 * 1000000",
    "NANOSECOND": "extract(SECOND FROM {0}) % 1 * 1000000000",
    "DECADE": "year({0}) div 10",
    "CENTURY": "(year({0}) + 99) div 100",
    "MILLENNIUM": "(year({0}) + 999) div 1000",
}
_INTERVAL_FIELDS = {
    t.DayTimeInterval: ("DAY", *_CLOCK_UNITS),
    t.YearMonthInterval: ("YEAR", "MONTH"),
}


def _extracted(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    unit, value = arguments
    if isinstance(value.type, t.INTERVALS):
        _unit(unit, _INTERVAL_FIELDS[type(value.type)])
    elif isinstance(value.type, t.Time):
        _unit(unit, (*_CLOCK_UNITS, "MICROSECOND", "NANOSECOND"))
    else:
        _unit(unit, (*_FIELDS, "EPOCH"))
    return unit.type, value.type


def _write_extract(call: SparkCall) -> str:
    return _field(str(call.literal(0)).upper(), call.args[1], call.type(1))


def _field(unit: str, sql: str, type_: t.DataType) -> str:
    if isinstance(type_, t.INTERVALS):
        text = _FIELDS["MILLISECOND"] if unit == "MILLISECOND" else f"extract({unit} FROM {{0}})"
        return f"CAST({text.format(sql)} AS BIGINT)"
    clock = sql if isinstance(type_, t.TIMESTAMPS) else moments.session_clock(sql, type_)
    if unit == "EPOCH":
        # Seconds of the local time: Flink reads a TIMESTAMP_LTZ in the session's zone.
        micros = moments.micros_of_clock(moments.session_clock(sql, type_))
        return f"({micros} div 1000000)"
    return f"CAST({_FIELDS[unit].format(clock)} AS BIGINT)"


def _field_function(name: str, unit: str) -> Function:
    def converts(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
        symbol = Argument(t.KeywordType(), unit)
        return _extracted((symbol, arguments[0]))[1:]

    return scalar(
        name,
        "(datetime)",
        t.BigInt(),
        lambda call: _field(unit, call.args[0], call.type(0)),
        converts=converts,
        category="temporal",
        summary=f"The same as EXTRACT({unit} FROM ...).",
    )


# --- FLOOR and CEIL ----------------------------------------------------------------------------

# The first day of the unit that contains a date ({0}). Weeks begin on Sunday.
_FIRST_DAYS = {
    "DAY": "{0}",
    "WEEK": "date_sub({0}, dayofweek({0}) - 1)",
    "MONTH": "trunc({0}, 'MONTH')",
    "QUARTER": "trunc({0}, 'QUARTER')",
    "YEAR": "trunc({0}, 'YEAR')",
    "DECADE": "make_date(year({0}) div 10 * 10, 1, 1)",
    "CENTURY": "make_date((year({0}) - 1) div 100 * 100 + 1, 1, 1)",
    "MILLENNIUM": "make_date((year({0}) - 1) div 1000 * 1000 + 1, 1, 1)",
}


def _to_unit(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if len(arguments) == 1:
        return (arguments[0].type,)
    value, unit = arguments
    if isinstance(value.type, t.Time):
        _unit(unit, _CLOCK_UNITS)
    else:
        _unit(unit, (*_FIRST_DAYS, *_CLOCK_UNITS))
    return value.type, unit.type


def _to_unit_type(arguments: tuple[Argument, ...]) -> t.DataType:
    if len(arguments) == 1:
        return numeric.whole_type(arguments)
    return arguments[0].type


def _write_floor(call: SparkCall) -> str:
    if len(call.args) == 1:
        return numeric.write_whole("floor", call)
    return _on_clock(call, lambda clock: _floor(clock, str(call.literal(1)).upper()))


def _write_ceil(call: SparkCall) -> str:
    if len(call.args) == 1:
        return numeric.write_whole("ceil", call)
    unit = str(call.literal(1)).upper()
    if unit == "MILLISECOND" or getattr(call.type(0), "precision", 0) <= _MILLIS:
        return _on_clock(call, lambda clock: _ceil(clock, unit))
    # As in Flink, microseconds alone do not round up to larger units.
    return _on_clock(
        call, lambda clock: bound(_floor(clock, "MILLISECOND"), lambda cut: _ceil(cut, unit))
    )


def _on_clock(call: SparkCall, write: Callable[[str], str]) -> str:
    value, type_ = call.args[0], call.type(0)
    unit = str(call.literal(1)).upper()
    if isinstance(type_, t.Date) and unit in _CLOCK_UNITS:
        return value
    clock = moments.session_clock(value, type_)
    if isinstance(type_, t.TimestampLtz) and not moments.never_shifts(call.zone):
        # The instant moves as far as the local time does, even across a daylight saving change.
        return bound(value, lambda x: _moved(x, moments.session_clock(x, type_), write))
    return moments.from_session_clock(bound(clock, write), type_)


def _moved(instant: str, clock: str, write: Callable[[str], str]) -> str:
    distance = f"{moments.micros_of_clock(write(clock))} - {moments.micros_of_clock(clock)}"
    return f"timestamp_micros(unix_micros({instant}) + {distance})"


def _floor(clock: str, unit: str) -> str:
    date = f"CAST({clock} AS DATE)"
    if unit in _FIRST_DAYS:
        return f"CAST({_FIRST_DAYS[unit].format(date)} AS TIMESTAMP_NTZ)"
    return f"make_timestamp_ntz({date}, time_trunc('{unit}', {time_of(clock)}))"


def _ceil(clock: str, unit: str) -> str:
    if unit in _FIRST_DAYS and unit != "DAY":
        # The time of day does not count: noon on the first of a month is the start of that month.
        clock = f"CAST(CAST({clock} AS DATE) AS TIMESTAMP_NTZ)"
    return bound(_floor(clock, unit), lambda floor: _up_from(floor, clock, unit))


def _up_from(floor: str, clock: str, unit: str) -> str:
    if unit in _YEARS:
        following = f"timestampadd(YEAR, {_YEARS[unit]}, {floor})"
    else:
        following = f"timestampadd({unit}, 1, {floor})"
    return f"if({floor} = {clock}, {clock}, {following})"


# --- TIMESTAMPADD ------------------------------------------------------------------------------

_ADDED_UNITS = ("WEEK", "DAY", *_MONTHS, *_CLOCK_UNITS)


def _added(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """Days and longer units leave a time of day as it is."""
    unit, amount, moment = arguments
    _unit(unit, _ADDED_UNITS)
    return unit.type, amount.type, moment.type


def _added_type(arguments: tuple[Argument, ...]) -> t.DataType:
    moment = arguments[2].type
    if isinstance(moment, t.Date) and str(arguments[0].value).upper() in _CLOCK_UNITS:
        return t.Timestamp(6)
    return moment


def _write_add(call: SparkCall) -> str:
    unit, (_, amount, moment) = str(call.literal(0)).upper(), call.args
    type_ = call.type(2)
    if isinstance(type_, t.TimestampLtz):
        clock = f"timestampadd({unit}, {amount}, {moments.utc_clock(moment)})"
        return moments.instant_of_utc_clock(clock)
    clock = f"timestampadd({unit}, {amount}, {moments.session_clock(moment, type_)})"
    return moments.from_session_clock(clock, call.result)


# --- TIMESTAMPDIFF -----------------------------------------------------------------------------

# Flink counts whole seconds before converting them to smaller units.
_PER_SECOND = {"MILLISECOND": 1000, "MICROSECOND": 1_000_000}
_MICROS = {
    "WEEK": 604_800_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
}
_DIFFERENCE_UNITS = (*_MONTHS, *_MICROS, *_PER_SECOND)


def _compared(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    unit, start, end = arguments
    _unit(unit, _DIFFERENCE_UNITS)
    kinds = {isinstance(a.type, t.TimestampLtz) for a in (start, end)}
    if len(kinds) > 1:
        raise SignatureMismatch("a TIMESTAMP_LTZ can only be compared with another TIMESTAMP_LTZ")
    if isinstance(start.type, t.Time) != isinstance(end.type, t.Time):
        raise SignatureMismatch("a TIME can only be compared with another TIME")
    return tuple(argument.type for argument in arguments)


def _write_difference(call: SparkCall) -> str:
    unit = str(call.literal(0)).upper()
    start, end = (_difference_clock(call, i) for i in (1, 2))
    if unit in _MONTHS:
        whole = bound(start, lambda a: bound(end, lambda b: _months_between(a, b)))
        return f"CAST({whole} div {_MONTHS[unit]} AS INT)"
    micros = f"({moments.micros_of_clock(end)} - {moments.micros_of_clock(start)})"
    if unit in _PER_SECOND:
        return f"CAST({micros} div 1000000 * {_PER_SECOND[unit]} AS INT)"
    return f"CAST({micros} div {_MICROS[unit]} AS INT)"


def _difference_clock(call: SparkCall, index: int) -> str:
    """A time to the millisecond, as Flink compares them."""
    sql, type_ = call.args[index], call.type(index)
    is_instant = isinstance(type_, t.TimestampLtz)
    clock = moments.utc_clock(sql) if is_instant else moments.session_clock(sql, type_)
    if isinstance(type_, t.Timestamp | t.TimestampLtz) and type_.precision > 3:
        return bound(clock, lambda exact: _floor(exact, "MILLISECOND"))
    return clock


def _months_between(start: str, end: str) -> str:
    """Full months by date; one less if the last one is not complete.

    Going backward, Flink subtracts one too, although it should add one.
    """
    first, last = f"CAST({start} AS DATE)", f"CAST({end} AS DATE)"
    months = f"if({first} <= {last}, {_full_months(first, last)}, -{_full_months(last, first)})"
    later = f"{time_of(end)} < {time_of(start)}"
    return bound(
        months, lambda n: f"({n} - if(add_months({first}, {n}) = {last} AND {later}, 1, 0))"
    )


def _full_months(first: str, last: str) -> str:
    # The end of a short month completes it: from January 31 to February 29 is one month.
    calendar = f"((year({last}) - year({first})) * 12 + month({last}) - month({first}))"
    return f"({calendar} - CAST(add_months({first}, {calendar}) > {last} AS INT))"


def _interval_between(arguments: tuple[Argument, ...]) -> t.DataType:
    in_months = str(arguments[0].value).upper() in _MONTHS
    return t.YearMonthInterval() if in_months else t.DayTimeInterval()


def _write_interval(call: SparkCall) -> str:
    """The whole months, or the exact milliseconds, whatever the unit."""
    start, end = (_difference_clock(call, i) for i in (1, 2))
    if isinstance(call.result, t.YearMonthInterval):
        whole = bound(start, lambda a: bound(end, lambda b: _months_between(a, b)))
        return f"({whole} * INTERVAL '1' MONTH)"
    millis = f"({moments.millis_of_clock(end)} - {moments.millis_of_clock(start)})"
    return f"({millis} * INTERVAL '0.001' SECOND)"


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

FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "EXTRACT",
        ("(symbol, datetime)", "(symbol, interval)"),
        t.BigInt(),
        _write_extract,
        converts=_extracted,
        category="temporal",
        summary="A part of a time or interval, such as YEAR, WEEK, HOUR or EPOCH.",
    ),
    *(_field_function(name, unit) for name, unit in _FIELD_NAMES.items()),
    scalar(
        "FLOOR",
        ("(numeric)", "(datetime, symbol)"),
        _to_unit_type,
        _write_floor,
        converts=_to_unit,
        category="temporal",
        summary="The number rounded down, or the time down to the unit; weeks start on Sunday.",
    ),
    scalar(
        "CEIL",
        ("(numeric)", "(datetime, symbol)"),
        _to_unit_type,
        _write_ceil,
        aliases=("CEILING",),
        converts=_to_unit,
        category="temporal",
        summary="The number rounded up, or the time rounded up to the unit.",
    ),
    scalar(
        "TIMESTAMPADD",
        "(symbol, integer, datetime)",
        _added_type,
        _write_add,
        converts=_added,
        category="temporal",
        summary="A time plus a number of units.",
    ),
    scalar(
        "TIMESTAMPDIFF",
        "(symbol, datetime, datetime)",
        t.Int(),
        _write_difference,
        converts=_compared,
        category="temporal",
        summary="The whole units from the first time to the second, truncated toward zero.",
    ),
    scalar(
        "- TO INTERVAL",
        "(symbol, datetime, datetime)",
        _interval_between,
        _write_interval,
        converts=_compared,
        category="temporal",
        summary="The interval between two times: `(a - b) SECOND`.",
    ),
)
