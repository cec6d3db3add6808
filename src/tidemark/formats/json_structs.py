"""Records as JSON to objects: one for each row, whose leaves are still as they are written.

The parser, msgspec, is stricter than Flink's: what it accepts is a document, and nothing else. It
knows the fields of a row in any order, ignores others, and returns a leaf as the bytes of its
token, without a copy. Whatever it refuses is left to the exact way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import polars as pl
from msgspec import UNSET, Raw, Struct, UnsetType

from tidemark import types as t
from tidemark.formats.column_types import NESTED

# What a leaf is that a record does not have: no token.
_NOTHING = Raw(b"")


def attributes(count: int) -> list[str]:
    """The attributes of a struct that has the fields of a row, in order."""
    return [f"f{i}" for i in range(count)]


@dataclass(frozen=True)
class PartialRow(t.Row):
    """A row whose columns also say which of its fields a document contains.

    They are columns of the row itself, after those of its fields.
    """

    def parts_of(self, rows: pl.Series) -> list[tuple[pl.Series, pl.Series]]:
        """Of each field its values, and whether they are there."""
        columns = rows.struct.unnest().get_columns()
        width = len(self.fields)
        return list(zip(columns[:width], columns[width:], strict=True))


@cache
def struct_of(fields: tuple[t.Field, ...], *, shows_absent: bool = False) -> type[Struct]:
    """A class for the rows with these fields. Raises ValueError if it cannot have their names.

    Whatever is missing, except for leaves, is None; or, with `shows_absent`, UNSET.
    """
    names = attributes(len(fields))
    return msgspec.defstruct(
        "Row",
        [
            (name, *_wanted(each.type, shows_absent))
            for name, each in zip(names, fields, strict=True)
        ],
        rename=dict(zip(names, (each.name for each in fields), strict=True)),
        # Nothing in it refers back to it.
        gc=False,
    )


def _wanted(type_: t.DataType, shows_absent: bool) -> tuple[Any, Any]:
    """What the parser makes of a field, and what the field is if it is missing."""
    if not isinstance(type_, NESTED):
        return Raw, _NOTHING
    if shows_absent:
        return _object(type_) | UnsetType, UNSET
    return _object(type_), None


def _object(type_: t.DataType) -> Any:
    match type_:
        case t.Row(fields=fields):
            return struct_of(fields, shows_absent=isinstance(type_, PartialRow)) | None
        case t.Array(element=element):
            return list[_object(element)] | None  # type: ignore[misc]
        case t.Map(value=value):
            return dict[str, _object(value)] | None  # type: ignore[misc]
        case t.Multiset():
            return dict[str, Raw] | None
        case _:
            return Raw
