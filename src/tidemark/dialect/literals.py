"""String literals: prefixes, escapes and quoting."""

from __future__ import annotations

import re

from tidemark.dialect.cursor import STRING, Cursor
from tidemark.errors import Span

_ESCAPED = "(?:([0-9A-Fa-f]{4})|\\+([0-9A-Fa-f]{6})|(ESC))"


def quoted_string(text: str) -> str:
    """The string in single quotes, as in SQL."""
    return "'" + text.replace("'", "''") + "'"


def string_of(cursor: Cursor, what: str = "a string in single quotes") -> str:
    """The content of the string literal here, including its continuations on later lines."""
    if not cursor.at(STRING):
        cursor.fail_expecting(what)
    parts = [_one_string(cursor)]
    while cursor.at(STRING) and cursor.token.text.startswith("'"):
        before, token = cursor.tokens[cursor.here - 1], cursor.token
        if "\n" not in cursor.source.text[before.end : token.start]:
            cursor.fail(
                "two string literals follow each other on the same line",
                hint="a comma or || may be missing; to put a quote inside a string, double it: ''",
            )
        parts.append(_one_string(cursor))
    return "".join(parts)


def _one_string(cursor: Cursor) -> str:
    start = cursor.here
    prefix, _, quoted = cursor.next().text.partition("'")
    content = quoted[:-1].replace("''", "'")
    if prefix.upper() == "U&":
        return _decode(cursor, start, content)
    if prefix.upper() == "X":
        cursor.fail("expected a string, found a binary literal", at=cursor.span_from(start))
    return content


def _decode(cursor: Cursor, start: int, content: str) -> str:
    r"""`U&'\0041'`: four hexadecimal digits, or six after a plus; UESCAPE sets the escape."""
    escape = "\\"
    if cursor.take("UESCAPE"):
        at = cursor.span_here()
        escape = _one_string(cursor) if cursor.at(STRING) else ""
        if len(escape) != 1 or escape in "+'\"" or escape.isspace() or escape in "0123456789abcdef":
            cursor.fail("UESCAPE takes one character that is not a digit", at=at)
    pattern = re.escape(escape) + _ESCAPED.replace("ESC", re.escape(escape))

    def character(match: re.Match[str]) -> str:
        digits = match.group(1) or match.group(2)
        return escape if digits is None else _character(cursor, start, digits)

    leftover = re.sub(pattern, "", content)
    if escape in leftover:
        cursor.fail(
            f"{escape} must be followed by four hexadecimal digits",
            at=cursor.span_from(start),
            hint=f"write {escape}{escape} for the character itself",
        )
    return re.sub(pattern, character, content)


def _character(cursor: Cursor, start: int, digits: str) -> str:
    code = int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        cursor.fail(f"{digits} is not the code of a character", at=cursor.span_from(start))
    return chr(code)


def binary_of(cursor: Cursor) -> str:
    """The hexadecimal digits of `X'0F'`."""
    span = cursor.span_here()
    digits = cursor.next().text[2:-1]
    if len(digits) % 2 or re.fullmatch("[0-9A-Fa-f]*", digits) is None:
        cursor.fail(
            "a binary literal must have an even number of hexadecimal digits",
            at=Span(span.start, span.end),
        )
    return digits.upper()
