"""Times parsed from strings and formatted as strings."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions import date_patterns, moments
from tidemark.functions.casts import write_cast
from tidemark.functions.clocks_by_pattern import read_clock
from tidemark.functions.moments_in_strings import read_lenient_moment, read_sql_moment
from tidemark.functions.pattern_readings import (
    PatternReading,
    check_pattern,
    fraction_digits,
    has_offset,
    readings,
    without_sections,
)
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import bound, string
from tidemark.zones import zone_names

# What `columns` reads and writes by as well.
SECONDS_PATTERN = "yyyy-MM-dd HH:mm:ss"
# A date and a time of day; anything after it is ignored.
LEADING_MOMENT = r"\A *([0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})"
_MOST_DIGITS = 6  # of the fraction of a second
_BRACKETS = frozenset("[]{}#")
LONG_MIN = "-9223372036854775808"
# The first and the last second of the years 0001 to 9999.
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799


# --- reading -----------------------------------------------------------------------------------


def _write_to_date(call: SparkCall) -> str:
    if len(call.args) == 1:
        return write_cast(call.args[0], t.STRING, t.Date(), safe=True, zone=call.zone)
    return f"CAST({_parsed_clock(call)} AS DATE)"


def _write_to_timestamp(call: SparkCall) -> str:
    if len(call.args) == 1:
        return write_cast(call.args[0], t.STRING, t.Timestamp(3), safe=True, zone=call.zone)
    return write_cast(_matched_clock(call), t.Timestamp(6), t.Timestamp(3), zone=call.zone)


def _matched_clock(call: SparkCall) -> str:
    """The local time in the first argument, which either matches the pattern in the second or is a
    timestamp or a date in its usual form; otherwise NULL.
    """
    known = _readings(call, exact=True)

    def write(x: str) -> str:
        read = read_clock(x, known, exact=True) if known else _read_by_spark(x, call.args[1])
        return f"coalesce({read}, if({call.args[1]} IS NULL, NULL, {read_sql_moment(x)}))"

    return bound(call.args[0], write)


def _parsed_clock(call: SparkCall) -> str:
    """The local time that the first argument begins with by the pattern in the second, or NULL."""
    text, pattern = call.args[:2]
    known = _readings(call, exact=False)
    if known:
        return bound(text, lambda x: read_clock(x, known, exact=False))
    return _read_by_spark(text, pattern)


def _readings(call: SparkCall, *, exact: bool) -> tuple[PatternReading, ...] | None:
    pattern = call.literal(1)
    return readings(pattern, exact=exact) if isinstance(pattern, str) else None


def _read_by_spark(text: str, pattern: str) -> str:
    # Parsed as UTC, where no hour is ever missing.
    instant = f"try_to_timestamp(concat({text}, ' +0000'), concat({pattern}, ' xx'))"
    return moments.utc_clock(instant)


def _checked_reading(arguments: tuple[Argument, ...], *, exact: bool) -> tuple[t.DataType, ...]:
    pattern = arguments[1].value if len(arguments) > 1 else None
    if isinstance(pattern, str):
        check_pattern(pattern, exact=exact)
    return tuple(argument.type for argument in arguments)


# --- TO_TIMESTAMP_LTZ --------------------------------------------------------------------------


def _ltz_arguments(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if isinstance(arguments[0].type, t.Null):
        return (t.BigInt(), *(argument.type for argument in arguments[1:]))
    if isinstance(arguments[0].type, t.NUMERICS) and len(arguments) == 2:
        precision = arguments[1].value
        if not isinstance(precision, int) or not 0 <= precision <= 6:
            raise SignatureMismatch("the precision must be a literal from 0 to 6")
        return tuple(argument.type for argument in arguments)
    return _checked_reading(arguments, exact=True)


def _ltz_type(arguments: tuple[Argument, ...]) -> t.DataType:
    if len(arguments) < 2:
        return t.TimestampLtz(3)
    written = arguments[1].value
    if isinstance(arguments[0].type, t.NUMERICS):
        assert isinstance(written, int)
        return t.TimestampLtz(max(3, written))
    digits = fraction_digits(written) if isinstance(written, str) else 0
    return t.TimestampLtz(min(max(3, digits), _MOST_DIGITS))


def _write_to_ltz(call: SparkCall) -> str:
    """A string is a time in UTC, whatever the session's time zone, unless a zone is given."""
    if isinstance(call.type(0), t.NUMERICS):
        return _instant_of_number(call)
    if len(call.args) == 1:
        clock = write_cast(call.args[0], t.STRING, t.Timestamp(3), zone=call.zone)
        return moments.instant_of_utc_clock(clock)
    clock = _matched_clock(call)
    if len(call.args) == 3:
        clock = f"convert_timezone({call.args[2]}, 'UTC', {clock})"
    instant = moments.instant_of_utc_clock(clock)
    return write_cast(instant, t.TimestampLtz(6), call.result, zone=call.zone)


