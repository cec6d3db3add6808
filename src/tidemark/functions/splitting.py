"""Functions that split a string at separators."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.java_regex import quoted
from tidemark.functions.registry import Function, SparkCall, scalar
from tidemark.functions.spark_text import string


def _write_split_index(call: SparkCall) -> str:
    """The part at a zero-based position, NULL if there is none. Without a separator, the string
    is split at whitespace.
    """
    text, separator, index = call.args
    if isinstance(call.type(1), t.INTEGERS):
        pattern = f"CASE WHEN {separator} BETWEEN 1 AND 255 THEN {quoted(f'chr({separator})')} END"
    else:
        pattern = _separator(separator, call.literal(1))
    # An empty string has no parts, not even an empty one.
    return f"get(split(nullif({text}, ''), {pattern}), {index})"


def _separator(separator: str, value: object) -> str:
    white_space = string(r"\p{javaWhitespace}")
    if isinstance(value, str):
        return quoted(separator, value) if value else white_space
    return f"CASE {separator} WHEN '' THEN {white_space} ELSE {quoted(separator)} END"


def _write_str_to_map(call: SparkCall) -> str:
    """Pairs are split by patterns; trailing empty pairs are ignored, and the last value of a key
    wins.

    Spark's own function fails on a repeated key, so the map is built pair by pair from the last one
    on; once a nonempty pair was seen, empty ones count too.
    """
    text, between, within = (*call.args, "','", "'='")[:3]
    given = " AND ".join(f"{argument} IS NOT NULL" for argument in call.args)
    pairs = f"CASE WHEN {given} THEN reverse(split(nullif({text}, ''), {between})) END"
    parts = f"split(_tm_pair, {within}, 2)"
    no_entry = "CAST(map() AS MAP<STRING, STRING>)"
    entry = f"map({parts}[0], get({parts}, 1))"
    new = f"CASE WHEN map_contains_key(_tm_map, {parts}[0]) THEN {no_entry} ELSE {entry} END"
    at_the_end = "_tm_pair = '' AND cardinality(_tm_map) = 0"
    step = f"CASE WHEN {at_the_end} THEN _tm_map ELSE map_concat(_tm_map, {new}) END"
    nothing = f"CASE WHEN {text} = '' AND {given} THEN array() END"
    return f"aggregate(coalesce({pairs}, {nothing}), {no_entry}, (_tm_map, _tm_pair) -> {step})"


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "SPLIT_INDEX",
        ("(string, string, int)", "(string, int, int)"),
        t.STRING,
        _write_split_index,
        category="string",
        summary="The part at a 0-based index; the separator may be a character code.",
        strict=False,
    ),
    scalar(
        "STR_TO_MAP",
        ("(string)", "(string, string, string)"),
        t.Map(t.STRING, t.STRING),
        _write_str_to_map,
        category="string",
        summary="The map in a string such as `a=1,b=2`; the separators are regular expressions.",
        strict=False,
    ),
)
