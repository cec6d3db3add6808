"""LIKE and SIMILAR TO: SQL patterns as equivalent patterns for Spark."""

from __future__ import annotations

import re

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import string

# Spark's LIKE always has an escape character, a backslash by default; Flink's has none. Private-use
# characters for "no escape": at least one of them is not in the pattern.
_UNUSED_CHARACTERS = ("\ue000", "\ue001", "\ue002")
_QUOTED_IN_REGEX = "\\^$.|?*+()[]{}"
# What SIMILAR TO passes to the regular expression unchanged.
_SIMILAR_OPERATORS = "|*+?{}()-^,.0123456789"
_CHARACTER_CLASSES = {
    "[:ALPHA:]": r"\p{Alpha}",
    "[:UPPER:]": r"\p{Upper}",
    "[:LOWER:]": r"\p{Lower}",
    "[:DIGIT:]": r"\d",
    "[:SPACE:]": " ",
    "[:WHITESPACE:]": r"\s",
    "[:ALNUM:]": r"\p{Alnum}",
}


def _checked_like(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    escape_of(arguments)
    pattern = arguments[1]
    if pattern.is_literal and isinstance(pattern.value, str):
        like_pieces(pattern.value, escape_of(arguments))
    return tuple(argument.type for argument in arguments)


def escape_of(arguments: tuple[Argument, ...]) -> str | None:
    """The character after ESCAPE, if there is one."""
    if len(arguments) < 3:
        return None
    escape = arguments[2]
    if not escape.is_literal or not isinstance(escape.value, str) or len(escape.value) != 1:
        raise SignatureMismatch("ESCAPE takes a one-character literal")
    return escape.value


def like_pieces(pattern: str, escape: str | None) -> list[tuple[str, bool]]:
    """The pattern's characters, each with whether it is a wildcard."""
    pieces = []
    characters = iter(pattern)
    for character in characters:
        if character != escape:
            pieces.append((character, character in "%_"))
            continue
        escaped = next(characters, "")
        if escaped not in ("%", "_", escape):
            raise SignatureMismatch(
                f"the escape character {escape} in '{pattern}' must be followed by %, _ or itself"
            )
        pieces.append((escaped, False))
    return pieces


def _write_like(call: SparkCall) -> str:
    value, pattern = call.args[:2]
    escape = escape_of(call.arguments)
    literal = call.literal(1)
    if not isinstance(literal, str):
        return f"({value} LIKE {pattern} ESCAPE {_character(escape or _UNUSED_CHARACTERS[0])})"
    free = next(c for c in _UNUSED_CHARACTERS if c not in literal)
    rewritten = "".join(
        free + character if character in "%_" and not wildcard else character
        for character, wildcard in like_pieces(literal, escape)
    )
    return f"({value} LIKE {string(rewritten)} ESCAPE '{free}')"


def _character(character: str) -> str:
    """The string after ESCAPE, which Spark accepts only as a plain literal."""
    return {"'": '"\'"', "\\": "r'\\'"}.get(character, f"'{character}'")


def _checked_similar(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    pattern = arguments[1]
    if not pattern.is_literal:
        raise SignatureMismatch("SIMILAR TO takes a literal pattern")
    if isinstance(pattern.value, str):
        regex = similar_regex(pattern.value, escape_of(arguments))
        try:
            re.compile(re.sub(r"\\p\{\w+\}", "a", regex))
        except re.error as problem:
            raise SignatureMismatch(
                f"'{pattern.value}' is not a SIMILAR TO pattern: {problem}"
            ) from None
    return tuple(argument.type for argument in arguments)


def similar_regex(pattern: str, escape: str | None, any_character: str = ".") -> str:
    """The pattern as a Java regular expression for the whole value."""
    result, position = [], 0
    while position < len(pattern):
        piece, position = _similar_piece(pattern, position, escape, any_character)
        result.append(piece)
    return "".join(result)


def _similar_piece(
    pattern: str, position: int, escape: str | None, any_character: str
) -> tuple[str, int]:
    character = pattern[position]
    if character == escape:
        escaped = pattern[position + 1 : position + 2]
        if not escaped:
            raise SignatureMismatch(f"nothing follows the escape character in '{pattern}'")
        return _quoted(escaped), position + 2
    if character == "%":
        # Unlike an underscore, it matches the ends of lines.
        return "(?s:.*)", position + 1
    if character == "_":
        return any_character, position + 1
    if character == "[":
        return _character_set(pattern, position)
    if character == ".":
        return any_character, position + 1
    plain = character in _SIMILAR_OPERATORS
    return (character if plain else _quoted(character)), position + 1


def _character_set(pattern: str, start: int) -> tuple[str, int]:
    for name, regex in _CHARACTER_CLASSES.items():
        if pattern[start:].upper().startswith(f"[{name}]"):
            return f"[{regex}]", start + len(name) + 2
    end = pattern.find("]", start)
    if end < 0:
        raise SignatureMismatch(f"unclosed [ in '{pattern}'")
    inside = pattern[start + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
    return f"[{inside}]", end + 1


def _quoted(character: str) -> str:
    return f"\\{character}" if character in _QUOTED_IN_REGEX else character


def _write_similar(call: SparkCall) -> str:
    pattern = call.literal(1)
    if not isinstance(pattern, str):
        return "CAST(NULL AS BOOLEAN)"
    regex = similar_regex(pattern, escape_of(call.arguments))
    whole = string(rf"\A(?:{regex})\z")
    return f"({call.args[0]} RLIKE {whole})"


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "LIKE",
        "(character, character, [character])",
        t.Boolean(),
        _write_like,
        converts=_checked_like,
        category="comparison",
        summary="Whether a string matches a pattern of % and _; ESCAPE sets an escape character.",
    ),
    scalar(
        "SIMILAR TO",
        "(character, character, [character])",
        t.Boolean(),
        _write_similar,
        converts=_checked_similar,
        category="comparison",
        summary="Whether a string matches a SQL regular expression, which must be a literal.",
    ),
)
