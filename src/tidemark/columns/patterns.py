"""LIKE, SIMILAR TO and tests of a string's content, as regular expressions of Polars."""

from __future__ import annotations

import re

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.distinct import for_each_pattern
from tidemark.columns.refusals import NotInColumns
from tidemark.functions.conditional import DECIMAL, DIGITS, LETTERS
from tidemark.functions.patterns import escape_of, like_pieces, similar_regex

_WILDCARDS = {"%": "(?s:.*)", "_": "(?s:.)"}


def _like(call: ColumnCall) -> pl.Expr:
    escape = escape_of(call.arguments)
    text, pattern = call.args[:2]
    if call.arguments[1].is_literal:
        known = call.literal(1)
        return pl.lit(None, dtype=pl.Boolean) if known is None else _is_like(text, known, escape)
    if escape is not None:
        raise NotInColumns("LIKE with ESCAPE and a pattern that is not constant")
    return for_each_pattern(
        call.active, lambda text, one: _is_like(text, one, None), text, pattern, t.Boolean()
    )


def _is_like(text: pl.Expr, pattern: str, escape: str | None) -> pl.Expr:
    regex = "".join(
        _WILDCARDS[character] if wildcard else re.escape(character)
        for character, wildcard in like_pieces(pattern, escape)
    )
    return text.str.contains(rf"\A{regex}\z")


# Java's `.` and classes of letters, where those of Polars are wider.
_JAVA = {
    r"\p{Alpha}": "A-Za-z",
    r"\p{Upper}": "A-Z",
    r"\p{Lower}": "a-z",
    r"\p{Alnum}": "A-Za-z0-9",
    r"\d": "0-9",
    r"\s": r" \t\n\x0B\f\r",
}


def _similar(call: ColumnCall) -> pl.Expr:
    pattern = call.constant(1, "a pattern")
    if pattern is None:
        return pl.lit(None, dtype=pl.Boolean)
    regex = similar_regex(pattern, escape_of(call.arguments), any_character=ANY)
    for java, characters in _JAVA.items():
        regex = regex.replace(f"[{java}]", f"[{characters}]")
    return call.args[0].str.contains(rf"\A(?:{regex})\z")


ANY = r"[^\n\r\u0085\u2028\u2029]"


def _test(regex: str, numbers: tuple[type[t.DataType], ...]) -> WriteColumn:
    """A test of a string, false for NULL. Numbers of the given types always pass, even NULL."""

    def write(call: ColumnCall) -> pl.Expr:
        if isinstance(call.type(0), t.CHARACTERS):
            return call.args[0].str.contains(regex).fill_null(False)
        return pl.lit(isinstance(call.type(0), numbers))

    return write


COLUMNS: dict[str, WriteColumn] = {
    "LIKE": _like,
    "SIMILAR TO": _similar,
    "IS_ALPHA": _test(LETTERS, ()),
    "IS_DECIMAL": _test(DECIMAL, t.NUMERICS),
    "IS_DIGIT": _test(DIGITS, t.INTEGERS),
}
