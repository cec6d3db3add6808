"""What is said about a time that is not written as its column's type and its table require."""

from __future__ import annotations

import re

from tidemark import types as t

LOOKS_LIKE_A_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
SEPARATOR_AT = 10


def separator(iso: bool) -> str:
    return "T" if iso else " "


def separator_advice(iso: bool, option: str | None) -> str:
    """For a time with another separator. `option` selects SQL or ISO-8601 notation, if the format
    has both.
    """
    if option is None:
        return "write a space between date and time: 2024-01-01 00:00:01"
    if iso:
        return f"'{option}' = 'SQL', the default, reads times with a space"
    return f"'{option}' = 'ISO-8601' reads times with a T"


def zone_advice(type_: t.Timestamp | t.TimestampLtz) -> str:
    """For a time that ends in Z where its type has none, or the other way round."""
    if isinstance(type_, t.TimestampLtz):
        other = t.Timestamp(type_.precision).text()
        return f"an instant ends in Z; {other} reads times without it"
    return f"{t.TimestampLtz(type_.precision).text()} reads times that end in Z"


def hint(text: str, type_: t.DataType, otherwise: str, *, iso: bool, option: str | None) -> str:
    """The hint about a string that is not a value of the type."""
    if not isinstance(type_, t.TIMESTAMPS) or not re.match(LOOKS_LIKE_A_TIME, text):
        return otherwise
    advice = []
    if text[SEPARATOR_AT] != separator(iso):
        advice.append(separator_advice(iso, option))
    if text.endswith("Z") is not isinstance(type_, t.TimestampLtz):
        advice.append(zone_advice(type_))
    return "; ".join(advice) or otherwise
