"""How a stream learns that a bounded input has ended.

Spark's watermark follows the rows it sees, so the last rows of a bounded input would wait forever.
A bounded source is therefore read together with a folder that stays empty until the source has been
read to its end: then one marker row in it, with the largest possible time, advances the watermark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.spark.moments import END_MS
from tidemark.spark.remote import is_remote
from tidemark.storage import Location, is_local

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from tidemark.spark.source_watermarks import FollowedSource


def end_folder_ready(spark: SparkSession, folder: str) -> None:
    """Create the folder of an input's end marker, wherever Spark's files are."""
    if _is_reached(spark, folder):
        Location.of(folder).make()
    else:
        spark.createDataFrame([], "ended BOOLEAN").write.mode("ignore").json(folder)


def announce_end(spark: SparkSession, folder: str) -> bool:
    """Mark the input as read to its end, once more if that has been done before. Returns whether it
    is known that it has not.

    A start may have read the marker of an earlier one that was killed before the micro-batches in
    which operators learn of it. Spark runs those only after a micro-batch of the same start, so
    there must be something to read.
    """
    if _is_reached(spark, folder):
        there = len(Location.of(folder).names())
        name = f"end-{there}.json" if there else "end.json"
        (Location.of(folder) / name).write(b'{"ended":true}\n')
        return not there
    spark.sql("SELECT true AS ended").coalesce(1).write.mode("append").json(folder)
    return False


def _is_reached(spark: SparkSession, folder: str) -> bool:
    """Whether this process has the folder, too: it needs no job of Spark to write to it."""
    return is_local(folder) and not is_remote(spark)


def with_watermark(
    frame: DataFrame,
    column: str,
    end_folder: str | None = None,
    source: FollowedSource | None = None,
) -> DataFrame:
    """The frame with `column` (a TIMESTAMP) as its watermark; with the input's end, if bounded.

    Only rows of the frame are emitted, not the marker row. What Spark sees of the watermark is
    observed for the `source`.
    """
    if end_folder is None:
        return followed(frame, column, source)
    from pyspark.sql import functions as f

    end = f.timestamp_millis(f.lit(END_MS))
    marked = followed(frame.unionByName(_end(frame, column, end_folder)), column, source)
    # The filter uses the watermark column: Spark pushes any other filter below the watermark, which
    # then would never see the marker.
    return marked.where(f.col(column).isNull() | (f.col(column) < end))


def with_watermark_beside(
    frame: DataFrame,
    marks: DataFrame,
    end_folder: str | None,
    source: FollowedSource | None = None,
) -> DataFrame:
    """The frame with a watermark that comes beside its rows: in the only column of `marks`.

    Only rows of the frame are emitted.
    """
    from pyspark.sql import functions as f

    [column] = marks.columns
    start = f.timestamp_millis(f.lit(0))
    rows = frame.withColumn(column, start)
    beside = rows.unionByName(_only(rows, column, marks, f.col(column)))
    if end_folder is not None:
        beside = beside.unionByName(_end(rows, column, end_folder))
    marked = followed(beside, column, source)
    # As above: the filter must not be pushed below the watermark.
    return marked.where(f.col(column) <= start).drop(column)


def followed(frame: DataFrame, column: str, source: FollowedSource | None) -> DataFrame:
    """The frame with `column` as its watermark, which is observed for the `source`."""
    seen = frame if source is None else source.observed(frame, column)
    return seen.withWatermark(column, "0 seconds")


def _end(frame: DataFrame, column: str, folder: str) -> DataFrame:
    """The row that marks the end of the input, like those of a frame."""
    from pyspark.sql import functions as f

    markers = end_markers(frame.sparkSession, folder)
    return _only(frame, column, markers, f.timestamp_millis(f.lit(END_MS)))


def end_markers(spark: SparkSession, folder: str) -> DataFrame:
    """A stream with a row as soon as the end of an input is announced."""
    return spark.readStream.schema("ended BOOLEAN").json(folder)


def _only(frame: DataFrame, column: str, markers: DataFrame, value: Column) -> DataFrame:
    """Markers as rows like those of a frame, with a value in one column."""
    from pyspark.sql import functions as f

    return markers.select(
        *(
            (value if field.name == column else f.lit(None).cast(field.dataType)).alias(field.name)
            for field in frame.schema.fields
        )
    )
