"""The key groups of a batch: an operator's packed rows, grouped, and what workers make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl
import pyarrow as pa

from tidemark.runtime.bucket import Bucket
from tidemark.spark.stateful.metrics import OUTPUT_DDL, REPORT, observed
from tidemark.spark.stateful.packing import BUCKET, PACKED_DDL, Repack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation
    from pyspark.sql.group import GroupedData

_CLOCK: Final = "clock"  # the processing time of a batch, in milliseconds
# What workers compute of rows, piece by piece.
Computed = Callable[[Iterator[pl.DataFrame]], Iterator[pl.DataFrame]]


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """Emits the rows of an operator, each key group in as many steps as its rows need.

    They all have the same processing time. Spark reads the clock once, when the query starts, for
    all its operators and for PROCTIME().
    """

    packed: DataFrame
    bucket: Bucket
    name: str
    observation: Callable[[], Observation] | None
    computed: Computed | None = None

    def emitted(self) -> DataFrame:
        """The packed output with the reports of the groups."""
        bucket = self.bucket

        def all_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from tidemark.spark.stateful.at_once import run

            yield from run(bucket, batches, _CLOCK)

        return self._observed(self._grouped.applyInArrow(all_rows, OUTPUT_DDL))

    def repacked(self, repack: Repack, schema: pa.Schema) -> DataFrame:
        """What is computed of the output, with the columns of a schema, packed for the operator
        above."""
        bucket, computed = self.bucket, self.computed

        def repacked(frames: Iterator[pl.DataFrame], label: int) -> Iterator[pa.RecordBatch]:
            rows = frames if computed is None else computed(frames)
            return repack.of_frames(rows, schema, label)

        def all_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from tidemark.spark.stateful.at_once import run_and_repack

            yield from run_and_repack(bucket, batches, _CLOCK, repacked)

        output = self._grouped.applyInArrow(all_rows, f"{PACKED_DDL}, {REPORT} STRING")
        return self._observed(output).where(f"{REPORT} IS NULL").drop(REPORT)

    @property
    def _grouped(self) -> GroupedData:
        from pyspark.sql import functions as f

        timed = self.packed.withColumn(_CLOCK, f.unix_millis(f.current_timestamp()))
        return timed.groupBy(BUCKET)

    def _observed(self, output: DataFrame) -> DataFrame:
        return observed(output, self.name, self.observation and self.observation())
