"""Rows to few large binary values and back: what the workers do around the shuffle.

Spark exchanges a row at a time, at a cost to Python for each. A packed row contains some ten
thousand rows of one key group as an Arrow stream, so the cost is per key group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.errors import DataError
from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.spark.stateful.hashing import xxhash64
from tidemark.spark.stateful.modules import freeze_loaded_objects
from tidemark.spark.stateful.payloads import IN_ROWS, Payloads, unwrapped

BUCKET = "bucket"
INPUT = "input"
PARTITION = "partition"
POSITION = "position"
PAYLOAD = "payload"

PACKED_DDL = f"{BUCKET} INT, {INPUT} INT, {PARTITION} INT, {POSITION} BIGINT, {PAYLOAD} BINARY"
_PACKED = pa.schema(
    [
        (BUCKET, pa.int32()),
        (INPUT, pa.int32()),
        (PARTITION, pa.int32()),
        (POSITION, pa.int64()),
        (PAYLOAD, pa.binary()),
    ]
)
TICK = -1  # the `input` of rows that only report that time has passed
# A packed row without a payload reports the watermark of its partition, in place of its position.


# This many rows of a partition are combined at a time, or this many bytes: more rows are reduced
# more.
_CHUNK_ROWS, _CHUNK_BYTES = 1_000_000, 128 << 20


@dataclass(frozen=True, slots=True)
class Combine:
    """Reduces the number of rows, separately for each key group.

    With `if_fewer`, rows whose number it cannot halve are packed unchanged, and combined where they
    arrive.
    """

    made_of: Callable[[pl.DataFrame], pl.DataFrame]
    if_fewer: bool = False

    def pays(self, rows: pl.DataFrame, combined: pl.DataFrame) -> bool:
        return not self.if_fewer or combined.height <= rows.height // 2


@dataclass(frozen=True, slots=True)
class Pack:
    """Packs the rows of a partition, for `DataFrame.mapInArrow`.

    The time column becomes integer milliseconds, even if it is not packed itself. Each packed row
    has its partition and its position in it, so that arrival order survives the shuffle. At the
    end, every key group is told the partition's watermark, if it is known how many milliseconds it
    is behind the rows' times, or behind those of `watermark_column`, which is not packed. With
    `combine`, some batches are replaced by fewer rows that are equivalent for the kernel.
    """

    input: int
    labels: tuple[int, ...]
    schema: pa.Schema  # of the user's columns
    time_column: str | None
    behind_ms: int | None = None
    combine: Combine | None = None
    watermark_column: str | None = None
    payloads: Payloads = IN_ROWS

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        position, watermark = 0, BEFORE_ALL
        self.payloads.forget_earlier_batches()
        # State outlives a session's time zone, which Spark puts into the types of timestamps.
        schema = self.schema.append(pa.field(HASH, pa.int64()))
        combine = self.combine
        for table in self._tables(batches):
            rows = _from_arrow(table.select(schema.names).cast(schema))
            rows = rows.with_columns(self._time(table, rows))
            watermark = max(watermark, self._watermark(self._followed(table, rows)))
            combined = combine.made_of(rows) if combine else rows
            if combine and not combine.pays(rows, combined):
                combine, combined = None, rows
            yield self._packed(combined, partition, position)
            position += rows.height
        if watermark > BEFORE_ALL:
            yield self._told(partition, watermark)
        freeze_loaded_objects()

    def _tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The rows in pieces: as they arrive, or as many as are worth combining."""
        if self.combine is not None:
            return gathered(batches)
        return (pa.Table.from_batches([batch]) for batch in batches)

    def _followed(self, table: pa.Table, rows: pl.DataFrame) -> pl.Series:
        """The times that the watermark follows."""
        if self.watermark_column is None:
            return rows[TIME]
        return milliseconds(_column(table, self.watermark_column))

    def _watermark(self, times: pl.Series) -> int:
        """The largest watermark of a row."""
        latest = times.max()
        if self.behind_ms is None or latest is None:
            return BEFORE_ALL
        assert isinstance(latest, int)
        # Spark's watermark starts at 0, and nothing is before that.
        return latest - self.behind_ms if latest > self.behind_ms else BEFORE_ALL

    def _told(self, partition: int, watermark: int) -> pa.RecordBatch:
        there = [*self.labels]
        return _record_batch(there, self.input, partition, watermark, [None for _ in there])

    def _time(self, table: pa.Table, rows: pl.DataFrame) -> pl.Series:
        if self.time_column is None:
            return pl.Series(TIME, np.zeros(rows.height, dtype=np.int64))
        times = milliseconds(_column(table, self.time_column)).alias(TIME)
        if times.null_count():
            row = rows.filter(times.is_null()).drop(HASH).row(0, named=True)
            raise DataError(
                "the time attribute of a row is NULL",
                notes={"column": self.time_column, "row": row},
                hint="filter such rows, or replace NULL with a value",
            )
        return times

    def _packed(self, rows: pl.DataFrame, partition: int, position: int) -> pa.RecordBatch:
        # Numbers of a byte or two are sorted by counting.
        small = np.min_scalar_type(len(self.labels))
        bucket = (rows[HASH].to_numpy() % len(self.labels)).astype(small)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(len(self.labels) + 1))
        grouped = rows[order]
        there = [b for b in range(len(self.labels)) if bounds[b] < bounds[b + 1]]
        parts = [grouped[int(bounds[b]) : int(bounds[b + 1])] for b in there]
        payloads = [self.payloads.wrapped(part, compressed=True) for part in parts]
        return _record_batch(
            [self.labels[b] for b in there], self.input, partition, position, payloads
        )


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in large pieces, each of which fits easily into a worker's memory."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _record_batch(
    labels: list[int], input_: int, partition: int, position: int, payloads: Sequence[bytes | None]
) -> pa.RecordBatch:
    count = len(labels)
    columns = [labels, [input_] * count, [partition] * count, [position] * count, payloads]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _PACKED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_PACKED)


