"""Rows to messages of Protocol Buffers, as Flink writes them.

A field that is NULL is not set. Arrays and maps cannot have NULL, which becomes the default of its
type there. Of several fields of a oneof, the last one in the order of the columns is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from google.protobuf.message import EncodeError
from google.protobuf.message_factory import GetMessageClass

from tidemark import types as t
from tidemark.formats.nested_columns import offsets_of
from tidemark.formats.problems import data_error
from tidemark.formats.protobuf import type_of
from tidemark.formats.protobuf_options import NAME, NULL_LITERAL
from tidemark.formats.protobuf_schema import Descriptor, FieldDescriptor, Message
from tidemark.formats.protobuf_types import is_map, kind, map_fields

# What the library takes for each value of a column; None for NULL.
_Values: TypeAlias = list[Any]
_Writer: TypeAlias = Callable[[pl.Series], _Values]

_MASKS: Final = {"uint32": 0xFFFFFFFF, "fixed32": 0xFFFFFFFF}
_MASKS_OF_LONG: Final = dict.fromkeys(("uint64", "fixed64"), 0xFFFFFFFFFFFFFFFF)
_DEFAULTS: Final = {"bytes": b"", "bool": False, "float": 0.0, "double": 0.0}


def protobuf_messages(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.LargeBinaryArray:
    """A message for each row, whose columns are the fields in order."""
    writing = _Writing(str(options.get(NULL_LITERAL) or ""))
    messages = writing.messages(type_of(options).descriptor, fields)(rows.get_columns())
    try:
        content = [each.SerializeToString(deterministic=True) for each in messages]
    except EncodeError as problem:
        raise data_error(
            f"cannot write a row as {NAME}",
            why=str(problem),
            hint="write a value to each field that is required",
        ) from None
    return (
        pl.Series(content, dtype=pl.Binary)
        .to_arrow(compat_level=pl.CompatLevel.oldest())
        .cast(pa.large_binary())
    )


class _Writing:
    """Writes values, with this string for strings that are NULL in arrays and maps."""

    def __init__(self, null_literal: str) -> None:
        self._null_literal = null_literal

    def messages(
        self, message: Descriptor, fields: Sequence[t.Field]
    ) -> Callable[[Sequence[pl.Series]], list[Message]]:
        made = GetMessageClass(message)
        names = [field.name for field in fields]
        writers = [self._field(message.fields_by_name[each.name], each.type) for each in fields]

        def write(columns: Sequence[pl.Series]) -> list[Message]:
            values = [each(column) for each, column in zip(writers, columns, strict=True)]
            # What is None is not set.
            return [made(**dict(zip(names, row, strict=True))) for row in zip(*values, strict=True)]

        return write

    def _field(self, field: FieldDescriptor, type_: t.DataType) -> _Writer:
        if is_map(field):
            assert isinstance(type_, t.Map)
            return self._map(field, type_)
        if field.is_repeated:
            assert isinstance(type_, t.Array)
            return self._array(field, type_)
        return self._values(field, type_)

    def _array(self, field: FieldDescriptor, type_: t.Array) -> _Writer:
        write = self._elements(field, type_.element)

        def write_lists(column: pl.Series) -> _Values:
            inside, bounds = _items(column)
            values = write(inside)
            return _cut(column, bounds, lambda start, end: values[start:end])

        return write_lists

    def _map(self, field: FieldDescriptor, type_: t.Map) -> _Writer:
        of_key, of_value = map_fields(field)
        write_key = self._elements(of_key, type_.key)
        write = self._elements(of_value, type_.value)

        def write_maps(column: pl.Series) -> _Values:
            inside, bounds = _items(column.map.entries())
            keys, items = inside.struct.unnest().get_columns()
            pairs = list(zip(write_key(keys), write(items), strict=True))
            return _cut(column, bounds, lambda start, end: dict(pairs[start:end]))

        return write_maps

    def _elements(self, field: FieldDescriptor, type_: t.DataType) -> _Writer:
        """As values, but NULL is the default."""
        write, default = self._values(field, type_), self._default(field)
        return lambda column: [default if each is None else each for each in write(column)]

    def _default(self, field: FieldDescriptor) -> Any:
        if field.message_type is not None:
            return GetMessageClass(field.message_type)()
        if field.enum_type is not None:
            return field.enum_type.values[0].number
        return self._null_literal if kind(field) == "string" else _DEFAULTS.get(kind(field), 0)

    def _values(self, field: FieldDescriptor, type_: t.DataType) -> _Writer:
        if isinstance(type_, t.Row):
            return self._rows(field.message_type, type_)
        if field.enum_type is not None:
            return _enum(field, type_)
        mask = _MASKS.get(kind(field)) or _MASKS_OF_LONG.get(kind(field))
        if mask is not None:  # Java's negative numbers are large ones
            return lambda column: [
                None if each is None else each & mask for each in column.to_list()
            ]
        return lambda column: column.to_list()

    def _rows(self, message: Descriptor, type_: t.Row) -> _Writer:
        write = self.messages(message, type_.fields)

        def write_rows(column: pl.Series) -> _Values:
            there = column.is_not_null().to_list()
            messages = write(column.struct.unnest().get_columns())
            return [each if has else None for each, has in zip(messages, there, strict=True)]

        return write_rows


def _enum(field: FieldDescriptor, type_: t.DataType) -> _Writer:
    """As in Flink, whatever the enum does not have is its first value."""
    values = field.enum_type.values
    known: dict[Any, int | None] = {None: None}
    for each in values:
        known[each.name if isinstance(type_, t.CHARACTERS) else each.number] = each.number
    first = values[0].number
    return lambda column: [known.get(each, first) for each in column.to_list()]


def _items(column: pl.Series) -> tuple[pl.Series, Any]:
    """What is in lists, one after the other, and where each begins and ends in that."""
    inside = pl.from_arrow(column.to_arrow(compat_level=pl.CompatLevel.newest()).flatten())
    assert isinstance(inside, pl.Series)
    sizes = column.list.len().fill_null(0).to_numpy().astype(np.int64)
    return inside, offsets_of(sizes)


def _cut(column: pl.Series, bounds: Any, part: Callable[[int, int], Any]) -> _Values:
    there, ends = column.is_not_null().to_list(), bounds.tolist()
    return [
        part(start, end) if has else None
        for has, start, end in zip(there, ends[:-1], ends[1:], strict=True)
    ]
