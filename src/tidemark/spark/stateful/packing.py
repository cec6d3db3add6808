"""Rows to few large binary values and back: what the workers do around the shuffle.

Spark exchanges a row at a time, at a cost to Python for each. A packed row contains some ten
thousand rows of one key group as an Arrow stream, so the cost is per key group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.kernels.hashing import xxhash64
from tidemark.runtime.combining import Combine, gathered, gathered_frames
from tidemark.runtime.partition_marks import MARKED
from tidemark.runtime.payloads import unwrapped
from tidemark.runtime.source_report import SourceReport
from tidemark.runtime.times import called, event_times, in_schema, milliseconds, polars_schema
from tidemark.spark.stateful.added import Added, ClockMillis, with_added
from tidemark.spark.stateful.counted import Opener
from tidemark.spark.stateful.exchange import IN_ROWS, Exchange
from tidemark.spark.stateful.late_columns import LATE
from tidemark.spark.stateful.modules import freeze_loaded_objects
from tidemark.spark.stateful.passing import along, inputs_of, late_along

BUCKET = "bucket"
INPUT = "input"
PARTITION = "partition"
POSITION = "position"
PAYLOAD = "payload"

PACKED_DDL = f"{BUCKET} INT, {INPUT} INT, {PARTITION} INT, {POSITION} BIGINT, {PAYLOAD} BINARY"
PACKED = pa.schema(
    [
        (BUCKET, pa.int32()),
        (INPUT, pa.int32()),
        (PARTITION, pa.int32()),
        (POSITION, pa.int64()),
        (PAYLOAD, pa.binary()),
    ]
)
# Packs rows that a key group emits for the operator above, given the label of the group and the
# watermark that follows its rows, or BEFORE_ALL.
FramesRepacked = Callable[[Iterator[pl.DataFrame], int, int], Iterator[pa.RecordBatch]]
TICK = -1  # the `input` of rows that only report that time has passed
# A packed row whose `input` is this, plus the number of an input, reports how many of its rows were
# left out, in place of its position.
LEFT_OUT = -(1 << 30)
# So many rows are packed at a time. Each file of packed rows takes nearly a millisecond.
_AT_ONCE = 1 << 19
# A packed row without a payload reports the watermark of its partition, in place of its position.


@dataclass(frozen=True, slots=True)
class Pack:
    """Packs the rows of a partition, for `DataFrame.mapInArrow`.

    The time column becomes integer milliseconds, even if it is not packed itself. Each packed row
    has its partition and its position in it, so that arrival order survives the shuffle. At the
    end, every key group is told the partition's watermark, if it is known how many milliseconds it
    is behind the rows' times, or behind those of `watermark_column`. With
    `combine`, some batches are replaced by fewer rows that are equivalent for the kernel.
    """

    input: int
    labels: tuple[int, ...]
    schema: pa.Schema  # of the user's columns
    time_column: str | None
    behind_ms: int | None = None
    combine: Combine | None = None
    watermark_column: str | None = None
    payloads: Exchange = IN_ROWS
    passes: bool = False  # whether late rows that an operator has handed out go along
    # What the query calls the columns, for messages.
    names: Mapping[str, str] = field(default_factory=dict)
    # On the source, if its watermark is followed below what drops some of its rows.
    source: SourceReport | None = None
    # The position of the first row in its partition.
    first: int = 0

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        late: list[pa.RecordBatch] = []
        for packed in self.of_frames(self._frames(batches, partition, late), partition):
            yield from late
            late.clear()
            yield packed
        yield from late
        freeze_loaded_objects()

    def of_frames(self, frames: Iterator[pl.DataFrame], partition: int) -> Iterator[pa.RecordBatch]:
        """Packs frames with the columns that are packed, hashes, and the times."""
        position, watermark, left_out = self.first, BEFORE_ALL, 0
        self.payloads.forget_earlier_batches()
        combine = self.combine
        for frame in frames:
            rows = frame.select(*self.schema.names, HASH).with_columns(self._time(frame))
            watermark = max(watermark, self._watermark(self._followed(frame, rows)))
            combined = None if combine is None else combine.reduced(rows)
            if combined is None:
                combine, combined = None, rows
            elif combine is not None and combine.filters:
                left_out += rows.height - combined.height
            yield self._packed(combined, partition, position)
            position += rows.height
        if left_out:
            there = self.labels[partition % len(self.labels)]
            yield _record_batch([there], LEFT_OUT + self.input, partition, left_out, [None])
        if self.source is not None:
            watermark = max(watermark, self.source.watermark)
            yield from self._marks(self.source.marks, partition)
        if watermark > BEFORE_ALL:
            yield self.reported(self.labels, partition, watermark)

    def _marks(self, marks: Mapping[str, int], partition: int) -> Iterator[pa.RecordBatch]:
        """The watermarks of partitions that have their own, for all key groups."""
        there = list(self.labels)
        for name, mark in marks.items():
            yield _record_batch(
                there, MARKED + self.input, partition, mark, [name.encode() for _ in there]
            )

    def reported(self, there: Sequence[int], partition: int, watermark: int) -> pa.RecordBatch:
        """The watermark of a partition, for some key groups."""
        return _record_batch([*there], self.input, partition, watermark, [None for _ in there])

    def _frames(
        self, batches: Iterator[pa.RecordBatch], partition: int, late: list[pa.RecordBatch]
    ) -> Iterator[pl.DataFrame]:
        """The rows without late ones, which are added to a list."""
        # State outlives a session's time zone, which Spark puts into the types of timestamps.
        schema = self.schema.append(pa.field(HASH, pa.int64()))
        for table in self._tables(batches):
            if self.passes:
                late += self._passed(table, partition)
                table = table.filter(table.column(LATE).is_null())
            rows = _from_arrow(table.select(schema.names).cast(schema))
            unseen = (n for n in (self.time_column, self.watermark_column) if n is not None)
            others = [name for name in dict.fromkeys(unseen) if name not in rows.columns]
            yield rows.hstack(_from_arrow(table.select(others))) if others else rows

    def _tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The rows in pieces: as they arrive, or as many as are worth combining."""
        return gathered(batches) if self.combine is not None else gathered(batches, _AT_ONCE)

    def _passed(self, table: pa.Table, partition: int) -> Iterator[pa.RecordBatch]:
        """Late rows, which any key group may pass on."""
        there = self.labels[partition % len(self.labels)]
        late = table.filter(table.column(LATE).is_valid())
        for number, payload in inputs_of(late):
            yield _record_batch([there], number, partition, 0, [payload])

    def _followed(self, frame: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
        """The times that the watermark follows."""
        if self.watermark_column is None:
            return rows[TIME]
        return milliseconds(frame[self.watermark_column])

    def _watermark(self, times: pl.Series) -> int:
        """The largest watermark of a row."""
        latest = times.max()
        if self.behind_ms is None or latest is None:
            return BEFORE_ALL
        assert isinstance(latest, int)
        # Spark's watermark starts at 0, and nothing is before that.
        return latest - self.behind_ms if latest > self.behind_ms else BEFORE_ALL

    def _time(self, frame: pl.DataFrame) -> pl.Series:
        if self.time_column is None:
            return pl.Series(TIME, np.zeros(frame.height, dtype=np.int64))
        rows = frame.select(self.schema.names)
        return event_times(frame[self.time_column], rows, self.names)

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


def _record_batch(
    labels: list[int], input_: int, partition: int, position: int, payloads: Sequence[bytes | None]
) -> pa.RecordBatch:
    count = len(labels)
    columns = [labels, [input_] * count, [partition] * count, [position] * count, payloads]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, PACKED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PACKED)


