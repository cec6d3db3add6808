"""Values in the form in which cases are recorded, whatever an engine's JSON looks like."""

from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

from conformance.case import Row

_TIMESTAMP = re.compile(
    r"^\s*(-?\d{4,})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|UTC|[+-]\d\d:?\d\d)?\s*$"
)


def normal_row(row: Mapping[str, Any], schema: Mapping[str, str]) -> Row:
    """The row with each value as recorded for its column's Flink type."""
    return {k: normal(v, schema[k]) if k in schema else v for k, v in row.items()}


def normal(value: Any, type_: str) -> Any:
    """An engine's JSON value of Flink type `type_` in the recorded form. A value that cannot be
    of that type is returned unchanged, so that the comparison shows it.
    """
    if value is None:
        return None
    type_ = re.sub(r"\s+NOT NULL$", "", type_.strip())
    head = re.split(r"[\s(<]", type_, maxsplit=1)[0].upper()
    normalize = _NORMAL.get(head)
    return normalize(value, type_) if normalize else value


def normal_timestamp(value: Any, _type: str = "") -> str:
    """`YYYY-MM-DD HH:MM:SS.mmm`; a trailing offset is dropped: recorded sessions run in UTC."""
    match = _TIMESTAMP.match(str(value))
    if not match:
        return str(value)
    year, month, day, hour, minute, second, fraction, _ = match.groups()
    millis = (fraction or "").ljust(3, "0")[:3]
    time = f"{hour or '00'}:{minute or '00'}:{second or '00'}.{millis}"
    return f"{int(year):04d}-{month}-{day} {time}"


def same(a: Any, b: Any) -> bool:
    """Equality; doubles within a tolerance, NaN equal to itself, booleans never equal to
    numbers.
    """
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, float) or isinstance(b, float):
        return _same_number(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _same_number(a: Any, b: Any) -> bool:
    try:
        x, y = float(a), float(b)
    except (TypeError, ValueError):
        return bool(a == b)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)


# --- one function per kind of type -------------------------------------------------------------


def _date(value: Any, _type: str) -> str:
    return str(value)[:10]


def _time(value: Any, _type: str) -> str:
    text = str(value) if len(str(value)) > 5 else f"{value}:00"
    return re.sub(r"\.?0+$", "", text) if "." in text else text


def _decimal(value: Any, _type: str) -> Any:
    try:
        return decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        return value


def _double(value: Any, _type: str) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _float(value: Any, type_: str) -> Any:
    """Of a FLOAT, the number whatever digits it was printed with."""
    number = _double(value, type_)
    if not isinstance(number, float) or not math.isfinite(number):
        return number
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return number


def _integer(value: Any, _type: str) -> Any:
    if isinstance(value, bool):
        return f"boolean {value}"
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _array(value: Any, type_: str) -> Any:
    if not isinstance(value, list):
        return value
    return [normal(item, type_[type_.index("<") + 1 : type_.rindex(">")]) for item in value]


def _map(value: Any, type_: str) -> Any:
    """Objects, lists of pairs and lists of key/value objects are all maps."""
    _, value_type = split_fields(type_)
    if isinstance(value, list):
        pairs = [(e["key"], e["value"]) if isinstance(e, dict) else e for e in value]
        value = dict(pairs)
    if not isinstance(value, dict):
        return value
    return {str(k): normal(v, value_type) for k, v in value.items()}


def _row(value: Any, type_: str) -> Any:
    named = [_name_and_type(part) for part in split_fields(type_)]
    if isinstance(value, list):
        value = {name: item for (name, _), item in zip(named, value, strict=False)}
    if not isinstance(value, dict):
        return value
    return {name: normal(value.get(name), field_type) for name, field_type in named}


def _name_and_type(field: str) -> tuple[str, str]:
    match = re.match(r"`([^`]+)`\s+(.*)$", field, re.S) or re.match(r"(\S+)\s+(.*)$", field, re.S)
    assert match, field
    return match[1], match[2]


_NORMAL: dict[str, Callable[[Any, str], Any]] = {
    "TIMESTAMP": normal_timestamp,
    "TIMESTAMP_LTZ": normal_timestamp,
    "DATE": _date,
    "TIME": _time,
    "DECIMAL": _decimal,
    "DOUBLE": _double,
    "FLOAT": _float,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"), _integer),
    "ARRAY": _array,
    "MULTISET": _array,
    "MAP": _map,
    "ROW": _row,
}


def split_fields(type_: str) -> list[str]:
    """The parts between a type's outermost `<` and `>`: ``ROW<`a` INT, `b` ROW<...>>``."""
    inside = type_[type_.index("<") + 1 : type_.rindex(">")]
    parts, depth, quoted = [""], 0, False
    for character in inside:
        if character == "`":
            quoted = not quoted
        elif not quoted:
            depth += (character in "<(") - (character in ">)")
            if character == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
