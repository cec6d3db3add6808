"""Event times as kernels see them, and output with times as everything outside sees it."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from tidemark.errors import DataError
from tidemark.kernels.columns import TIME


def event_times(times: pl.Series, rows: pl.DataFrame) -> pl.Series:
    """The event times of some rows, in milliseconds. Raises a DataError if one is NULL."""
    if times.null_count():
        row = rows.filter(times.is_null()).row(0, named=True)
        raise DataError(
            "the time attribute of a row is NULL",
            notes={"column": times.name, "row": row},
            hint="filter such rows, or replace NULL with a value",
        )
    return milliseconds(times).alias(TIME)


def milliseconds(times: pl.Series) -> pl.Series:
    """Timestamps as milliseconds since 1970, rounded down even before that."""
    assert isinstance(times.dtype, pl.Datetime)
    per_millisecond = {"ms": 1, "us": 1_000, "ns": 1_000_000}[times.dtype.time_unit]
    return times.cast(pl.Int64) // per_millisecond


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
