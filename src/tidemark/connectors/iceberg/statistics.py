"""What the manifests of a table say about the values in its files."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.iceberg.tables import arrow_of
from tidemark.connectors.statistics import (
    ColumnStatistics,
    StatisticsTest,
    bounds_of,
    unknown_bound,
)

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema


def of_files(
    test: StatisticsTest, files: Sequence[DataFile], schema: Schema
) -> dict[str, ColumnStatistics]:
    """Of data files, whose metrics name columns by their numbers."""
    numbers = {own.name.lower(): own for own in schema.fields}
    types = {own.name.lower(): own.type for own in arrow_of(schema)}
    rows = [file.record_count for file in files]
    lows = [file.lower_bounds or {} for file in files]
    highs = [file.upper_bounds or {} for file in files]
    found = {}
    for field in test.fields:
        own, type_ = numbers.get(field.name.lower()), types.get(field.name.lower())
        if own is None or type_ is None or not own.field_type.is_primitive:
            continue
        low, high = (
            _bounds([_value(own.field_type, each.get(own.field_id)) for each in side], type_, field)
            for side in (lows, highs)
        )
        nulls = [(file.null_value_counts or {}).get(own.field_id) for file in files]
        found[field.name] = ColumnStatistics.counted(low, high, nulls, rows)
    return found


def _value(type_: Any, written: bytes | None) -> Any:
    """The value of bytes: of times, their number."""
    from pyiceberg.conversions import from_bytes

    if written is None:
        return None
    try:
        return from_bytes(type_, written)
    except (ValueError, struct.error):
        return None  # such as an INT in a file from before the column became a BIGINT


def _bounds(values: Sequence[Any], type_: pa.DataType, field: FormatField) -> pl.Series:
    import pyarrow as pa

    number = pa.int32() if pa.types.is_date32(type_) else pa.int64()
    try:
        made = pa.array(values, number if pa.types.is_temporal(type_) else type_)
        return bounds_of(made.cast(type_), field)
    except (pa.ArrowException, TypeError, ValueError):
        return unknown_bound(field.type, len(values))
