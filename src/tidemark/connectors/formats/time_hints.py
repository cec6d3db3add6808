"""Hints for times that are not written as their column's type and their table require."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.spark_text import string

_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"


def hint(text: str, type_: t.DataType, otherwise: str, *, iso: bool, option: str | None) -> str:
    """Spark SQL for the hint about a string expression that is not a value of the type.

    `option` selects SQL or ISO-8601 notation; None if the format only has SQL notation.
    """
    if not isinstance(type_, t.Timestamp | t.TimestampLtz):
        return string(otherwise)
    cases = [_separator(text, iso, option), _zone(text, type_)]
    advice = f"concat_ws('; ', {', '.join(cases)})"
    looks_like_one = f"{text} RLIKE {string(_TIME)}"
    return (
        f"CASE WHEN {looks_like_one} AND {advice} <> '' THEN {advice} ELSE {string(otherwise)} END"
    )


def _separator(text: str, iso: bool, option: str | None) -> str:
    if option is None:
        advice = "write a space between date and time: 2024-01-01 00:00:01"
    elif iso:
        advice = f"'{option}' = 'SQL', the default, reads times with a space"
    else:
        advice = f"'{option}' = 'ISO-8601' reads times with a T"
    return (
        f"CASE WHEN substring({text}, 11, 1) <> '{'T' if iso else ' '}' THEN {string(advice)} END"
    )


def _zone(text: str, type_: t.Timestamp | t.TimestampLtz) -> str:
    ends = f"endswith({text}, 'Z')"
    if isinstance(type_, t.TimestampLtz):
        other = t.Timestamp(type_.precision).text()
        advice = string(f"an instant ends in Z; {other} reads times without it")
        return f"CASE WHEN NOT {ends} THEN {advice} END"
    other = t.TimestampLtz(type_.precision).text()
    return f"CASE WHEN {ends} THEN {string(f'{other} reads times that end in Z')} END"