def _from_arrow(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _column(table: pa.Table, name: str) -> pl.Series:
    return _from_arrow(table.select([name])).to_series()


def milliseconds(times: pl.Series) -> pl.Series:
    """Timestamps as milliseconds since 1970, rounded down even before that."""
    assert isinstance(times.dtype, pl.Datetime)
    per_millisecond = {"ms": 1, "us": 1_000, "ns": 1_000_000}[times.dtype.time_unit]
    return times.cast(pl.Int64) // per_millisecond


@dataclass(frozen=True, slots=True)
class Unpack:
    """Gives back the rows of packed output, for `DataFrame.mapInArrow` or without it. Packed
    output that is `kept` may be opened again."""

    schema: pa.Schema
    kept: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self.opened(batch.column(PAYLOAD))
        freeze_loaded_objects()

    def opened(self, payloads: Iterable[pa.BinaryScalar]) -> Iterator[pa.RecordBatch]:
        for payload in payloads:
            if payload.is_valid:
                yield from in_schema(unwrapped(payload.as_py(), last=not self.kept), self.schema)

    def table(self, packed: pa.Table) -> pa.Table:
        """The rows of packed output that has been collected."""
        return pa.Table.from_batches(self.opened(packed.column(PAYLOAD)), self.schema)


def in_schema(frame: pl.DataFrame, schema: pa.Schema) -> list[pa.RecordBatch]:
    """The frame's rows with exactly the names and types that Spark expects, column by column;
    milliseconds as timestamps where needed.
    """
    columns = [
        (_as_timestamp(column) if _is_time(field) else column).alias(field.name)
        for column, field in zip(frame.get_columns(), schema, strict=True)
    ]
    table = pl.DataFrame(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
    batches: list[pa.RecordBatch] = table.cast(schema).to_batches()
    return batches


def _is_time(field: pa.Field) -> bool:
    return bool(pa.types.is_timestamp(field.type))


def _as_timestamp(times: pl.Series) -> pl.Series:
    """Kernels have milliseconds where Spark has timestamps."""
    whole = times.dtype == pl.Int64
    return (times * 1000).cast(pl.Datetime("us")) if whole else times


@dataclass(frozen=True, slots=True)
class Repack:
    """Packs the columns of an operator's output for the next one, for `DataFrame.mapInArrow`."""

    unpack: Unpack
    keys: tuple[str, ...]
    pack: Pack

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from self.pack(map(self._hashed, self.unpack(batches)))

    def _hashed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        hashes = xxhash64([rows.column(key) for key in self.keys])
        return pa.RecordBatch.from_arrays(
            [*rows.columns, pa.array(hashes)], names=[*rows.schema.names, HASH]
        )
