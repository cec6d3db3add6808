"""Records in Avro's binary encoding to columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats import avro_exact, avro_quick
from tidemark.formats.avro_quick import NotQuick, Records, name
from tidemark.formats.avro_schema import (
    Avro,
    BadSchema,
    Optional,
    Record,
    Tag,
    describe,
)
from tidemark.formats.avro_values import BadValue, converted, misfit
from tidemark.formats.column_types import dtype
from tidemark.formats.problems import cannot_read_field, cannot_read_record

# Fewer messages are read one by one if they cannot be all at once.
_FEW: Final = 8


class BadBlock(Exception):
    """What is wrong with a record: the number of its block among those given, and its own there."""

    def __init__(self, problem: str, why: str, block: int, number: int) -> None:
        super().__init__(why)
        self.problem, self.why, self.block, self.number = problem, why, block, number


class AvroColumns:
    """Reads records of one schema as the fields of a table. Raises BadSchema if they do not fit.

    As in Flink, fields are found by name, and those that records lack are NULL.
    """

    def __init__(self, written: Avro, fields: Sequence[t.Field]) -> None:
        self._record, self._fields = _flat(written), fields
        self._places = {field: place for place, (field, _) in enumerate(self._record.fields)}
        self._wanted = sorted({self._places[f.name] for f in fields if f.name in self._places})
        self._names = [name(place) for place in self._wanted]
        # A tag is read to be checked.
        tagged = any(isinstance(inner, Tag) for _, inner in self._record.fields)
        self._read = sorted({0, *self._wanted}) if tagged else self._wanted
        for field in fields:
            if (wrong := self._misfit(field)) is not None:
                raise BadSchema(f"{cannot_read_field(field.name, field.type.text())}: {wrong}")

    def _misfit(self, field: t.Field) -> str | None:
        if field.name not in self._places:
            return None if field.type.nullable else "it is missing, and the column is NOT NULL"
        return misfit(self._type_of(field), field.type)

    def _type_of(self, field: t.Field) -> Avro:
        return self._record.fields[self._places[field.name]][1]

    def __call__(self, blocks: Sequence[Records]) -> pl.DataFrame:
        """The rows of blocks of records, in order. Raises BadBlock."""
        if not self._wanted or not blocks:
            return self._without_columns(sum(count for count, _ in blocks))
        try:
            rows = self._quick(blocks)
        except NotQuick:
            rows = pl.concat([*self._one_by_one(blocks)])
        return self._columns(rows, [count for count, _ in blocks])

    def of_messages(self, values: pa.LargeBinaryArray) -> pl.DataFrame:
        """The rows of values that are a record each; there may be other bytes after it. Raises
        BadBlock, for which each value is a block.
        """
        if not self._wanted or not len(values):
            return self._without_columns(len(values))
        return self._columns(pl.concat([*self._messages(values)]), [1] * len(values))

    def _messages(self, values: pa.LargeBinaryArray, start: int = 0) -> Iterator[pl.DataFrame]:
        """Halves of halves, until those are small that have to be read one by one."""
        try:
            yield self._checked(avro_quick.read_messages(values, self._record, self._read))
        except NotQuick:
            if len(values) > _FEW and avro_quick.can_read(self._record):
                half = len(values) // 2
                yield from self._messages(values[:half], start)
                yield from self._messages(values[half:], start + half)
                return
            try:
                rows = avro_exact.read_messages(values.to_pylist(), self._record)
            except avro_exact.BadRecord as bad:
                problem = cannot_read_record("avro")
                raise BadBlock(problem, bad.why, start + bad.number - 1, 1) from None
            yield rows.select(self._names)

    def _without_columns(self, count: int) -> pl.DataFrame:
        nulls = [pl.repeat(None, count, dtype=dtype(f.type), eager=True) for f in self._fields]
        return pl.DataFrame(
            [each.alias(f.name) for each, f in zip(nulls, self._fields, strict=True)]
        )

    def _quick(self, blocks: Sequence[Records]) -> pl.DataFrame:
        return self._checked(avro_quick.read(blocks, self._record, self._read))

    def _checked(self, rows: pl.DataFrame) -> pl.DataFrame:
        _, first = self._record.fields[0]
        if isinstance(first, Tag) and not (rows[name(0)] == first.branch).all():
            raise NotQuick  # what follows is not a record
        return rows.select(self._names)

    def _one_by_one(self, blocks: Sequence[Records]) -> Iterator[pl.DataFrame]:
        """Each block for itself, and in those that have to be, each record."""
        for place, (count, data) in enumerate(blocks):
            try:
                yield self._quick([(count, data)])
            except NotQuick:
                try:
                    rows = avro_exact.read(count, data, self._record)
                except avro_exact.BadRecord as bad:
                    problem = cannot_read_record("avro")
                    raise BadBlock(problem, bad.why, place, bad.number) from None
                yield rows.select(self._names)

    def _columns(self, rows: pl.DataFrame, counts: Sequence[int]) -> pl.DataFrame:
        return pl.DataFrame([self._column(field, rows, counts) for field in self._fields])

    def _column(self, field: t.Field, rows: pl.DataFrame, counts: Sequence[int]) -> pl.Series:
        if field.name not in self._places:
            column = pl.repeat(None, rows.height, dtype=dtype(field.type), eager=True)
            return column.alias(field.name)
        values = rows[name(self._places[field.name])]
        try:
            return converted(values, self._type_of(field), field.type).alias(field.name)
        except BadValue as bad:
            problem, before = cannot_read_field(field.name, field.type.text()), bad.row
            for place, count in enumerate(counts):
                if before < count:
                    raise BadBlock(problem, bad.why, place, before + 1) from None
                before -= count
            raise


def _flat(written: Avro) -> Record:
    """Records as their fields, also if they are in a union with null, as Flink writes them."""
    match written:
        case Record():
            return written
        case Optional(Record(fields), null_first):
            return Record((("", Tag(1 if null_first else 0)), *fields))
    raise BadSchema(f"its records are not of a record type, but {describe(written)}")
