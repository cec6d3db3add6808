"""Values of Python as literals of SQL."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from tidemark.dialect import quoted_string
from tidemark.pyflink.api.common.row import Row


def literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | Decimal():
            return format(value, "f") if isinstance(value, Decimal) else str(value)
        case float():
            if isfinite(value) and value:
                return repr(value).upper() if "e" in repr(value) else f"{value!r}E0"
            # Strings of all numbers can be cast, also Java's of infinity.
            text = str(value).replace("inf", "Infinity").replace("nan", "NaN")
            return f"CAST({quoted_string(text)} AS DOUBLE)"
        case str():
            return quoted_string(value)
        case bytes() | bytearray():
            return f"X'{value.hex()}'"
        case datetime():
            return f"TIMESTAMP {quoted_string(value.replace(tzinfo=None).isoformat(' '))}"
        case date():
            return f"DATE {quoted_string(value.isoformat())}"
        case time():
            return f"TIME {quoted_string(value.isoformat())}"
        case timedelta():
            return interval(value / timedelta(seconds=1), "SECOND")
        case list():
            return f"ARRAY[{', '.join(map(literal, value))}]"
        case dict():
            pairs = (f"{literal(k)}, {literal(v)}" for k, v in value.items())
            return f"MAP[{', '.join(pairs)}]"
        case tuple() | Row():
            return f"ROW({', '.join(map(literal, value))})"
    raise TypeError(f"not supported type: {type(value)}")


def interval(count: float, unit: str) -> str:
    """An interval with as many digits as it needs."""
    whole = int(count)
    digits = f"({len(str(abs(whole)))})" if abs(whole) > 99 else ""
    written = str(whole) if whole == count else f"{count:f}".rstrip("0")
    return f"INTERVAL {quoted_string(written)} {unit}{digits}"
