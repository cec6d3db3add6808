"""Records as JSON to objects, one for each row.

The parser, msgspec, is stricter than Flink's: what it accepts is a document, and nothing else. It
knows the fields of a row in any order, and ignores others. Leaves are either as they are written,
the bytes of a token without a copy, or, half as much work, the values that most documents have:
strings, integers within the limits of their type, booleans. Whatever the parser refuses is left to
the exact way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import msgspec
import polars as pl
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from tidemark import types as t

# What a leaf is that a record does not have: no token.
_NOTHING = Raw(b"")

# Types whose values are strings, which are then read as for any other format.
AS_STRINGS = (t.VarChar, t.Char, t.Date, t.Time, t.Timestamp, t.TimestampLtz)
_AS_VALUES: dict[type[t.DataType], Any] = {
    **dict.fromkeys(AS_STRINGS, str),
    t.Boolean: bool,
    t.TinyInt: Annotated[int, Meta(ge=-(1 << 7), lt=1 << 7)],
    t.SmallInt: Annotated[int, Meta(ge=-(1 << 15), lt=1 << 15)],
    t.Int: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)],
    t.BigInt: Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)],
}


def is_value(type_: t.DataType) -> bool:
    """Whether the parser can return the value of a leaf."""
    return type(type_) in _AS_VALUES


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
def struct_of(
    fields: tuple[t.Field, ...],
    *,
    values: bool = False,
    required: bool = False,
    shows_absent: bool = False,
) -> type[Struct]:
    """A class for the rows with these fields. Raises ValueError if it cannot have their names.

    With `values`, leaves are values where they can be, and None if missing. Unless all fields are
    `required`, what is missing, except for other leaves, is None; or, with `shows_absent`, UNSET.
    """
    names = attributes(len(fields))
    inner = _Inner(values, required)
    wanted = [_wanted(each.type, inner, shows_absent) for each in fields]
    return msgspec.defstruct(
        "Row",
        [
            (name, type_) if required else (name, type_, default)
            for name, (type_, default) in zip(names, wanted, strict=True)
        ],
        rename=dict(zip(names, (each.name for each in fields), strict=True)),
        # Nothing in it refers back to it.
        gc=False,
    )


@dataclass(frozen=True, slots=True)
class _Inner:
    """How the types inside a row are parsed."""

    values: bool
    required: bool

    def leaf(self, type_: t.DataType) -> Any:
        return _AS_VALUES[type(type_)] | None if self.values and is_value(type_) else Raw

    def object(self, type_: t.DataType) -> Any:
        match type_:
            case PartialRow(fields=fields):
                return struct_of(fields, shows_absent=True) | None
            case t.Row(fields=fields):
                return struct_of(fields, values=self.values, required=self.required) | None
            case t.Array(element=element):
                return list[self.object(element)] | None  # type: ignore[misc]
            case t.Map(value=value):
                return dict[str, self.object(value)] | None  # type: ignore[misc]
            case t.Multiset():
                return dict[str, self.leaf(t.Int())] | None  # type: ignore[misc]
            case _:
                return self.leaf(type_)


def _wanted(type_: t.DataType, inner: _Inner, shows_absent: bool) -> tuple[Any, Any]:
    """What the parser makes of a field, and what the field is if it is missing."""
    parsed = inner.object(type_)
    if parsed is Raw:
        return Raw, _NOTHING
    if shows_absent:
        return parsed | UnsetType, UNSET
    return parsed, None
