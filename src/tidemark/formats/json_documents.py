"""The exact way of reading JSON: a document at a time, as the parser of Flink and Spark does.

The result has the shape of the wanted type, and every leaf is still the string that stands in the
document: a list for an array or the fields of a row, a dict for a map, None for null. A document
ends with its last bracket; what follows is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tidemark import types as t
from tidemark.formats.exact_values import Quoted
from tidemark.formats.json_reasons import MAX_DEPTH, MAX_NAME, MAX_NUMBER, MAX_STRING
from tidemark.formats.json_trees import has_decimal, tree_text

STRING = r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_TOKEN = re.compile(
    rf"[ \t\r\n]*+(?:(?P<string>{STRING})|(?P<number>{NUMBER})"
    r"|(?P<word>true|false|null)|(?P<sign>[\[\]{}:,]))"
)
_DIGITS = re.compile(r"[0-9]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ABSENT = object()
_NOT_UTF_8 = re.compile(r"[\udc80-\udcff]")
_SURROGATES = re.compile(r"([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


class Malformed(Exception):
    """The text is not a document of the wanted shape."""


class FieldMissing(Exception):
    """A row does not have a field, which is the exception's argument."""


# Takes a parser whose next token is the value.
_Take = Callable[["_Parser"], Any]


class Documents:
    """Reads documents that are a row, or an array of rows.

    With `lenient`, a value whose structure does not fit its type is None; with `strict`, no field
    of a row may be missing.
    """

    def __init__(self, row: t.Row, *, lenient: bool, strict: bool = False) -> None:
        self._lenient = lenient
        self._strict = strict
        self._decimals = has_decimal(row)
        self._take = self._row(row)

    def read(self, binary: bytes) -> list[list[Any]]:
        """The rows of a document. Raises Malformed or, if it is a document, FieldMissing."""
        parser = _Parser(binary.decode("utf-8", "surrogateescape"), decimals=self._decimals)
        rows = self._read(parser)
        parser.check_characters()
        if parser.missing is not None:
            raise FieldMissing(parser.missing)
        return rows

    def read_one(self, binary: bytes) -> tuple[list[Any], bool]:
        """The row of a document that is not an array, and whether all its values fit their types.

        Raises Malformed.
        """
        parser = _Parser(binary.decode("utf-8", "surrogateescape"), decimals=self._decimals)
        parser.next()
        row = self._object(parser)
        parser.check_characters()
        return row, not parser.misfit

    def _read(self, parser: _Parser) -> list[list[Any]]:
        if parser.next() == "[":
            rows = []
            for _ in parser.items("]"):
                rows.append(self._object(parser))
            return rows
        return [self._object(parser)]

    def _object(self, parser: _Parser) -> list[Any]:
        if parser.sign != "{":
            raise Malformed
        fields: list[Any] = self._take(parser)
        return fields

    # --- by type: functions that are made once ---

    def _taker(self, type_: t.DataType) -> _Take:
        match type_:
            case t.Row():
                return self._opened("{", self._row(type_))
            case t.Array(element=element):
                return self._opened("[", self._array(element))
            case t.Map(value=value):
                return self._opened("{", self._map(value))
            case t.Multiset():
                return self._opened("{", self._map(t.Int()))
            case t.Int() | t.BigInt():
                return _Parser.integer
            case _:
                return _Parser.leaf

    def _opened(self, sign: str, take: _Take) -> _Take:
        lenient = self._lenient

        def opened(parser: _Parser) -> Any:
            if parser.sign == sign:
                return take(parser)
            if parser.word == "null":
                return None
            if not lenient:
                raise Malformed
            parser.misfit = True
            parser.skip()
            return None

        return opened

    def _row(self, row: t.Row) -> _Take:
        known = {
            field.name: (position, self._taker(field.type))
            for position, field in enumerate(row.fields)
        }
        width, strict = len(row.fields), self._strict

        def take(parser: _Parser) -> list[Any]:
            values: list[Any] = [_ABSENT] * width if strict else [None] * width
            for name in parser.members():
                found = known.get(name)
                if found is None:
                    parser.skip()
                else:
                    values[found[0]] = found[1](parser)
            if strict and _ABSENT in values and parser.missing is None:
                parser.missing = row.fields[values.index(_ABSENT)].name
            return values

        return take

    def _array(self, element: t.DataType) -> _Take:
        take = self._taker(element)
        return lambda parser: [take(parser) for _ in parser.items("]")]

    def _map(self, value: t.DataType) -> _Take:
        take = self._taker(value)
        return lambda parser: {name: take(parser) for name in parser.members()}


