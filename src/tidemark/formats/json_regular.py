"""Regular records as whole columns: those of files whose records all look alike.

One regular expression then takes them apart, in half the time of a parser. It is learned from one
record, and given up if it does not fit most of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import NESTED, dtype
from tidemark.formats.json_columns import LeafReading
from tidemark.formats.json_rows import QuickRows
from tidemark.formats.json_shapes import LeafPart, Part, RowPart, Shape, learn
from tidemark.formats.json_structs import PartialRow
from tidemark.functions.spark_text import safe_names

# How many records are looked at, and the share of them that a shape must fit.
_LOOKED_AT = 32
_MOST = 0.9


class RegularJson:
    """Remembers the shape of records from block to block."""

    def __init__(
        self, fields: Sequence[t.Field], reading: LeafReading, *, all_fields: bool
    ) -> None:
        self._fields = fields
        self._reading = reading
        self._all_fields = all_fields
        self._shape: Shape | None = None
        self._able = not any(_is_irregular(each.type) for each in fields)

    def read(self, records: pl.Series, index: pl.Series) -> QuickRows | None:
        shape = self._fitting(records) if self._able else None
        if shape is None:
            return None
        groups = records.str.extract_groups(shape.pattern).struct.unnest()
        found = _Found(groups, self._reading)
        columns = [
            found.column(part, each.type).alias(each.name)
            for part, each in zip(shape.parts, self._fields, strict=True)
        ]
        sure = groups[str(shape.matched)].is_not_null().to_numpy() & found.sure
        return QuickRows(columns, index).only(sure)

    def _fitting(self, records: pl.Series) -> Shape | None:
        """The shape that most of the records have."""
        some = records.gather_every(max(1, records.len() // _LOOKED_AT))
        if not _fits(self._shape, some):
            shape = learn(some[0], self._fields, all_fields=self._all_fields)
            self._shape = shape if _fits(shape, some) else None
        return self._shape


def _is_irregular(type_: t.DataType) -> bool:
    """Whether documents with such a value do not all look alike."""
    if isinstance(type_, t.Row) and not isinstance(type_, PartialRow):
        return any(_is_irregular(each.type) for each in type_.fields)
    return isinstance(type_, NESTED)


def _fits(shape: Shape | None, records: pl.Series) -> bool:
    if shape is None:
        return False
    try:
        found = records.str.contains(shape.pattern).sum()
    except pl.exceptions.ComputeError:
        return False  # with hundreds of fields it may be too large for Polars
    return found >= _MOST * records.len()


class _Found:
    """The groups of a pattern in some records, as columns."""

    def __init__(self, groups: pl.DataFrame, reading: LeafReading) -> None:
        self._groups = groups
        self._reading = reading
        # The records whose values so far are right.
        self.sure = np.ones(groups.height, np.bool_)

    def column(self, part: Part | None, type_: t.DataType) -> pl.Series:
        match part:
            case LeafPart():
                return self._leaf(part, type_)
            case RowPart():
                assert isinstance(type_, t.Row)
                return self._row(part, type_)
            case _:
                return pl.repeat(None, self._groups.height, dtype=dtype(type_), eager=True)

    def _leaf(self, leaf: LeafPart, type_: t.DataType) -> pl.Series:
        text = self._groups[str(leaf.group)]
        values, sure = self._reading.leaf(type_).read(text, numbers_only=not leaf.quoted)
        if sure is not None:
            self.sure &= sure
        return values

    def _row(self, inner: RowPart, type_: t.Row) -> pl.Series:
        names = safe_names([each.name for each in type_.fields])
        columns = [
            self.column(part, each.type).alias(name)
            for part, each, name in zip(inner.parts, type_.fields, names, strict=True)
        ]
        there = self._groups[str(inner.group)].is_not_null()
        return pl.select(pl.when(there).then(pl.struct(columns))).to_series()