def _from_arrow(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


@dataclass(frozen=True, slots=True)
class Unpack:
    """Gives back the rows of packed output, for `DataFrame.mapInArrow` or without it. Packed
    output that is `kept` may be opened again. If it `passes` late rows, they go along."""

    schema: pa.Schema
    kept: bool = False
    passes: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = self.opened(batch.column(PAYLOAD))
            yield from map(along, rows) if self.passes else rows
            if self.passes:
                yield late_along(batch.filter(batch.column(LATE).is_valid()), self.schema)
        freeze_loaded_objects()

    def opened(self, payloads: Iterable[pa.BinaryScalar]) -> Iterator[pa.RecordBatch]:
        for payload in payloads:
            if payload.is_valid:
                yield from in_schema(unwrapped(payload.as_py(), last=not self.kept), self.schema)

    def table(self, packed: pa.Table) -> pa.Table:
        """The rows of packed output that has been collected."""
        return pa.Table.from_batches(self.opened(packed.column(PAYLOAD)), self.schema)


@dataclass(frozen=True, slots=True)
class Repack:
    """Packs columns that workers make, and some `added` ones, by the hashes of their keys."""

    keys: tuple[str, ...]
    added: tuple[Added, ...]
    pack: Pack

    def opened(self, open_: Opener, report: SourceReport, first: int = 0) -> Opener:
        """For `DataFrame.mapInArrow`; the first row has this position in its partition."""
        pack = replace(self.pack, source=report, first=first)
        return lambda batches: pack(map(self._hashed, open_(batches)))

    def of_emitted(
        self, frames: Iterator[pl.DataFrame], schema: pa.Schema, label: int, watermark: int
    ) -> Iterator[pa.RecordBatch]:
        """The same for rows of a schema that a key group emits, which are not converted; and the
        watermark that follows them, unless it is BEFORE_ALL.

        All key groups know the same watermark. So it is enough if each one reports it to the one of
        the same label.
        """
        yield from self._of_frames(frames, schema, label)
        if watermark > BEFORE_ALL:
            yield self.pack.reported([label], label, watermark)

    def _of_frames(
        self, frames: Iterator[pl.DataFrame], schema: pa.Schema, partition: int
    ) -> Iterator[pa.RecordBatch]:
        types = polars_schema(schema)
        if self.pack.combine is not None:
            frames = gathered_frames(frames)
        some = (called(frame, schema).cast(types) for frame in frames if frame.height)
        known = (self._beside(frame, schema) for frame in some)
        return self.pack.of_frames(known, partition)

    def _hashed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        whole = with_added(rows, self.added)
        hashes = xxhash64([whole.column(key) for key in self.keys])
        return pa.RecordBatch.from_arrays(
            [*whole.columns, pa.array(hashes)], names=[*whole.schema.names, HASH]
        )

    def _beside(self, rows: pl.DataFrame, schema: pa.Schema) -> pl.DataFrame:
        """The rows, next to what follows from a few of their columns."""
        asked = {*self.keys, *(c.column for c in self.added if isinstance(c, ClockMillis))}
        few = [name for name in schema.names if name in asked] or schema.names[:1]
        there = in_schema(rows.select(few), pa.schema(schema.field(name) for name in few))
        made = pa.Table.from_batches(map(self._hashed, there)).drop_columns(few)
        return rows.hstack(_from_arrow(made))
