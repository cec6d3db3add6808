"""Functions that take a text apart at separators."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.java_regex import quoted
from tidemark.functions.registry import Call, Function, scalar
from tidemark.functions.spark_text import string


def _separator(call: Call, when_empty: str) -> str:
    """The separator, argument 1, as a pattern; `when_empty` stands for an empty one."""
    separator, value = call.args[1], call.literal(1)
    if isinstance(value, str):
        return quoted(separator, value) if value else string(when_empty)
    return f"CASE {separator} WHEN '' THEN {string(when_empty)} ELSE {quoted(separator)} END"


def _all_given(call: Call) -> str:
    return " AND ".join(f"{argument} IS NOT NULL" for argument in call.args)


def _write_split(call: Call) -> str:
    parts = f"split({call.args[0]}, {_separator(call, '')})"
    nothing = f"{call.args[0]} = '' AND {call.args[1]} IS NOT NULL"
    return f"CASE WHEN {nothing} THEN CAST(array() AS ARRAY<STRING>) ELSE {parts} END"


def _write_split_index(call: Call) -> str:
    """The part at a position from zero, null outside. Without a separator: at white space."""
    text, separator, index = call.args
    if isinstance(call.type(1), t.INTEGERS):
        pattern = f"CASE WHEN {separator} BETWEEN 1 AND 255 THEN {quoted(f'chr({separator})')} END"
    else:
        pattern = _separator(call, r"\p{javaWhitespace}")
    # An empty text has no parts, not even an empty one.
    return f"get(split(nullif({text}, ''), {pattern}), {index})"


def _write_str_to_map(call: Call) -> str:
    """Pairs are split off by patterns; empty pairs at the end are none, the last of a key wins.

    Spark's own function would fail on a key that comes twice.
    """
    text, between, within = (*call.args, "','", "'='")[:3]
    between_value = call.literal(1, ",")
    if isinstance(between_value, str):
        at_the_end = string(f"(?:{between_value})+\\z")
    else:
        at_the_end = f"concat('(?:', {between}, {string(')+' + chr(92) + 'z')})"
    kept = f"nullif(regexp_replace({text}, {at_the_end}, ''), '')"
    pairs = f"coalesce(split({kept}, {between}), CAST(array() AS ARRAY<STRING>))"
    parts = f"split(_tm_pair, {within}, 2)"
    others = f"map_filter(_tm_map, (_tm_key, _tm_value) -> _tm_key <> {parts}[0])"
    added = f"map_concat({others}, map({parts}[0], get({parts}, 1)))"
    return (
        f"aggregate(CASE WHEN {_all_given(call)} THEN {pairs} END, "
        f"CAST(map() AS MAP<STRING, STRING>), (_tm_map, _tm_pair) -> {added})"
    )


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "SPLIT",
        "(string, string)",
        t.Array(t.STRING),
        _write_split,
        category="string",
        summary="The parts of the text between the separators; none for an empty text.",
    ),
    scalar(
        "SPLIT_INDEX",
        ("(string, string, int)", "(string, int, int)"),
        t.STRING,
        _write_split_index,
        category="string",
        summary="One part of the text, counted from zero; the separator may be a character code.",
        strict=False,
    ),
    scalar(
        "STR_TO_MAP",
        ("(string)", "(string, string, string)"),
        t.Map(t.STRING, t.STRING),
        _write_str_to_map,
        category="string",
        summary="The map that a text such as `a=1,b=2` lists; the separators are patterns.",
        strict=False,
    ),
)
