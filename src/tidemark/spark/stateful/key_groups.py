"""The key groups of an operator: its packed rows, grouped, and what workers make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl
import pyarrow as pa

from tidemark.runtime.bucket import Bucket
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.counted import Opener, Use
from tidemark.spark.stateful.deferred import Rows, made
from tidemark.spark.stateful.metrics import OUTPUT_DDL, REPORT, observed
from tidemark.spark.stateful.packing import BUCKET, PACKED_DDL, FramesRepacked, Repack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

    from tidemark.storage import Location

_CLOCK: Final = "clock"  # the processing time of a batch, in milliseconds
# What workers compute of rows, piece by piece.
Computed = Callable[[Iterator[pl.DataFrame]], Iterator[pl.DataFrame]]


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """Emits the rows of an operator: those of a micro-batch, with its state; or those of a batch,
    each key group in as many steps as its rows need.

    All rows of a batch have the same processing time. Spark reads the clock once, when the query
    starts, for all its operators and for PROCTIME().
    """

    packed: Rows
    bucket: Bucket
    name: str
    observation: Callable[[], Observation] | None  # of a batch
    computed: Computed | None = None
    # Where the ends of the inputs are announced, of which the groups of a stream learn in the
    # micro-batch that reads of them; None if there are others.
    ends: frozenset[str] | None = None
    # Where a stream keeps large parts of its state; in Spark's store if there is no such folder.
    segments: Location | None = None

    @property
    def streaming(self) -> bool:
        return bool(made(self.packed).isStreaming)

    def emitted(self) -> DataFrame:
        """The packed output with the reports of the groups."""
        return self._observed(self._called(None, OUTPUT_DDL))

    def repacked(self, repack: Repack, schema: pa.Schema) -> DataFrame:
        """What is computed of the output, with the columns of a schema, packed for the operator
        above; that of a stream with the watermarks that follow it."""
        computed = self.computed

        def repacked(
            frames: Iterator[pl.DataFrame], label: int, watermark: int
        ) -> Iterator[pa.RecordBatch]:
            rows = frames if computed is None else computed(frames)
            return repack.of_emitted(rows, schema, label, watermark)

        output = self._called(repacked, f"{PACKED_DDL}, {REPORT} STRING")
        return self._observed(output).where(f"{REPORT} IS NULL").drop(REPORT)

    def used(self, use: Use, rows: pa.Schema, schema: str, as_arrow: pa.Schema) -> DataFrame:
        """What is made of the rows that the groups of a batch emit, or of what is computed of them,
        by the workers that emit them, task by task. They are not written in between.
        """
        bucket, computed = self.bucket, self.computed

        def rows_of(frames: Iterator[pl.DataFrame]) -> Iterator[pa.RecordBatch]:
            from tidemark.runtime.times import in_schema

            for frame in frames if computed is None else computed(frames):
                if frame.height:
                    yield from in_schema(frame, rows)

        def all_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from tidemark.spark.stateful.at_once import run_and_use

            def opening(open_: Opener) -> Opener:
                return use(open_, SourceReport())

            yield from run_and_use(bucket, batches, _CLOCK, rows_of, opening, as_arrow)

        tasks = int(made(self.packed).sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
        exchanged = self._timed().repartition(tasks, BUCKET).sortWithinPartitions(BUCKET)
        output = exchanged.mapInArrow(all_groups, f"{schema}, {REPORT} STRING")
        return self._observed(output).where(f"{REPORT} IS NULL").drop(REPORT)

    def _called(self, repack: FramesRepacked | None, schema: str) -> DataFrame:
        packed = made(self.packed)
        if self.streaming:
            from tidemark.spark.stateful.host import Host

            return packed.groupBy(BUCKET).transformWithStateInPandas(
                statefulProcessor=Host(self.bucket, repack, self.segments),
                outputStructType=schema,
                outputMode="Append",
                timeMode="EventTime",
            )
        bucket = self.bucket

        def all_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from tidemark.spark.stateful.at_once import run, run_and_repack

            if repack is None:
                yield from run(bucket, batches, _CLOCK)
            else:
                yield from run_and_repack(bucket, batches, _CLOCK, repack)

        return self._timed().groupBy(BUCKET).applyInArrow(all_rows, schema)

    def _timed(self) -> DataFrame:
        from pyspark.sql import functions as f

        return made(self.packed).withColumn(_CLOCK, f.unix_millis(f.current_timestamp()))

    def _observed(self, output: DataFrame) -> DataFrame:
        return observed(output, self.name, self.observation and self.observation())