def _instant_of_number(call: SparkCall) -> str:
    precision = call.literal(1, 3)
    number, type_ = call.args[0], call.type(0)
    if isinstance(type_, t.Decimal):
        # Flink drops the fraction of a DECIMAL, but not that of a DOUBLE.
        number = f"CAST({number} AS BIGINT)"
    unit, micros = 10**precision, 10 ** (6 - precision)
    last = (LAST_SECOND + 1) * unit - 1
    return bound(
        number,
        lambda x: (
            f"if({x} BETWEEN {FIRST_SECOND * unit}L AND {last}L, "
            f"{_cut_to_millis(f'timestamp_micros({_micros(x, micros, type_)})', call)}, NULL)"
        ),
    )


def _micros(number: str, factor: int, type_: t.DataType) -> str:
    if isinstance(type_, t.Float | t.Double):
        return f"CAST(floor({number} * {factor}) AS BIGINT)"
    return f"CAST({number} AS BIGINT) * {factor}"


def _cut_to_millis(instant: str, call: SparkCall) -> str:
    if isinstance(call.type(0), t.Float | t.Double):
        return write_cast(instant, t.TimestampLtz(6), call.result, zone=call.zone)
    return instant


# --- writing -----------------------------------------------------------------------------------


def _checked_pattern(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    pattern = arguments[1].value
    if isinstance(pattern, str):
        date_patterns.pieces(without_sections(pattern))
    return tuple(argument.type for argument in arguments)


def _checked_simple_pattern(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    pattern = arguments[1].value if len(arguments) > 1 else None
    if isinstance(pattern, str):
        date_patterns.pieces(pattern, simple=True, zones=True)
    return tuple(argument.type for argument in arguments)


def _write_date_format(call: SparkCall) -> str:
    value, pattern = call.args
    clock = _clock_of(value, call.type(0))
    known = call.literal(1)
    if not isinstance(known, str):
        return f"date_format(CAST({clock} AS TIMESTAMP), {pattern})"
    shifts = not moments.never_shifts(call.zone)
    pattern = without_sections(known)
    return bound(clock, lambda x: date_patterns.format_clock(x, pattern, shifts=shifts))


def _clock_of(sql: str, type_: t.DataType) -> str:
    if not isinstance(type_, t.CHARACTERS):
        return moments.session_clock(sql, type_)
    # Unlike in a cast, a date alone is not valid here.
    return _leading_moment(sql)


def _write_from_unixtime(call: SparkCall) -> str:
    pattern = call.args[1] if len(call.args) > 1 else string(SECONDS_PATTERN)
    known = call.literal(1)
    if isinstance(known, str) and _BRACKETS.intersection(known):
        # Text in SimpleDateFormat, and optional sections for Spark.
        parts = date_patterns.pieces(known, simple=True, zones=True)
        pattern = string(date_patterns.joined(parts))
    return f"from_unixtime({call.args[0]}, {pattern})"


def _write_unix_timestamp(call: SparkCall) -> str:
    if not call.args:
        return "unix_seconds(current_timestamp())"
    if len(call.args) == 1:
        return bound(
            call.args[0], lambda x: _seconds_or_least(x, _instant(_leading_moment(x), call.zone))
        )
    zone = "UTC" if has_offset(call.literal(1)) else call.zone
    return _seconds_or_least(call.args[0], _instant(_parsed_clock(call), zone))


def _instant(clock: str, zone: str) -> str:
    if moments.never_shifts(zone):
        return f"CAST({clock} AS TIMESTAMP)"
    return moments.instant_of_utc_clock(_last_in_utc(clock, string(zone)))


def _last_in_utc(clock: str, zone: str) -> str:
    """When clocks in a zone show a time; the last time if they do so twice, unlike in a cast."""

    def write(shown: str) -> str:
        first = f"convert_timezone({zone}, 'UTC', {shown})"
        return bound(first, lambda utc: _later_if_shown(utc, zone, shown))

    return bound(clock, write)


def _later_if_shown(utc: str, zone: str, shown: str) -> str:
    later = f"({utc} + INTERVAL '1' HOUR)"
    return f"if(convert_timezone('UTC', {zone}, {later}) = {shown}, {later}, {utc})"


def _leading_moment(text: str) -> str:
    return read_lenient_moment(f"regexp_extract({text}, {string(LEADING_MOMENT)}, 1)")


def _seconds_or_least(text: str, instant: str) -> str:
    # A string that is not a valid time gives the smallest BIGINT.
    seconds = f"coalesce(unix_seconds({instant}), CAST('{LONG_MIN}' AS BIGINT))"
    return f"if({text} IS NULL, NULL, {seconds})"


# --- zones -------------------------------------------------------------------------------------


def _write_convert_tz(call: SparkCall) -> str:
    text, source, target = call.args
    utc = _last_in_utc(_leading_moment(text), _zone(call, 1, source))
    clock = f"convert_timezone('UTC', {_zone(call, 2, target)}, {utc})"
    return f"left(CAST({clock} AS STRING), 19)"


def _zone(call: SparkCall, index: int, written: str) -> str:
    known = call.literal(index)
    if not isinstance(known, str):
        return written
    return string(known if is_java_zone(known) else "UTC")


def is_java_zone(name: str) -> bool:
    """Whether java.util.TimeZone knows the name; it treats any other name as GMT."""
    if name in _SHORT_ZONES.split() or name in zone_names():
        return True
    return name.startswith(("GMT+", "GMT-"))


_SHORT_ZONES = (
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST "
    "SST VST UTC GMT"
)


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "TO_DATE",
        "(string, [character])",
        t.Date(),
        _write_to_date,
        strict=False,
        converts=lambda arguments: _checked_reading(arguments, exact=False),
        category="temporal",
        summary="The date in a string; NULL if it is not a valid date.",
    ),
    scalar(
        "TO_TIMESTAMP",
        "(string, [character])",
        t.Timestamp(3),
        _write_to_timestamp,
        strict=False,
        converts=lambda arguments: _checked_reading(arguments, exact=True),
        category="temporal",
        summary="The timestamp in a string; NULL if it is not a valid timestamp.",
    ),
    scalar(
        "TO_TIMESTAMP_LTZ",
        ("(numeric, [integer])", "(string, [character], [character])"),
        _ltz_type,
        _write_to_ltz,
        strict=False,
        converts=_ltz_arguments,
        category="temporal",
        summary="From seconds (precision 0), milliseconds (3), or a string with pattern and zone.",
    ),
    scalar(
        "DATE_FORMAT",
        ("(instant, character)", "(character, character)"),
        t.STRING,
        _write_date_format,
        strict=False,
        converts=_checked_pattern,
        category="temporal",
        summary="A timestamp, or a string that contains one, formatted with a Java pattern.",
    ),
    scalar(
        "FROM_UNIXTIME",
        "(integer, [string])",
        t.STRING,
        _write_from_unixtime,
        strict=False,
        converts=_checked_simple_pattern,
        category="temporal",
        summary="Seconds since 1970 formatted in the session time zone.",
    ),
    scalar(
        "UNIX_TIMESTAMP",
        "([string], [character])",
        lambda arguments: t.BigInt(nullable=any(a.type.nullable for a in arguments)),
        _write_unix_timestamp,
        strict=False,
        converts=lambda arguments: _checked_reading(arguments, exact=False),
        deterministic=False,
        category="temporal",
        summary="Seconds since 1970, of now or of a string in the session time zone.",
    ),
    scalar(
        "CONVERT_TZ",
        "(string, character, character)",
        t.STRING,
        _write_convert_tz,
        strict=False,
        category="temporal",
        summary="A time converted from one time zone to another; an unknown zone counts as UTC.",
    ),
)
