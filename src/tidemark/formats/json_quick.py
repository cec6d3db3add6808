"""Records as JSON, as whole columns: those whose shape is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import dtype
from tidemark.formats.exact_values import Spelling
from tidemark.formats.json_reasons import MAX_NAME, MAX_NUMBER
from tidemark.formats.json_shapes import LeafPart, Part, RowPart, Shape, learn
from tidemark.formats.quick_values import converter
from tidemark.functions.spark_text import safe_names

# Shapes that are tried one after the other; records of further shapes take the exact way.
_SHAPES = 12
# How many records are looked at for another shape.
_LOOKED_AT = 8
# For fewer records the exact way takes less time than learning.
FEW = 32

_LONG_NUMBER = rf"[0-9][0-9.eE+-]{{{MAX_NUMBER - 1}}}"


@dataclass(frozen=True, slots=True)
class QuickRows:
    """The rows of some records: one for each."""

    columns: list[pl.Series]
    index: pl.Series  # of the record that a row is from


@dataclass(slots=True)
class _Work:
    """The records that remain, and the rows of the others."""

    rest: pl.DataFrame
    done: list[QuickRows] = field(default_factory=list)


class QuickJson:
    """Remembers the shapes that it has learned, from block to block."""

    def __init__(
        self,
        fields: Sequence[t.Field],
        spelling: Spelling,
        *,
        all_fields: bool = False,
        few: int = FEW,
    ) -> None:
        self._fields = fields
        self._spelling = spelling
        self._all_fields = all_fields
        self._few = few
        self._shapes: list[Shape] = []

    def read(self, text: pl.Series) -> list[QuickRows]:
        """Rows by shape. Records that are in none of them are left to the exact way."""
        work = _Work(_candidates(text))
        for shape in self._shapes:
            self._take(shape, work)
        while len(self._shapes) < _SHAPES and (found := self._another(work.rest)):
            self._shapes.append(found)
            self._take(found, work)
        return work.done

    def _another(self, rest: pl.DataFrame) -> Shape | None:
        """A shape of some of the records that have none yet."""
        if rest.height < self._few:
            return None
        known = {shape.pattern for shape in self._shapes}
        for record in rest["text"].gather_every(max(1, rest.height // _LOOKED_AT)):
            shape = learn(record, self._fields, all_fields=self._all_fields)
            if shape is not None and shape.pattern not in known and _compiles(shape):
                return shape
        return None

    def _take(self, shape: Shape, work: _Work) -> None:
        """Moves the records of a shape from those that remain to the rows."""
        if work.rest.is_empty():
            return
        groups = work.rest["text"].str.extract_groups(shape.pattern).struct.unnest()
        found = _Found(groups, self._spelling)
        columns = [
            found.column(part, each.type).alias(each.name)
            for part, each in zip(shape.parts, self._fields, strict=True)
        ]
        sure = groups[str(shape.matched)].is_not_null() & ~found.unsure
        index = work.rest["index"]
        if sure.all():
            work.done.append(QuickRows(columns, index))
            work.rest = work.rest.clear()
        elif sure.any():
            work.done.append(QuickRows([c.filter(sure) for c in columns], index.filter(sure)))
            work.rest = work.rest.filter(~sure)


def rest_of(count: int, done: Sequence[pl.Series]) -> pl.Series:
    """The indices of the records that are not done."""
    left = pl.repeat(True, count, dtype=pl.Boolean, eager=True)
    if sum(map(len, done)) == count:
        return left.clear().arg_true()
    for index in done:
        left = left.scatter(index, False)
    return left.arg_true()


def _candidates(text: pl.Series) -> pl.DataFrame:
    """The records that are within the parser's limits on names and numbers."""
    records = pl.DataFrame({"text": text, "index": pl.int_range(text.len(), eager=True)})
    size = text.str.len_bytes()
    longest = size.max()
    if not text.null_count() and isinstance(longest, int) and longest <= MAX_NUMBER:
        return records
    short = pl.lit(size) <= MAX_NUMBER
    usable = short | ((pl.lit(size) <= MAX_NAME) & ~pl.col("text").str.contains(_LONG_NUMBER))
    return records.filter(pl.col("text").is_not_null() & usable)


def _compiles(shape: Shape) -> bool:
    """Whether Polars accepts a pattern: one of hundreds of fields may be too large for it."""
    try:
        pl.Series([""]).str.extract_groups(shape.pattern)
    except pl.exceptions.ComputeError:
        return False
    return True


class _Found:
    """The groups of a pattern in some records, as columns."""

    def __init__(self, groups: pl.DataFrame, spelling: Spelling) -> None:
        self._groups = groups
        self._spelling = spelling
        # The records that have a string whose value is not sure.
        self.unsure = pl.repeat(False, groups.height, dtype=pl.Boolean, eager=True)

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
        convert = converter(type_, self._spelling, numbers_only=not leaf.quoted)
        values = convert(text)
        if values.null_count() > text.null_count():
            self.unsure |= text.is_not_null() & values.is_null()
        return values

    def _row(self, inner: RowPart, type_: t.Row) -> pl.Series:
        names = safe_names([each.name for each in type_.fields])
        columns = [
            self.column(part, each.type).alias(name)
            for part, each, name in zip(inner.parts, type_.fields, names, strict=True)
        ]
        there = self._groups[str(inner.group)].is_not_null()
        return pl.select(pl.when(there).then(pl.struct(columns))).to_series()
