"""Hints for times that are not written as their column's type and their table require."""

from __future__ import annotations

from tidemark import types as t
from tidemark.formats import time_spelling
from tidemark.functions.spark_text import string


def hint(text: str, type_: t.DataType, otherwise: str, *, iso: bool, option: str | None) -> str:
    """Spark SQL for the hint about a string expression that is not a value of the type.

    `option` selects SQL or ISO-8601 notation; None if the format only has SQL notation.
    """
    if not isinstance(type_, t.Timestamp | t.TimestampLtz):
        return string(otherwise)
    cases = [_separator(text, iso, option), _zone(text, type_)]
    advice = f"concat_ws('; ', {', '.join(cases)})"
    looks_like_one = f"{text} RLIKE {string(time_spelling.LOOKS_LIKE_A_TIME)}"
    return (
        f"CASE WHEN {looks_like_one} AND {advice} <> '' THEN {advice} ELSE {string(otherwise)} END"
    )


def _separator(text: str, iso: bool, option: str | None) -> str:
    found = f"substring({text}, {time_spelling.SEPARATOR_AT + 1}, 1)"
    advice = string(time_spelling.separator_advice(iso, option))
    return f"CASE WHEN {found} <> {string(time_spelling.separator(iso))} THEN {advice} END"


def _zone(text: str, type_: t.Timestamp | t.TimestampLtz) -> str:
    ends = f"endswith({text}, 'Z')"
    unexpected = f"NOT {ends}" if isinstance(type_, t.TimestampLtz) else ends
    return f"CASE WHEN {unexpected} THEN {string(time_spelling.zone_advice(type_))} END"
