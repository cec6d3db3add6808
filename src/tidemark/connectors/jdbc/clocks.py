"""TIMESTAMP columns whose values are instants in the database, such as its `timestamptz`.

Flink's connector has no TIMESTAMP_LTZ, so its tables declare such columns as TIMESTAMP: what clocks
show in the machine's time zone. Here it is the session's, which is the machine's by default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tidemark.connectors.jdbc.contract import Dialect, StoredColumn
from tidemark.kernels.columns import KIND
from tidemark.types import DataType, Timestamp, TimestampLtz

if TYPE_CHECKING:
    import polars as pl


def exchanged(dialect: Dialect, column: StoredColumn, type_: DataType) -> DataType:
    """The type in which values of a table's column come from the database, and go there."""
    if isinstance(type_, Timestamp) and column.type == dialect.instants:
        return TimestampLtz(type_.precision)
    return type_


def as_clocks(rows: pl.DataFrame, types: Mapping[str, DataType], zone: str) -> pl.DataFrame:
    """Rows that have come, whose instants are clock times where these types say so."""
    import polars as pl

    from tidemark.columns.moments import to_clock

    instants = [
        column
        for column, type_ in types.items()
        if isinstance(type_, Timestamp) and _is_instant(rows.schema[column])
    ]
    return rows.with_columns(to_clock(pl.col(column), zone) for column in instants)


def as_instants(rows: pl.DataFrame, types: Sequence[DataType], zone: str) -> pl.DataFrame:
    """Rows that go, whose clock times are instants where these types say so: the later of two, if
    clocks show a time twice, as in Flink."""
    import polars as pl

    from tidemark.columns.moments import to_instant

    columns = [column for column in rows.columns if column != KIND]
    clocks = [
        column
        for column, type_ in zip(columns, types, strict=True)
        if isinstance(type_, TimestampLtz) and not _is_instant(rows.schema[column])
    ]
    return rows.with_columns(to_instant(pl.col(column), zone, "latest") for column in clocks)


def _is_instant(type_: pl.DataType) -> bool:
    import polars as pl

    return isinstance(type_, pl.Datetime) and type_.time_zone is not None
