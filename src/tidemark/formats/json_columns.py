"""Objects to columns: collected type by type, as the parser returns them, and then converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from msgspec import UNSET

from tidemark import types as t
from tidemark.formats.column_types import dtype
from tidemark.formats.exact_values import Spelling
from tidemark.formats.json_structs import AS_STRINGS, PartialRow, attributes, is_value
from tidemark.formats.json_tokens import joined, leaves
from tidemark.formats.leaf_values import Flags, LeafReader
from tidemark.formats.nested_columns import Sizes, arrays, maps, series_of, sure_lists
from tidemark.functions.spark_text import safe_names


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column, and which of its values are right; None if all are."""

    values: pl.Series
    sure: Flags | None
    absent: Flags  # fields that a document does not have, if its objects show that


class Collector(Protocol):
    """Collects the values of a field, some records at a time."""

    def add(self, values: Sequence[Any]) -> None: ...
    def found(self) -> FoundColumn: ...


@dataclass(frozen=True, slots=True)
class LeafReading:
    """How leaves are read; with `decimals`, an object as a string has exact numbers."""

    spelling: Spelling
    ignores_errors: bool = False
    decimals: bool = False
    values: bool = False  # the parser returns values where it can, not tokens

    def leaf(self, type_: t.DataType) -> LeafReader:
        return LeafReader(type_, self.spelling, ignores_errors=self.ignores_errors)


def collector(type_: t.DataType, reading: LeafReading) -> Collector:
    match type_:
        case PartialRow():
            return _Rows(type_, replace(reading, values=False))
        case t.Row():
            return _Rows(type_, reading)
        case t.Array(element=element):
            return _Lists(collector(element, reading))
        case t.Map(value=value):
            return _Maps(collector(value, reading))
        case t.Multiset():
            return _Maps(collector(t.Int(), reading))
        case _ if reading.values and is_value(type_):
            strings = isinstance(type_, AS_STRINGS)
            return _Strings(reading.leaf(type_)) if strings else _Values(dtype(type_))
        case _:
            return _Leaves(reading.leaf(type_), reading.decimals)


class Fields:
    """Collects all the fields of rows."""

    def __init__(self, fields: Sequence[t.Field], reading: LeafReading) -> None:
        self._columns = [
            (attrgetter(name), collector(each.type, reading))
            for name, each in zip(attributes(len(fields)), fields, strict=True)
        ]

    def add(self, rows: Sequence[Any]) -> None:
        for get, column in self._columns:
            column.add(list(map(get, rows)))

    def found(self) -> list[FoundColumn]:
        return [column.found() for _, column in self._columns]


def all_sure(parts: Sequence[FoundColumn]) -> Flags | None:
    """Which rows are right in all these columns."""
    flags = [part.sure for part in parts if part.sure is not None]
    return np.logical_and.reduce(flags) if flags else None


class _Leaves:
    def __init__(self, reader: LeafReader, decimals: bool) -> None:
        self._reader = reader
        self._decimals = decimals
        self._tokens: list[bytes] = []

    def add(self, values: Sequence[Any]) -> None:
        self._tokens.append(joined(values))

    def found(self) -> FoundColumn:
        found = leaves(b"".join(self._tokens), decimals=self._decimals)
        values, sure = self._reader.read(found.text, numbers_only=found.bare)
        return FoundColumn(values, sure, found.absent)


# So many values at a time become a column: with fewer, the call takes longer than they do.
_TOGETHER = 2_000


class _Values:
    """Leaves that are values already."""

    def __init__(self, dtype_: pl.DataType) -> None:
        self._dtype = dtype_
        self._waiting: Sequence[Any] = []
        self._parts: list[pl.Series] = []

    def add(self, values: Sequence[Any]) -> None:
        self._waiting = [*self._waiting, *values] if self._waiting else values
        if len(self._waiting) >= _TOGETHER:
            self._convert()

    def _convert(self) -> None:
        self._parts.append(pl.Series(self._waiting, dtype=self._dtype))
        self._waiting = []

    def found(self) -> FoundColumn:
        self._convert()
        values = pl.concat(self._parts)
        return FoundColumn(values, None, np.zeros(values.len(), np.bool_))


