"""Objects and arrays of a document as strings: as Flink writes the tree that it has read.

It has no blanks, of fields that occur twice the last value, and numbers as Java writes them: as
DOUBLEs, or exactly if the table has a DECIMAL.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DecimalException
from functools import partial
from typing import Any

import msgspec

from tidemark import types as t

_BLANKS = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]++', re.DOTALL)
# What a quick writer writes in another way than Java, or may: some characters, large and small
# numbers, all fractions that are exact.
_OTHERWISE = r"[\x00-\x1f\\]|[0-9][eE]|-0|[0-9]{16}"
_CHANGES = re.compile(rf"{_OTHERWISE}|[0-9]{{8}}\.|0\.00|\.[0-9]{{9}}")
_CHANGES_EXACT = re.compile(rf"{_OTHERWISE}|[0-9]\.")
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_LETTERS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", '"': '"', "\\": "\\"}
# From here on, and below its inverse, Java writes a number with an exponent.
_LARGE, _SMALL = 1e7, 1e-3
_EXACT = Context(prec=2_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


def has_decimal(type_: t.DataType) -> bool:
    match type_:
        case t.Row(fields=fields):
            return any(has_decimal(field.type) for field in fields)
        case t.Array(element=element) | t.Multiset(element=element):
            return has_decimal(element)
        case t.Map(key=key, value=value):
            return has_decimal(key) or has_decimal(value)
        case _:
            return isinstance(type_, t.Decimal)


def tree_text(text: str, *, decimals: bool) -> str:
    """An object or an array that has been found to be valid."""
    if not (_CHANGES_EXACT if decimals else _CHANGES).search(text):
        try:
            return msgspec.json.encode(msgspec.json.decode(text)).decode()
        except (msgspec.DecodeError, RecursionError):
            return _without_blanks(text)
    number = partial(_Number.of, decimals=decimals)
    try:
        tree = json.loads(text, strict=False, parse_int=_Number.integer, parse_float=number)
        return _written(tree)
    except (ValueError, RecursionError, DecimalException):
        return _without_blanks(text)


def _without_blanks(text: str) -> str:
    return _BLANKS.sub(lambda found: found[1] or "", text)


@dataclass(frozen=True, slots=True)
class _Number:
    text: str

    @classmethod
    def integer(cls, text: str) -> _Number:
        return cls("0" if text == "-0" else text)

    @classmethod
    def of(cls, text: str, *, decimals: bool) -> _Number:
        return cls(_exact(text) if decimals else _double(float(text)))


def _exact(text: str) -> str:
    number = Decimal(text).normalize(_EXACT)
    return str(number) if number else "0"


def _double(number: float) -> str:
    if math.isinf(number):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    if number == 0 or _SMALL <= abs(number) < _LARGE:
        return repr(number)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *rest = map(str, digits)
    mantissa = f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}"
    return f"{mantissa}E{exponent + len(rest)}"


def _written(tree: Any) -> str:
    match tree:
        case dict():
            return "{" + ",".join(f"{_string(k)}:{_written(v)}" for k, v in tree.items()) + "}"
        case list():
            return "[" + ",".join(map(_written, tree)) + "]"
        case _Number(text=text):
            return text
        case str():
            return _string(tree)
        case None:
            return "null"
        case _:
            return "true" if tree else "false"


def _string(text: str) -> str:
    # Half a surrogate pair is a question mark, as in Java.
    whole = text.encode("utf-8", "replace").decode()
    return '"' + _ESCAPED.sub(_escape, whole) + '"'


def _escape(found: re.Match[str]) -> str:
    letter = _LETTERS.get(found[0])
    return f"\\u{ord(found[0]):04X}" if letter is None else f"\\{letter}"
