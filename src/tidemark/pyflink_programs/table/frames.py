"""Frames of pandas as tables."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.dialect import quoted_name
from tidemark.pyflink.api.table.types import DataType, RowType, sql_of


def select(
    name: str,
    columns: Sequence[str],
    schema: DataType | Sequence[str] | Sequence[DataType] | None,
) -> str:
    """The query of a table that gives its columns other names or types."""
    wanted = _wanted(columns, schema)
    pairs = zip(columns, wanted, strict=True)
    return f"SELECT {', '.join(_item(column, *each) for column, each in pairs)} FROM {name}"


def _wanted(
    columns: Sequence[str], schema: DataType | Sequence[str] | Sequence[DataType] | None
) -> list[tuple[str, DataType | str | None]]:
    if isinstance(schema, RowType):
        return [(field.name, field.data_type) for field in schema.fields]
    if isinstance(schema, DataType):
        raise TypeError("the schema of several columns is DataTypes.ROW([...])")
    wanted: list[tuple[str, DataType | str | None]] = []
    for column, given in zip(columns, schema or columns, strict=True):
        wanted.append((column, given) if isinstance(given, DataType) else (str(given), None))
    return wanted


def _nullable(type_: DataType | str) -> DataType | str:
    """SQL casts to nullable types only."""
    return type_ if isinstance(type_, str) else type_.nullable()


def _item(column: str, name: str, type_: DataType | str | None) -> str:
    value = quoted_name(column)
    if type_ is not None:
        value = f"CAST({value} AS {sql_of(_nullable(type_))})"
    return f"{value} AS {quoted_name(name)}"
