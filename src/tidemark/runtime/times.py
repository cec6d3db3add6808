"""Event times as kernels see them, and output with times as everything outside sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl
import pyarrow as pa

from tidemark.errors import DataError
from tidemark.kernels.columns import TIME

# A longer record is cut off.
_SHOWN: Final = 300
_AS_THEY_ARE: Final[Mapping[str, str]] = {}


def event_times(
    times: pl.Series, rows: pl.DataFrame, names: Mapping[str, str] = _AS_THEY_ARE
) -> pl.Series:
    """The event times of some rows, in milliseconds. Raises a DataError if one is NULL, with the
    `names` by which a query knows the columns.
    """
    if times.null_count():
        row = rows.filter(times.is_null()).head(1)
        record = row.select(as_json(row.schema, row.columns, names)).item()
        raise without_event_time(names.get(times.name, times.name), record)
    return milliseconds(times).alias(TIME)


def without_event_time(column: str, record: str, file: str | None = None) -> DataError:
    """The error for a record whose event time, this column, is NULL."""
    message, record = f"event time `{column}` is NULL", record.strip()
    return DataError(
        message if file is None else f"{file}  {message}",
        notes={
            "why": "every row of a stream needs an event time",
            "record": record if len(record) <= _SHOWN else record[:_SHOWN] + " ...",
        },
    )


def as_json(
    schema: pl.Schema, columns: Sequence[str], names: Mapping[str, str] = _AS_THEY_ARE
) -> pl.Expr:
    """Columns of a row as JSON, some with other names; bytes in Base64, as Spark writes them."""
    shown = []
    for name in columns:
        if schema[name] == pl.Binary:
            shown.append(pl.col(name).bin.encode("base64").alias(names.get(name, name)))
        elif "Binary" not in str(schema[name]):  # which Polars cannot write inside others
            shown.append(pl.col(name).alias(names.get(name, name)))
    return pl.struct(shown).struct.json_encode()


def milliseconds(times: pl.Series) -> pl.Series:
    """Timestamps as milliseconds since 1970, rounded down even before that."""
    assert isinstance(times.dtype, pl.Datetime)
    per_millisecond = {"ms": 1, "us": 1_000, "ns": 1_000_000}[times.dtype.time_unit]
    return times.cast(pl.Int64) // per_millisecond


def in_schema(frame: pl.DataFrame, schema: pa.Schema) -> list[pa.RecordBatch]:
    """The frame's rows with exactly the names and types that Spark expects, column by column;
    milliseconds as timestamps where needed.
    """
    table = called(frame, schema).to_arrow(compat_level=pl.CompatLevel.oldest())
    batches: list[pa.RecordBatch] = table.cast(schema).to_batches()
    return batches


def called(frame: pl.DataFrame, schema: pa.Schema) -> pl.DataFrame:
    """The frame with the names of a schema, and timestamps where that has them."""
    return pl.DataFrame(
        (_as_timestamp(column) if _is_time(field) else column).alias(field.name)
        for column, field in zip(frame.get_columns(), schema, strict=True)
    )


def polars_schema(schema: pa.Schema) -> pl.Schema:
    """The types that the columns of a schema have in Polars."""
    frame = pl.from_arrow(schema.empty_table())
    assert isinstance(frame, pl.DataFrame)
    return frame.schema


def _is_time(field: pa.Field) -> bool:
    return bool(pa.types.is_timestamp(field.type))


def _as_timestamp(times: pl.Series) -> pl.Series:
    """Kernels have milliseconds where Spark has timestamps."""
    whole = times.dtype == pl.Int64
    return (times * 1000).cast(pl.Datetime("us")) if whole else times
