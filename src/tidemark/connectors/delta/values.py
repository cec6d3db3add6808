"""Values of partition columns, which the log has as strings."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from tidemark import types as t
from tidemark.errors import DataError


def value_of(text: str, type_: t.DataType) -> Any:
    """The value of a string; an empty one is NULL."""
    if not text:
        return None
    try:
        return _value(text, type_)
    except (ValueError, ArithmeticError):
        raise DataError(
            f"cannot read the partition value '{text}' as {type_.text()}",
            hint="declare the column with the type that the table has",
        ) from None


def _value(text: str, type_: t.DataType) -> Any:
    match type_:
        case t.Boolean():
            return {"true": True, "false": False}[text.lower()] if text else None
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return int(text)
        case t.Float() | t.Double():
            return float(text)
        case t.Decimal():
            return Decimal(text)
        case t.Date():
            return dt.date.fromisoformat(text)
        case t.Timestamp():
            return dt.datetime.fromisoformat(text)
        case t.TimestampLtz():
            time = dt.datetime.fromisoformat(text)
            return time if time.tzinfo else time.replace(tzinfo=dt.UTC)
    return text.encode() if isinstance(type_, t.BINARIES) else text


def text_of(value: Any) -> str | None:
    """The string of a value."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case dt.datetime(tzinfo=None):
            return value.isoformat(" ")
        case dt.datetime():
            return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
        case dt.date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case bytes():
            return value.decode()
    return str(value)
