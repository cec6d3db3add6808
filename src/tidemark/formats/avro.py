"""Records in Avro's binary encoding to columns of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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
    parsed,
    schema_of,
)
from tidemark.formats.avro_values import BadValue, converted, misfit
from tidemark.formats.column_types import dtype
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.problems import cannot_read_field, cannot_read_record, data_error

LEGACY: Final = "avro.timestamp_mapping.legacy"


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
        for field in fields:
            if (wrong := self._misfit(field)) is not None:
                raise BadSchema(f"{cannot_read_field(field.name, field.type.text())}: {wrong}")

    def _misfit(self, field: t.Field) -> str | None:
        if field.name not in self._places:
            return None if field.type.nullable else "it is missing, and the column is NOT NULL"
        return misfit(self._type_of(field), field.type)

    def _type_of(self, field: t.Field) -> Avro:
        return self._record.fields[self._places[field.name]][1]

    def __call__(self, blocks: Sequence[Records], *, are_blocks: bool = True) -> pl.DataFrame:
        """The rows of blocks of records, in order. If they are no blocks but single records, there
        may be other bytes after each. Raises BadBlock.
        """
        wanted = sorted(self._places[f.name] for f in self._fields if f.name in self._places)
        if not wanted or not blocks:
            return self._without_columns(sum(count for count, _ in blocks))
        try:
            rows = self._quick(blocks, wanted)
        except NotQuick:
            rows = pl.concat([*self._one_by_one(blocks, wanted, are_blocks)])
        return pl.DataFrame([self._column(field, rows, blocks) for field in self._fields])

    def _without_columns(self, count: int) -> pl.DataFrame:
        nulls = [pl.repeat(None, count, dtype=dtype(f.type), eager=True) for f in self._fields]
        return pl.DataFrame(
            [each.alias(f.name) for each, f in zip(nulls, self._fields, strict=True)]
        )

    def _quick(self, blocks: Sequence[Records], wanted: Sequence[int]) -> pl.DataFrame:
        _, first = self._record.fields[0]
        if not isinstance(first, Tag):
            return avro_quick.read(blocks, self._record, wanted)
        rows = avro_quick.read(blocks, self._record, [0, *wanted])
        if not (rows[name(0)] == first.branch).all():
            raise NotQuick  # what follows is no record
        return rows

    def _one_by_one(
        self, blocks: Sequence[Records], wanted: Sequence[int], are_blocks: bool
    ) -> Iterator[pl.DataFrame]:
        """Each block for itself, and in those that have to be, each record."""
        columns = [name(place) for place in wanted]
        for place, (count, data) in enumerate(blocks):
            try:
                yield self._quick([(count, data)], wanted).select(columns)
            except NotQuick:
                try:
                    rows = avro_exact.read(count, data, self._record, is_block=are_blocks)
                except avro_exact.BadRecord as bad:
                    problem = cannot_read_record("avro")
                    raise BadBlock(problem, bad.why, place, bad.number) from None
                yield rows.select(columns)

    def _column(self, field: t.Field, rows: pl.DataFrame, blocks: Sequence[Records]) -> pl.Series:
        if field.name not in self._places:
            column = pl.repeat(None, rows.height, dtype=dtype(field.type), eager=True)
            return column.alias(field.name)
        values = rows[name(self._places[field.name])]
        try:
            return converted(values, self._type_of(field), field.type).alias(field.name)
        except BadValue as bad:
            problem, before = cannot_read_field(field.name, field.type.text()), bad.row
            for place, (count, _) in enumerate(blocks):
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


class AvroDecoder:
    """Decodes blocks that have a record in each value, in the schema of the table, as in Kafka's
    messages. There are no lines in Avro.
    """

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = 1
    ) -> None:
        legacy = bool(options.get(LEGACY, True))
        self._fields = fields
        self._read = AvroColumns(parsed(json.dumps(schema_of(fields, legacy=legacy))), fields)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        assert isinstance(block, pa.Array)
        there = block.is_valid()
        records = [(1, value) for value in block.filter(there).to_pylist()]
        try:
            rows = self._read(records, are_blocks=False)
        except BadBlock as bad:
            number = pl.Series(there).arg_true()[bad.block] + first
            raise data_error(bad.problem, why=bad.why, file=file, number=number) from None
        index = pl.from_arrow(there)
        assert isinstance(index, pl.Series)
        return Decoded(rows, index.arg_true().cast(pl.Int64) + first, records=len(block))
