"""A changed row, and the three ways to write it: as JSON, like Flink's `print`, and in a table.

Values are Python objects as pyarrow returns them. A map may be a list of pairs or a dict, a row a
dict or a tuple; a TIMESTAMP_LTZ has its zone, which is the session's.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from tidemark import types as t
from tidemark.plan.nodes import Column


class Change(NamedTuple):
    """One entry of a changelog; `kind` is `+I`, `-U`, `+U` or `-D`."""

    kind: str
    row: dict[str, object]


Writer = Callable[[Any], Any]

# Beyond these, Java prints a double with an exponent.
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7
_DAY_MS = 86_400_000


def json_row(row: Mapping[str, object], columns: Sequence[Column]) -> dict[str, Any]:
    """The row as values that JSON can represent without loss.

    >>> from datetime import datetime
    >>> json_row({"ts": datetime(2024, 1, 1, 0, 0, 1)}, [Column("ts", t.Timestamp(3))])
    {'ts': '2024-01-01 00:00:01.000'}
    """
    return {column.name: json_value(row[column.name], column.type) for column in columns}


def json_value(value: object, type_: t.DataType) -> Any:
    return None if value is None else _json_writer(type_)(value)


def flink_text(change: Change, columns: Sequence[Column]) -> str:
    """The change as one line of Flink's `print` connector.

    >>> flink_text(Change("+I", {"id": 1, "tags": ["a"]}),
    ...            [Column("id", t.Int()), Column("tags", t.Array(t.STRING))])
    '+I[1, [a]]'
    """
    strings = [print_text(change.row[column.name], column.type) for column in columns]
    return f"{change.kind}[{', '.join(strings)}]"


def print_text(value: object, type_: t.DataType) -> str:
    return "null" if value is None else str(_print_writer(type_)(value))


def cell_text(value: object, type_: t.DataType) -> str:
    """The value as CAST(value AS STRING) returns it, for a table on a screen."""
    return "NULL" if value is None else str(_cell_writer(type_)(value))


# --- JSON --------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _json_writer(type_: t.DataType) -> Writer:
    match type_:
        case t.Double():
            return _json_double
        case t.Float():
            return lambda value: _json_double(float(shortest_float(value)))
        case t.Decimal():
            return lambda value: format(value, "f")
        case t.Binary() | t.VarBinary():
            return lambda value: base64.b64encode(value).decode()
        case t.Timestamp() | t.TimestampLtz():
            digits = 3 if type_.precision <= 3 else 6
            return lambda value: _date_and_time(value, digits)
        case t.Array(element=element):
            return lambda value: [json_value(item, element) for item in value]
        case t.Map() | t.Multiset():
            return lambda value: {
                _json_key(key, key_type): json_value(item, value_type)
                for key, item, key_type, value_type in _entries(value, type_)
            }
        case t.Row(fields=fields):
            return lambda value: {
                field.name: json_value(item, field.type)
                for field, item in zip(fields, _parts(value, fields), strict=True)
            }
    return _text_writer(type_) or (lambda value: value)


def _json_double(value: float) -> float | str:
    return value if math.isfinite(value) else _java_double(repr(value))


def _json_key(key: object, type_: t.DataType) -> str:
    written = json_value(key, type_)
    return written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)


# --- Flink's print connector -------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _print_writer(type_: t.DataType) -> Writer:
    match type_:
        case t.Boolean():
            return lambda value: "true" if value else "false"
        case t.Binary() | t.VarBinary():
            # Java bytes are signed.
            return lambda value: f"[{', '.join(str(b - 256 if b > 127 else b) for b in value)}]"
        case t.Decimal():
            return _java_decimal
        case t.Time():
            return _iso_time
        case t.Timestamp():
            return lambda value: f"{value.date().isoformat()}T{_iso_time(value.time())}"
        case t.TimestampLtz():
            return _iso_instant
        case t.Row(fields=fields):
            return lambda value: f"+I[{_joined(value, fields, print_text)}]"
    return _collection_writer(type_, print_text) or _text_writer(type_) or str


def _iso_time(value: time) -> str:
    """As java.time prints it: no seconds if they are zero, fractions in groups of three digits."""
    text = value.strftime("%H:%M")
    if value.second or value.microsecond:
        text += f":{value.second:02d}"
    return text + _fraction_in_groups(value.microsecond)


def _iso_instant(value: datetime) -> str:
    utc = value.astimezone(UTC)
    clock = f"{utc:%H:%M:%S}{_fraction_in_groups(utc.microsecond)}"
    return f"{utc.date().isoformat()}T{clock}Z"


def _fraction_in_groups(microsecond: int) -> str:
    if not microsecond:
        return ""
    return f".{microsecond:06d}" if microsecond % 1000 else f".{microsecond // 1000:03d}"


def _java_decimal(value: Decimal) -> str:
    """Like BigDecimal.toString: an exponent only for very small numbers."""
    return str(value).replace("e", "E") if value.adjusted() < -6 else format(value, "f")


# --- a table's cells ---------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _cell_writer(type_: t.DataType) -> Writer:
    match type_:
        case t.Boolean():
            return lambda value: "TRUE" if value else "FALSE"
        case t.Binary() | t.VarBinary():
            return lambda value: f"x'{value.hex()}'"
        case t.Decimal():
            return lambda value: format(value, "f")
        case t.Timestamp(precision=digits) | t.TimestampLtz(precision=digits):
            return lambda value: _date_and_time(value, digits)
        case t.Row(fields=fields):
            return lambda value: f"({_joined(value, fields, cell_text)})"
    return _collection_writer(type_, cell_text) or _text_writer(type_) or str


# --- shared by all three -----------------------------------------------------------------------


def _text_writer(type_: t.DataType) -> Writer | None:
    """The types that are written the same way everywhere."""
    match type_:
        case t.Double():
            return lambda value: _java_double(repr(value))
        case t.Float():
            return lambda value: _java_double(shortest_float(value))
        case t.Date():
            return date.isoformat
        case t.Time(precision=digits):
            return lambda value: f"{value:%H:%M:%S}{_fraction(value.microsecond, digits)}"
        case t.DayTimeInterval():
            return _day_time_text
        case t.YearMonthInterval():
            return _year_month_text
    return None


def _collection_writer(type_: t.DataType, write: Callable[[Any, t.DataType], str]) -> Writer | None:
    match type_:
        case t.Array(element=element):
            return lambda value: f"[{', '.join(write(item, element) for item in value)}]"
        case t.Map() | t.Multiset():
            return lambda value: (
                "{"
                + ", ".join(
                    f"{write(key, key_type)}={write(item, value_type)}"
                    for key, item, key_type, value_type in _entries(value, type_)
                )
                + "}"
            )
    return None


def _joined(
    value: Any, fields: Sequence[t.Field], write: Callable[[object, t.DataType], str]
) -> str:
    parts = zip(_parts(value, fields), fields, strict=True)
    return ", ".join(write(item, field.type) for item, field in parts)


def _parts(value: Any, fields: Sequence[t.Field]) -> Iterable[object]:
    if isinstance(value, Mapping):
        return [value[field.name] for field in fields]
    return tuple(value)


def _entries(
    value: Any, type_: t.Map | t.Multiset
) -> Iterable[tuple[object, object, t.DataType, t.DataType]]:
    pairs = value.items() if isinstance(value, Mapping) else value
    if isinstance(type_, t.Map):
        types: tuple[t.DataType, t.DataType] = (type_.key, type_.value)
    else:
        types = (type_.element, t.Int())
    return ((key, item, *types) for key, item in pairs)


def _date_and_time(value: datetime, digits: int) -> str:
    clock = f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    return f"{value.date().isoformat()} {clock}{_fraction(value.microsecond, digits)}"


def _fraction(microsecond: int, digits: int) -> str:
    return "." + f"{microsecond:06d}".ljust(digits, "0")[:digits] if digits else ""


def shortest_float(value: float) -> str:
    """The fewest digits that identify this 32-bit float; Python would print it as a double."""
    for digits in range(6, 9):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return f"{value:.9g}"


def _java_double(text: str) -> str:
    """Python's digits of a float in Java's notation: 1.0E10, 1.0E-4, Infinity."""
    value = float(text)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return _with_fraction(format(Decimal(text), "f"))
    sign, digits, _ = Decimal(text).normalize().as_tuple()
    mantissa = f"{digits[0]}.{''.join(map(str, digits[1:])) or '0'}"
    return f"{'-' if sign else ''}{mantissa}E{Decimal(text).adjusted()}"


def _with_fraction(text: str) -> str:
    return text if "." in text else f"{text}.0"


def _day_time_text(value: timedelta | int) -> str:
    """`+1 02:03:04.005`; intervals come as timedelta or as milliseconds."""
    ms = value // timedelta(milliseconds=1) if isinstance(value, timedelta) else value
    days, rest = divmod(abs(ms), _DAY_MS)
    seconds, fraction = divmod(rest, 1000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:03d}"
    return f"{'-' if ms < 0 else '+'}{days} {clock}"


def _year_month_text(months: int) -> str:
    years, rest = divmod(abs(months), 12)
    return f"{'-' if months < 0 else '+'}{years}-{rest:02d}"