class _Strings(_Values):
    """Leaves that are strings, whatever the type of their values."""

    def __init__(self, reader: LeafReader) -> None:
        super().__init__(pl.String())
        self._reader = reader

    def found(self) -> FoundColumn:
        found = super().found()
        values, sure = self._reader.read(found.values)
        return FoundColumn(values, sure, found.absent)


class _Nulls:
    """Which values are there, and which are not even null."""

    def __init__(self) -> None:
        self._states: list[npt.NDArray[np.int8]] = []

    def without(self, values: Sequence[Any]) -> Sequence[Any]:
        present = [each for each in values if each is not None and each is not UNSET]
        if len(present) == len(values):
            states = np.full(len(values), _THERE, np.int8)
        else:
            each_state = [_ABSENT if each is UNSET else each is None for each in values]
            states = np.array(each_state, np.int8)
        self._states.append(states)
        return present

    def found(self) -> tuple[Flags, Flags]:
        """Which values are there, and which are absent."""
        states = np.concatenate([np.zeros(0, np.int8), *self._states])
        return states == _THERE, states == _ABSENT


_THERE, _ABSENT = 0, 2  # 1 is null


class _Rows:
    def __init__(self, row: t.Row, reading: LeafReading) -> None:
        self._names = safe_names([each.name for each in row.fields])
        self._fields = Fields(row.fields, reading)
        self._shows_absent = isinstance(row, PartialRow)
        self._nulls = _Nulls()

    def add(self, values: Sequence[Any]) -> None:
        self._fields.add(self._nulls.without(values))

    def found(self) -> FoundColumn:
        there, absent = self._nulls.found()
        parts = self._fields.found()
        columns = [part.values.alias(name) for part, name in zip(parts, self._names, strict=True)]
        if self._shows_absent:
            columns += [pl.Series(f" {i}", ~part.absent) for i, part in enumerate(parts)]
        rows, sure = pl.DataFrame(columns).to_struct(), all_sure(parts)
        if there.all():
            return FoundColumn(rows, sure, absent)
        position = pa.array(np.cumsum(there) - 1, mask=~there)
        if sure is not None:
            wide = np.ones(len(there), np.bool_)
            wide[there] = sure
            sure = wide
        return FoundColumn(rows.gather(series_of(position)), sure, absent)


class _Lists:
    """What arrays and maps have in common: their items, one after the other."""

    def __init__(self, items: Collector) -> None:
        self._items = items
        self._nulls = _Nulls()
        self._sizes: list[int] = []

    def add(self, values: Sequence[Any]) -> None:
        present = self._nulls.without(values)
        self._sizes += map(len, present)
        self._add_items(present)

    def _add_items(self, present: Sequence[Any]) -> None:
        self._items.add(list(chain.from_iterable(present)))

    def found(self) -> FoundColumn:
        there, absent = self._nulls.found()
        sizes = np.zeros(len(there), np.int64)
        sizes[there] = self._sizes
        items = self._items.found()
        values = self._column(items.values, sizes, there)
        return FoundColumn(values, sure_lists(items.sure, sizes), absent)

    def _column(self, items: pl.Series, sizes: Sizes, there: Flags) -> pl.Series:
        return arrays(items, sizes, there)


class _Maps(_Lists):
    def __init__(self, items: Collector) -> None:
        super().__init__(items)
        self._keys: list[str] = []

    def _add_items(self, present: Sequence[Any]) -> None:
        self._keys += chain.from_iterable(present)
        self._items.add(list(chain.from_iterable(map(dict.values, present))))

    def _column(self, items: pl.Series, sizes: Sizes, there: Flags) -> pl.Series:
        return maps(pl.Series(self._keys, dtype=pl.String), items, sizes, there)