class _Parser:
    """A document's tokens, the one after the other, and how deep the current one is."""

    def __init__(self, text: str, *, decimals: bool) -> None:
        self._text = text
        self._decimals = decimals
        self._depth = 0
        self.misfit = False
        self.missing: str | None = None
        self.start = 0
        self.end = 1 if text.startswith("\ufeff") else 0
        self.sign: str | None = None
        self.word: str | None = None
        self.string: str | None = None

    def next(self) -> str | None:
        """Moves to the next token; returns its sign."""
        found = _TOKEN.match(self._text, self.end)
        if found is None:
            raise Malformed
        self.end = found.end()
        self.string, number, self.word, self.sign = found.groups()
        self.start = found.start(found.lastgroup or 0)
        if self.sign in ("{", "["):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise Malformed
        elif self.sign in ("}", "]"):
            self._depth -= 1
        elif number is not None and len(number) > MAX_NUMBER:
            _check_number(number)
        return self.sign

    def items(self, close: str) -> Any:
        """For each item of the open array, its first token is the current one."""
        if self.next() == close:
            return
        while True:
            if self.sign in ("]", "}", ",", ":"):
                raise Malformed
            yield None
            if self._comma_or(close):
                return
            self.next()

    def members(self) -> Any:
        """The names of the open object; the first token of each value is the current one."""
        if self.next() == "}":
            return
        while True:
            name = self._name()
            if self.next() in ("]", "}", ",", ":"):
                raise Malformed
            yield name
            if self._comma_or("}"):
                return
            self.next()

    def _name(self) -> str:
        if self.string is None:
            raise Malformed
        name = unescaped(self.string[1:-1])
        if len(name) > MAX_NAME or self.next() != ":":
            raise Malformed
        return name

    def _comma_or(self, close: str) -> bool:
        sign = self.next()
        if sign != close and sign != ",":
            raise Malformed
        return sign == close

    def leaf(self) -> str | None:
        """The current value as a string; an object or an array as Flink writes it."""
        if self.string is not None:
            if len(self.string) > MAX_STRING + 2:
                raise Malformed
            return unescaped(self.string[1:-1])
        if self.word == "null":
            return None
        start, nested = self.start, self.sign is not None
        self.skip()
        text = self._text[start : self.end]
        return tree_text(text, decimals=self._decimals) if nested else text

    def integer(self) -> str | None:
        """The current value: 1.9 is an integer, "1.9" is not."""
        leaf = self.leaf()
        return leaf if leaf is None or self.string is None else Quoted(leaf)

    def check_characters(self) -> None:
        """What was read must be valid UTF-8; what follows the document need not be."""
        if not self._text.isascii() and _NOT_UTF_8.search(self._text, 0, self.end):
            raise Malformed

    def skip(self) -> None:
        """Moves to the end of the current value, however deep it is."""
        if self.sign not in ("{", "["):
            return
        # Without recursion: a record may be nested deeper than Python can call.
        inside = [self.members() if self.sign == "{" else self.items("]")]
        while inside:
            if next(inside[-1], self) is self:
                inside.pop()
            elif self.sign in ("{", "["):
                inside.append(self.members() if self.sign == "{" else self.items("]"))


def _check_number(number: str) -> None:
    mantissa_and_exponent = len(_DIGITS.findall(number))
    if mantissa_and_exponent > MAX_NUMBER:
        raise Malformed


def unescaped(text: str) -> str:
    """The content of a string. Half a surrogate pair is a question mark, as in Java."""
    if "\\" not in text:
        return text
    result = _ESCAPE.sub(_character, text)
    return _SURROGATES.sub(_pair, result)


def _character(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    return _LETTERS.get(found[2], found[2])


def _pair(found: re.Match[str]) -> str:
    if found[1] is None:
        return "?"
    return chr(0x10000 + ((ord(found[1]) - 0xD800) << 10) + (ord(found[2]) - 0xDC00))
