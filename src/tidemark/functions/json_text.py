"""Converts between JSON and Python values the way Flink's JSON library does.

Numbers keep their digits: integers are `int`, all others `Decimal`, printed as Java prints them.
Anything after the first value is ignored. Objects are written with their keys sorted.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[\w$]")
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_SHORT_ESCAPES = {
    '"': r"\"",
    "\\": r"\\",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\f": r"\f",
    "\r": r"\r",
}


def _no_such_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_such_constant)


def parse(text: str) -> Any:
    """The first JSON value in a string. Raises ValueError if there is none."""
    match = _WHITE_SPACE.match(text)
    start = match.end() if match else 0
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    following = text[end : end + 1]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        if following and not _WHITE_SPACE.fullmatch(following):
            raise ValueError(f"unexpected {following!r} after a number")
    elif (value is None or isinstance(value, bool)) and _WORD.match(following):
        raise ValueError(f"unknown word at offset {start}")
    return value


def is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)


def scalar_string(value: Any) -> str:
    """A scalar as a string: strings unchanged, without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        # Java's decimals have no negative zero.
        return str(abs(value) if value.is_zero() else value)
    return str(value)


def quote(text: str) -> str:
    """A JSON string; characters beyond ASCII are not escaped."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04X}"


def serialize(value: Any) -> str:
    """A value as JSON without spaces."""
    if isinstance(value, dict):
        keys = sorted(value, key=_utf16)
        return "{" + ",".join(f"{quote(key)}:{serialize(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(serialize(element) for element in value) + "]"
    if isinstance(value, str):
        return quote(value)
    return "null" if value is None else scalar_string(value)


def _utf16(text: str) -> bytes:
    """A key that sorts strings as Java does."""
    return text.encode("utf-16-be", "surrogatepass")
