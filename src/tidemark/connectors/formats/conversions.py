"""Strings to Flink values, as Spark SQL: the conversions of the json format, and of partitions.

They differ from CAST in places (a JSON number may be truncated, a time must be complete), so they
are separate. A string that is not a valid value of the type becomes NULL, or raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.functions.spark_text import spark_type
from tidemark.functions.times_of_day import cut_to

MILLISECONDS = 3

# Takes the whole string and its conversion; returns the expression that raises.
OnInvalid = Callable[[str, t.DataType], str]


@dataclass(frozen=True, slots=True)
class Notation:
    """How a format writes times and numbers, and what happens to invalid strings.

    `on_invalid` returns a Spark expression that raises; without it invalid strings become NULL.
    """

    iso_times: bool = False
    integers_truncate: bool = False  # 1.9 is the INT 1
    loose_dates: bool = False  # 2024-1-1
    on_invalid: OnInvalid | None = None


def from_string(sql: str, type_: t.DataType, notation: Notation) -> str:
    """Spark SQL that converts the string expression `sql` to `type_`."""
    if isinstance(type_, t.CHARACTERS):
        return sql
    value = _scalar(sql, type_, notation)
    if notation.on_invalid is None or isinstance(type_, t.Boolean):
        return value
    bad = f"{sql} IS NOT NULL{_but_null_is_right(sql, type_)}"
    return f"coalesce({value}, CASE WHEN {bad} THEN {notation.on_invalid(sql, type_)} END)"


def _but_null_is_right(sql: str, type_: t.DataType) -> str:
    # In Flink, a number too large for a DECIMAL is NULL, not an error.
    if isinstance(type_, t.Decimal):
        return f" AND NOT {matches(f'trim({sql})', _NUMBER)}"
    return ""


_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_WORD = r"(?i)(inf|nan)"
_JAVA_WORD = r"^[\x00-\x20]*[+-]?(NaN|Infinity)[\x00-\x20]*$"
_BASE64 = r"^([\x00-\x20]*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))*[\x00-\x20]*$"
_DATE = r"^-?[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_LOOSE_DATE = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"
_TIME = r"^[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}%s[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?%s$"


def matches(sql: str, pattern: str) -> str:
    return f"({sql} RLIKE {spark_text.string(pattern)})"


def _scalar(sql: str, type_: t.DataType, notation: Notation) -> str:
    match type_:
        case t.Boolean():
            return f"(lower(trim({sql})) = 'true')"
        case t.Int() | t.BigInt() if notation.integers_truncate:
            return truncated(sql, spark_type(type_))
        case t.Float() | t.Double():
            return _floating(sql, type_)
        case _ if isinstance(type_, t.NUMERICS):
            return f"try_cast({sql} AS {spark_type(type_)})"
        case t.Binary() | t.VarBinary():
            return f"CASE WHEN {matches(sql, _BASE64)} THEN try_to_binary({sql}, 'base64') END"
        case t.Date():
            return _if(sql, _LOOSE_DATE if notation.loose_dates else _DATE, sql, "DATE")
        case t.Time():
            return _time(sql, type_, notation)
        case t.Timestamp() | t.TimestampLtz():
            return _timestamp(sql, type_, notation)
    raise ValueError(f"{type_} cannot be read from a string")


def _floating(sql: str, type_: t.DataType) -> str:
    """Spark also accepts `inf` and `nan`, in any case; Java only two words."""
    word = f"regexp_replace({sql}, {spark_text.string('[+-]NaN')}, 'NaN')"
    number = f"try_cast({word} AS {spark_type(type_)})"
    return f"CASE WHEN NOT {matches(sql, _WORD)} OR {matches(sql, _JAVA_WORD)} THEN {number} END"


def _if(sql: str, pattern: str, operand: str, target: str) -> str:
    return f"CASE WHEN {matches(sql, pattern)} THEN try_cast({operand} AS {target}) END"


_LIMITS = {
    name: (f"'{-(1 << bits)}'", f"'{(1 << bits) - 1}'")
    for name, bits in (("INT", 31), ("BIGINT", 63))
}


def truncated(sql: str, target: str) -> str:
    """The integer in a string without its decimal places, by way of a DOUBLE."""
    number = f"try_cast({sql} AS DOUBLE)"
    low, high = (f"CAST({each} AS DOUBLE)" for each in _LIMITS[target])
    is_double = f"{matches(f'trim({sql})', _NUMBER)} AND {matches(sql, '[.eE]')}"
    fits = f"{is_double} AND {number} BETWEEN {low} AND {high}"
    whole = f"CASE WHEN {fits} THEN try_cast({number} AS {target}) END"
    return f"coalesce(try_cast({sql} AS {target}), {whole})"


def _time(sql: str, type_: t.Time, notation: Notation) -> str:
    # JSON keeps milliseconds at most; 24:00:00 is midnight to Java's formatter.
    midnight = f"regexp_replace({sql}, '^24:00:00', '00:00:00')"
    time = cut_to(f"try_cast({midnight} AS TIME(6))", MILLISECONDS)
    return f"CASE WHEN {matches(sql, _TIME)} THEN {time} END"


def _timestamp(sql: str, type_: t.Timestamp | t.TimestampLtz, notation: Notation) -> str:
    zone = "Z" if isinstance(type_, t.TimestampLtz) else ""
    pattern = _TIMESTAMP % ("T" if notation.iso_times else " ", zone)
    operand = sql
    if type_.precision <= MILLISECONDS:
        # Digits after the milliseconds are truncated, not rounded.
        cut = f"substring(trim(TRAILING 'Z' FROM {sql}), 1, {len('yyyy-MM-dd HH:mm:ss.SSS')})"
        operand = f"concat({cut}, 'Z')" if zone else cut
    return _if(sql, pattern, operand, spark_type(type_))


def to_string(sql: str, type_: t.DataType, *, iso_times: bool = False) -> str:
    """A string expression for the value, unless the format has its own."""
    match type_:
        case t.Binary() | t.VarBinary():
            # Spark breaks the string into lines, as in MIME.
            return f"replace(base64({sql}), {spark_text.string(chr(13) + chr(10))}, '')"
        case t.Timestamp():
            text = f"CAST({sql} AS STRING)"
            return f"replace({text}, ' ', 'T')" if iso_times else text
        case t.TimestampLtz():
            epoch = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
            utc = f"timestampadd(MICROSECOND, unix_micros({sql}), {epoch})"
            text = f"concat(CAST({utc} AS STRING), 'Z')"
            return f"replace({text}, ' ', 'T')" if iso_times else text
        case _:
            return f"CAST({sql} AS STRING)"
