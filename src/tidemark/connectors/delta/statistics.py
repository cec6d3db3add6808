"""What the log of a table says about the values in its files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.connectors.delta.values import value_of
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.statistics import (
    ColumnStatistics,
    StatisticsTest,
    bounds_of,
    unknown_bound,
)
from tidemark.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Values = Mapping[str, str | None]

# Decimals are in the log as numbers of JSON, which writers take for DOUBLE.
_EXACT_DIGITS: Final = 15
# Times are there in milliseconds, and some writers round down, others towards 1970.
_CUT_TIME: Final = "1ms"
# Ends a string that is cut, so that it is greater than what it stands for: once this character,
# than which some are greater.
_CUT_STRING: Final = "\ufffd$"
_GREATEST: Final = "\U0010ffff"


def of_snapshot(
    test: StatisticsTest, actions: pa.Table, partitions: Sequence[Values]
) -> dict[str, ColumnStatistics]:
    """Of the files of a version, as delta-rs knows them."""
    columns = {name.lower(): name for name in actions.column_names}
    rows = _counts(actions, columns.get("num_records"))
    keys = _keys(partitions)

    def limits(part: str, field: FormatField) -> pl.Series:
        name = columns.get(f"{part}.{field.name.lower()}")
        if name is None:
            return unknown_bound(field.type, actions.num_rows)
        return bounds_of(actions[name].combine_chunks(), field)

    found = {}
    for field in test.fields:
        if field.name.lower() in keys:
            found[field.name] = _constant(field, partitions)
        elif "." not in field.name:  # else it may be the name of a field of a row
            nulls = _counts(actions, columns.get(f"null_count.{field.name.lower()}"))
            low, high = _widened(limits("min", field), limits("max", field), field.type)
            found[field.name] = ColumnStatistics.counted(low, high, nulls, rows)
    return found


def _counts(actions: pa.Table, name: str | None) -> list[int | None]:
    return [None] * actions.num_rows if name is None else actions[name].to_pylist()


def of_adds(test: StatisticsTest, adds: Sequence[Mapping[str, Any]]) -> dict[str, ColumnStatistics]:
    """Of the files that a version adds, as its log has them."""
    partitions = [add["partitionValues"] for add in adds]
    texts = [add.get("stats") for add in adds]
    said = [json.loads(text) if text else {} for text in texts]
    rows = [each.get("numRecords") for each in said]
    keys = _keys(partitions)
    found = {}
    for field in test.fields:
        if field.name.lower() in keys:
            found[field.name] = _constant(field, partitions)
            continue
        low, high, nulls = (
            [_of_column(each.get(part), field) for each in said]
            for part in ("minValues", "maxValues", "nullCount")
        )
        bounds = _widened(_series(low, field), _series(high, field), field.type)
        found[field.name] = ColumnStatistics.counted(*bounds, nulls, rows)
    return found


def _of_column(values: Any, field: FormatField) -> Any:
    there = {name.lower(): value for name, value in (values or {}).items()}
    return there.get(field.name.lower())


def _series(values: Sequence[Any], field: FormatField) -> pl.Series:
    return _read(["" if value is None else str(value) for value in values], field)


def _keys(partitions: Sequence[Values]) -> set[str]:
    return {name.lower() for values in partitions for name in values}


def _constant(field: FormatField, partitions: Sequence[Values]) -> ColumnStatistics:
    """Of a partition column, which has one value in a file."""
    texts = [_of_column(values, field) or "" for values in partitions]
    value = _read(texts, field)
    nulls = [int(not text) for text in texts]
    return ColumnStatistics.counted(value, value, nulls, [1] * len(texts))


def _read(texts: Sequence[str], field: FormatField) -> pl.Series:
    import polars as pl

    from tidemark.columns import polars_type

    try:
        values = [value_of(text, field.type) for text in texts]
        return pl.Series(values, dtype=polars_type(field.type))
    except (DataError, pl.exceptions.PolarsError, TypeError, ValueError, KeyError, OverflowError):
        return unknown_bound(field.type, len(texts))


def _widened(low: pl.Series, high: pl.Series, type_: t.DataType) -> tuple[pl.Series, pl.Series]:
    """Bounds of what writers may have made of these values."""
    match type_:
        case t.Timestamp() | t.TimestampLtz():
            return low.dt.offset_by(f"-{_CUT_TIME}"), high.dt.offset_by(_CUT_TIME)
        case t.Char() | t.VarChar():
            return low, high.str.replace(_CUT_STRING, _GREATEST)
        case t.Decimal(precision=precision) if precision > _EXACT_DIGITS:
            unknown = unknown_bound(type_, len(low))
            return unknown, unknown
    return low, high
