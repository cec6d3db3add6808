"""The shape of records: a pattern that only records match whose content it can prove.

Most files are written by one program, so the fields of all records come in the same order and are
written alike. A shape is learned from one record, which the exact parser has read. Its regular
expression accepts a record if it has exactly these fields in this order, without any escape, and
returns the string of each leaf.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import types as t

BLANKS = r"[ \t\r\n]*"
_COLON = f"{BLANKS}:{BLANKS}"
_COMMA = f"{BLANKS},{BLANKS}"
_QUOTED = r'"([^"\\]*)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_BARE = rf"({_NUMBER}|true|false)"
# Values of fields that the table does not have.
_ANY_STRING = r'(?:"[^"\\]*"|null)'
_ANY_BARE = rf"(?:{_NUMBER}|true|false|null)"
_ANY_SCALAR = rf'(?:"[^"\\]*"|{_NUMBER}|true|false|null)'


@dataclass(frozen=True, slots=True)
class LeafPart:
    """A leaf: the group that has its string, and whether it is written as a string."""

    group: int
    quoted: bool


@dataclass(frozen=True, slots=True)
class RowPart:
    """A row: the group that has a value if the row is there, and its fields; None if missing."""

    group: int
    parts: tuple[Part | None, ...]


Part = LeafPart | RowPart


@dataclass(frozen=True, slots=True)
class Shape:
    pattern: str
    parts: tuple[Part | None, ...]
    # The group that has a value if the record matches.
    matched: int


class _CannotLearn(Exception):
    pass


class _Pairs(list[tuple[str, Any]]):
    """An object as its pairs, in order."""


@dataclass(frozen=True, slots=True)
class _Bare:
    """A number or a boolean."""


def learn(record: str, fields: Sequence[t.Field], *, all_fields: bool = False) -> Shape | None:
    """The shape of a record, if it has one. With `all_fields`, none of them may be missing."""
    try:
        document = json.loads(
            record,
            strict=False,
            object_pairs_hook=_Pairs,
            parse_int=lambda _: _Bare(),
            parse_float=lambda _: _Bare(),
        )
        writer = _Writer(all_fields)
        pattern, parts = writer.object(document, fields)
    except (ValueError, RecursionError, _CannotLearn):
        return None
    matched = writer.group()
    return Shape(rf"^{BLANKS}{pattern}({BLANKS})$", parts, matched)


class _Writer:
    """Writes a pattern and counts its groups."""

    def __init__(self, all_fields: bool) -> None:
        self._all_fields = all_fields
        self._groups = 0

    def group(self) -> int:
        self._groups += 1
        return self._groups

    def object(
        self, document: Any, fields: Sequence[t.Field]
    ) -> tuple[str, tuple[Part | None, ...]]:
        if not isinstance(document, _Pairs) or len(dict(document)) < len(document):
            raise _CannotLearn
        known = {field.name: (i, field.type) for i, field in enumerate(fields)}
        parts: list[Part | None] = [None] * len(fields)
        patterns = []
        for name, value in document:
            if name in known:
                position, type_ = known[name]
                pattern, parts[position] = self._value(value, type_)
            else:
                pattern = self._unknown(value)
            patterns.append(f'"{_literal(name)}"{_COLON}{pattern}')
        if self._all_fields and None in parts:
            raise _CannotLearn
        inside = _COMMA.join(patterns)
        return rf"\{{{BLANKS}{inside}{BLANKS}\}}", tuple(parts)

    def _value(self, value: Any, type_: t.DataType) -> tuple[str, Part]:
        if isinstance(type_, t.Row):
            return self._inner(value, type_)
        if isinstance(type_, t.Array | t.Map | t.Multiset) or isinstance(value, list):
            raise _CannotLearn
        unknown = value is None and not isinstance(type_, (*t.NUMERICS, t.Boolean))
        quoted = isinstance(value, str) or unknown
        return f"(?:{_QUOTED if quoted else _BARE}|null)", LeafPart(self.group(), quoted)

    def _unknown(self, value: Any) -> str:
        """A value of a field that the table does not have."""
        if isinstance(value, _Pairs):
            return rf"(?:{self.object(value, ())[0]}|null)"
        if isinstance(value, list):
            item = self._unknown(value[0]) if value and _is_nested(value[0]) else _ANY_SCALAR
            # What follows an item is decided by one character, which keeps the search quick.
            items = rf"{item}{BLANKS}(?:,{BLANKS}{item}{BLANKS})*"
            return rf"(?:\[{BLANKS}(?:{items})?\]|null)"
        if value is None:
            return _ANY_SCALAR
        return _ANY_STRING if isinstance(value, str) else _ANY_BARE

    def _inner(self, value: Any, type_: t.Row) -> tuple[str, Part]:
        group = self.group()
        if value is None:
            # A group that never matches: the row is always missing.
            return r"(?:([^\s\S])|null)", RowPart(group, (None,) * len(type_.fields))
        pattern, parts = self.object(value, type_.fields)
        return rf"(?:()(?:{pattern})|null)", RowPart(group, parts)


def _is_nested(value: Any) -> bool:
    return isinstance(value, _Pairs | list)


def _literal(name: str) -> str:
    """A name as it is written, unless it needs an escape."""
    if re.search(r'["\\]', name):
        raise _CannotLearn
    return "".join(c if c.isascii() and c.isalnum() else rf"\x{{{ord(c):x}}}" for c in name)
