"""The rows that an operator emits, in packed form.

Spark converts and copies each row several times before anything outside has it. Consumers of whole
columns unpack the rows themselves instead, in the workers or where they are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemark.errors import NotSupported
from tidemark.functions.arrow_types import to_arrow
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.counted import Opener, Read, ReadOnce, Use, counted
from tidemark.spark.stateful.deferred import Rows, made
from tidemark.spark.stateful.key_groups import KeyGroups
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.one_writer import ENCODED, ENCODED_DDL, Encode, EncodeRows
from tidemark.spark.stateful.packing import PACKED, PACKED_DDL, PAYLOAD, Repack, Unpack
from tidemark.spark.stateful.shared_reading import SharedReading
from tidemark.spark.types import from_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# What was written of a task's rows in one place, with a note about it.
TAKEN_DDL = "rows BIGINT, note STRING"
_TAKEN = pa.schema([("rows", pa.int64()), ("note", pa.string())])
# Takes the rows of a task. Returns how many there were in each place, with a note for the code that
# finishes the work when all tasks are done.
Take = Callable[[Iterator[pa.RecordBatch]], Iterator[tuple[int, str | None]]]


# Makes what reads the rows of a schema that the values of a frame name.
MakeRows = Callable[[pa.Schema], Read]


@dataclass(frozen=True, slots=True)
class PackedRows:
    """A frame of packed output, and the schema of its rows."""

    source: Rows
    schema: StructType
    # Whether large values are in files that the driver sees too. Otherwise a value may be as large
    # as all its rows, which is more than Spark should send to a client.
    in_files: bool
    # The columns of the late rows that are handed out, by the number of their outlet. They go
    # along with the rows.
    late: Mapping[int, StructType] = field(default_factory=dict)
    # Whether the frame is read more than once.
    kept: bool = False
    # Makes the rows where the frame has something else than these rows: what is to be read, or
    # what they are computed of.
    made: MakeRows | None = None
    # The same for workers that read once what several inputs need, and which reading that is.
    made_once: Callable[[pa.Schema], ReadOnce] | None = None
    reading: SharedReading | None = None
    # Whether the frame's own rows only name what is to be read; and the metric for its watermark,
    # if the sink of a stream waits for it.
    named: bool = False
    watermark: str | None = None
    # The key groups that emit the rows, and what is computed of them there.
    groups: KeyGroups | None = None

    @property
    def data(self) -> DataFrame:
        return made(self.source)

    @property
    def rows(self) -> DataFrame:
        return self.used(_as_they_are, self.row_schema, arrow_schema(self.row_schema))

    @property
    def row_schema(self) -> StructType:
        """That of the rows with late ones that go along."""
        from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

        late = [StructField(LATE, BinaryType()), StructField(OUTLET, IntegerType())]
        return StructType([*self.schema.fields, *(late if self.late else [])])

    @property
    def payloads(self) -> DataFrame:
        """What converts the packed output to rows."""
        return self.data.select(PAYLOAD)

    @property
    def unpack(self) -> Unpack:
        return Unpack(arrow_schema(self.schema), self.kept, passes=bool(self.late))

    def handed_out(self, number: int) -> PackedRows:
        """The late rows of the outlet with this number."""
        data = self.data.where(self.data[OUTLET] == number)
        late = data.select(data[LATE].alias(PAYLOAD))
        return replace(self, source=late, schema=self.late[number], late={})

    @property
    def alone(self) -> PackedRows:
        """The rows without late ones."""
        return replace(self, late={})

    def called(self, names: Sequence[str]) -> PackedRows:
        """The first columns under these names. All are nullable: padded rows have NULLs where
        the input never does.
        """
        from pyspark.sql.types import StructField, StructType

        columns = zip([*names, *self.schema.names[len(names) :]], self.schema.fields, strict=True)
        schema = StructType([StructField(name, field.dataType) for name, field in columns])
        return replace(self, schema=schema)

    def taken(self, take: Take, tasks: int | None = None) -> DataFrame:
        """The result of `take` for the rows, called on the workers, in as many tasks at most."""

        def taking(open_: Opener, _: SourceReport) -> Opener:
            return _Taking(open_, take)

        if tasks is None:
            return self._used_at_once(taking, TAKEN_DDL, _TAKEN)
        rows = replace(self, source=self.data.coalesce(tasks))
        return rows.used(taking, TAKEN_DDL, _TAKEN)

    def encoded(self, encode: Encode) -> DataFrame:
        """What `encode` makes of the rows on the workers, with how many rows that is of."""

        def encoding(open_: Opener, _: SourceReport) -> Opener:
            return EncodeRows(encode, open_)

        return self._used_at_once(encoding, ENCODED_DDL, ENCODED)

    def _used_at_once(self, use: Use, schema: str, as_arrow: pa.Schema) -> DataFrame:
        """The same as `used`; in a batch, by the tasks that emit the rows."""
        if self.emitter is None or self.emitter.streaming:
            return self.used(use, schema, as_arrow)
        return self.emitter.used(use, arrow_schema(self.schema), schema, as_arrow)

    def repacked(self, repack: Repack) -> DataFrame:
        """The rows packed for another operator: if possible where they are emitted, so that they
        are not written in between."""
        if self.emitter is None:
            return self.used(repack.opened, PACKED_DDL, PACKED)
        return self.emitter.repacked(repack, arrow_schema(self.schema))

    @property
    def emitter(self) -> KeyGroups | None:
        """The key groups, if they may pack the rows for another operator; then they report to it
        which watermark follows them."""
        return None if self.kept or self.late else self.groups

    def used(self, use: Use, schema: StructType | str, as_arrow: pa.Schema) -> DataFrame:
        """What workers make of the rows."""
        if self.made is None:
            return self.data.mapInArrow(use(self.unpack, SourceReport()), schema)
        read = self.made(arrow_schema(self.schema))
        if self.named and self.data.isStreaming:
            return counted(self.data, read, use, schema, as_arrow, self.watermark)
        report = SourceReport()
        return self.data.mapInArrow(use(lambda batches: read(batches, report), report), schema)


def _as_they_are(open_: Opener, _: SourceReport) -> Opener:
    return open_


@dataclass(frozen=True, slots=True)
class _Taking:
    open: Opener
    take: Take

    def __call__(self, packed: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows, note in self.take(self.open(packed)):
            yield pa.RecordBatch.from_pylist([{"rows": rows, "note": note}], schema=_TAKEN)


def arrow_schema(schema: StructType) -> pa.Schema:
    for column in schema.fields:
        if "YearMonthIntervalType" in str(column.dataType):
            raise NotSupported(
                f"INTERVAL YEAR TO MONTH is not supported in a stateful operator: {column.name}",
                notes={"why": "the libraries that store its state do not have this type"},
                hint="cast the column to a number of months, or omit it",
            )
    return pa.schema([(f.name, to_arrow(from_spark(f.dataType))) for f in schema.fields])
