"""Packed rows without a payload, which report to key groups how far a source is; and the watermark
that Spark follows by those of sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.kernels.columns import AFTER_ALL
from tidemark.runtime.partition_marks import COUNTED
from tidemark.spark.moments import END_MS, WATERMARK
from tidemark.spark.partition_watermarks import MARKS
from tidemark.spark.stateful.end_of_input import end_markers, followed
from tidemark.spark.stateful.packing import BUCKET, INPUT, PARTITION, PAYLOAD, POSITION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from tidemark.spark.source_watermarks import FollowedSource


@dataclass(frozen=True, slots=True)
class SourceWatermark:
    """The watermark of a frame's only source, which is `behind_ms` behind the event time, or behind
    the TIMESTAMPs of `column`.

    Unless it is already `declared` on the frame, the operator declares it, with the end of its
    input at `end_folder` if that is bounded; then nothing below may have dropped rows. Nor does
    that matter if it is not known from the rows, but comes in a frame: that `of_partitions`.
    """

    behind_ms: int
    declared: bool = True
    end_folder: str | None = None
    column: str | None = None
    of_partitions: DataFrame | None = None
    # What the driver calls the source where the operator declares its watermark.
    source: FollowedSource | None = None


@dataclass(frozen=True, slots=True)
class Receiver:
    """An input of an operator, the labels of its key groups, and what else is in the columns of a
    packed row for it."""

    input: int
    labels: tuple[int, ...]
    more: Mapping[str, int] = field(default_factory=dict)


def with_watermark_of(
    packed: DataFrame, watermark: SourceWatermark, receivers: Sequence[Receiver]
) -> DataFrame:
    """The packed rows of a source, with a watermark that Spark follows by their reports, or that
    `of_partitions`; that one, and the end of the source, if it is bounded, are reported to each key
    group of the receivers. So these know of them in the micro-batch that reads the marker: Spark's
    watermark is there in the next one.
    """
    from pyspark.sql import functions as f

    start = f.timestamp_millis(f.lit(0))
    if watermark.of_partitions is None:
        time = f.when(f.col(PAYLOAD).isNull(), f.timestamp_millis(POSITION))
        marked = packed.withColumn(WATERMARK, f.coalesce(time, start))
    else:
        marked = packed.withColumn(WATERMARK, start)
        marked = marked.unionByName(_of_partitions(watermark.of_partitions, receivers))
    if watermark.end_folder is not None:
        markers = end_markers(packed.sparkSession, watermark.end_folder)
        ends = reports(markers, AFTER_ALL, receivers)
        marked = marked.unionByName(ends.withColumn(WATERMARK, f.timestamp_millis(f.lit(END_MS))))
    return followed(marked, WATERMARK, watermark.source).drop(WATERMARK)


def _of_partitions(marks: DataFrame, receivers: Sequence[Receiver]) -> DataFrame:
    """The watermarks in a frame, with those of the partitions that count."""
    from pyspark.sql import functions as f

    ms = f.unix_millis(WATERMARK)
    position = f.when(ms >= END_MS, f.lit(AFTER_ALL)).otherwise(ms)
    made = reports(marks, position, receivers, (WATERMARK, MARKS))
    counted = (f.col(INPUT) + COUNTED).cast("int")
    return made.withColumns({INPUT: counted, PAYLOAD: f.encode(MARKS, "UTF-8")}).drop(MARKS)


def reports(
    rows: DataFrame,
    position: int | Column,
    receivers: Sequence[Receiver],
    kept: Sequence[str] = (),
) -> DataFrame:
    """For each of some rows a packed row without a payload for each key group of the receivers,
    with the columns that are `kept`."""
    from pyspark.sql import functions as f

    there = (
        f.struct(
            f.lit(label).alias(BUCKET),
            f.lit(receiver.input).alias(INPUT),
            *(f.lit(value).alias(name) for name, value in receiver.more.items()),
        )
        for receiver in receivers
        for label in receiver.labels
    )
    at = (f.lit(position) if isinstance(position, int) else position).cast("bigint")
    each = rows.select(f.explode(f.array(*there)).alias("there"), at.alias(POSITION), *kept)
    return each.select("there.*", POSITION, *kept).withColumns(
        {PARTITION: f.lit(0), PAYLOAD: f.lit(None).cast("binary")}
    )
