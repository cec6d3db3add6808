"""Messages to columns: what is absent, what is a default, and what Java makes of numbers.

A column is read of all messages at once, and inside messages of all that are inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import dtype
from tidemark.formats.nested_columns import arrays, maps
from tidemark.formats.protobuf_schema import Descriptor, FieldDescriptor, Message
from tidemark.formats.protobuf_types import is_map, kind, map_fields
from tidemark.functions.spark_text import safe_names

_Reader: TypeAlias = Callable[[Sequence[Any]], pl.Series]

# What Java shows of a number that an enum does not have.
_UNRECOGNIZED: Final = "UNRECOGNIZED"
_REPLACEMENT: Final = "\ufffd".encode()
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_UNSIGNED: Final = {
    "uint32": pl.UInt32(),
    "fixed32": pl.UInt32(),
    "uint64": pl.UInt64(),
    "fixed64": pl.UInt64(),
}


class UnreadableField(Exception):
    """Why a field of a message cannot be read."""


@dataclass(frozen=True, slots=True)
class Absent:
    """What is read where a message does not have a field.

    As in Flink, it is NULL unless defaults are wanted. In proto3 Flink reads the defaults of
    whatever is not a message, an array or a map, even where the field is `optional`.
    """

    defaults: bool
    proto3: bool

    @property
    def scalar_defaults(self) -> bool:
        return self.defaults or self.proto3


class MessageColumns:
    """Reads messages of a type as the fields of a table."""

    def __init__(self, message: Descriptor, fields: Sequence[t.Field], absent: Absent) -> None:
        self._readers = [
            (each.name, _field(message.fields_by_name[each.name], each.type, absent))
            for each in fields
        ]

    def __call__(self, messages: Sequence[Message]) -> pl.DataFrame:
        """A row for each message. Raises UnreadableField."""
        return pl.DataFrame([read(messages).alias(name) for name, read in self._readers])


def _field(field: FieldDescriptor, type_: t.DataType, absent: Absent) -> _Reader:
    if is_map(field):
        assert isinstance(type_, t.Map)
        return _map(field, type_, absent)
    if field.is_repeated:
        assert isinstance(type_, t.Array)
        return _array(field, type_, absent)
    read = _values(field, type_, absent)
    if isinstance(type_, t.Row):
        return _message(field, read, absent)
    get, name = attrgetter(field.name), field.name
    if absent.scalar_defaults or not field.has_presence:
        return lambda messages: read([get(each) for each in messages])
    return lambda messages: read([get(each) if each.HasField(name) else None for each in messages])


def _message(field: FieldDescriptor, read: _Reader, absent: Absent) -> _Reader:
    get, name = attrgetter(field.name), field.name

    def read_field(messages: Sequence[Message]) -> pl.Series:
        rows = read([get(each) for each in messages])
        if absent.defaults:
            return rows
        there = pl.Series([each.HasField(name) for each in messages], dtype=pl.Boolean)
        return pl.select(pl.when(there).then(rows)).to_series()

    return read_field


def _array(field: FieldDescriptor, type_: t.Array, absent: Absent) -> _Reader:
    get, read = attrgetter(field.name), _values(field, type_.element, absent)

    def read_field(messages: Sequence[Message]) -> pl.Series:
        lists = [get(each) for each in messages]
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        return arrays(read(list(chain.from_iterable(lists))), sizes, absent.defaults | (sizes > 0))

    return read_field


def _map(field: FieldDescriptor, type_: t.Map, absent: Absent) -> _Reader:
    of_key, of_value = map_fields(field)
    get = attrgetter(field.name)
    read_key, read = _values(of_key, type_.key, absent), _values(of_value, type_.value, absent)
    keys_are_strings, are_strings = kind(of_key) == "string", kind(of_value) == "string"

    def read_field(messages: Sequence[Message]) -> pl.Series:
        found = [get(each) for each in messages]
        if keys_are_strings:  # before they are looked up, which the library cannot do otherwise
            _check_utf8(f"a key of `{field.name}`", chain.from_iterable(found))
        # The library has them in an order that differs from process to process.
        in_order = [sorted(each) for each in found]
        sizes = np.fromiter(map(len, in_order), np.int64, len(in_order))
        keys = list(chain.from_iterable(in_order))
        values = [each[key] for each, own in zip(found, in_order, strict=True) for key in own]
        if are_strings:
            _check_utf8(f"a value of `{field.name}`", values)
        return maps(read_key(keys), read(values), sizes, absent.defaults | (sizes > 0))

    return read_field


# --- single values -----------------------------------------------------------------------------


def _values(field: FieldDescriptor, type_: t.DataType, absent: Absent) -> _Reader:
    """Reads values of a field, or its elements."""
    if isinstance(type_, t.Row):
        return _rows(field.message_type, type_, absent)
    wanted = dtype(type_)
    if field.enum_type is not None:
        return _enum(field, type_, wanted)
    match kind(field):
        case "string":
            return _strings(field, wanted)
        case unsigned if unsigned in _UNSIGNED:
            stored = _UNSIGNED[unsigned]
            return lambda values: pl.Series(values, dtype=stored).cast(wanted, wrap_numerical=True)
    return lambda values: pl.Series(values, dtype=wanted)


def _rows(message: Descriptor, type_: t.Row, absent: Absent) -> _Reader:
    read = MessageColumns(message, type_.fields, absent)
    names = safe_names([each.name for each in type_.fields])

    def read_rows(messages: Sequence[Message]) -> pl.Series:
        columns = read(messages).get_columns()
        named = [column.alias(name) for column, name in zip(columns, names, strict=True)]
        return pl.DataFrame(named).to_struct()

    return read_rows


def _enum(field: FieldDescriptor, type_: t.DataType, wanted: pl.DataType) -> _Reader:
    names: dict[int | None, str | None] = {None: None}
    for each in field.enum_type.values:  # of several names of a number, the first
        names.setdefault(each.number, each.name)
    if isinstance(type_, t.CHARACTERS):
        return lambda values: pl.Series(
            [names.get(each, _UNRECOGNIZED) for each in values], dtype=wanted
        )

    def read_numbers(values: Sequence[int | None]) -> pl.Series:
        for each in values:
            if each not in names:
                enum = field.enum_type.full_name
                raise UnreadableField(
                    f"`{field.name}` has the number {each}, which {enum} does not have"
                )
        return pl.Series(values, dtype=wanted)

    return read_numbers


# --- strings -----------------------------------------------------------------------------------

# Those of proto2 may be anything: the library gives bytes for what is not UTF-8. Java replaces what
# is not, but not in maps, nor in files that have the option `java_string_check_utf8`.


def _strings(field: FieldDescriptor, wanted: pl.DataType) -> _Reader:
    checked = field.containing_type.file.GetOptions().java_string_check_utf8

    def read(values: Sequence[Any]) -> pl.Series:
        if checked:
            _check_utf8(f"`{field.name}`", values)
        replaced = [_replaced(each) if type(each) is bytes else each for each in values]
        return pl.Series(replaced, dtype=wanted)

    return read


def _check_utf8(what: str, strings: Iterable[Any]) -> None:
    if bytes in set(map(type, strings)):
        raise UnreadableField(f"{what} is not UTF-8")


def _replaced(content: bytes) -> str:
    # For half a surrogate pair, which has three bytes, Java has one character.
    return _SURROGATE.sub(_REPLACEMENT, content).decode("utf-8", "replace")
