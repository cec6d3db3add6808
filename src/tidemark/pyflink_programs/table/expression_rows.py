"""Rows that a program has as expressions: `row(1, "a")`."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.dialect import quoted_name
from tidemark.pyflink.api.table.types import DataType, RowType, sql_of
from tidemark.pyflink_programs.table.expression import Expression, Writing, listed


def values_of(rows: Sequence[Expression], schema: DataType | Sequence[str] | None) -> str:
    """The query with these rows, with the names and types of the schema."""
    parts = [each._parts or (each,) for each in rows]
    columns = [f"f{place}" for place in range(len(parts[0]))]
    values = ",\n".join(f"({listed(each, Writing())})" for each in parts)
    items = ", ".join(_items(columns, schema))
    return f"SELECT {items} FROM (VALUES\n{values}\n) AS t ({', '.join(columns)})"


def _items(columns: Sequence[str], schema: DataType | Sequence[str] | None) -> list[str]:
    if schema is None:
        return list(columns)
    if not isinstance(schema, RowType) or len(schema) != len(columns):
        raise TypeError(
            f"the schema of these rows is DataTypes.ROW([...]) of {len(columns)} fields"
        )
    return [
        f"CAST({column} AS {_nullable(field.data_type)}) AS {quoted_name(field.name)}"
        for column, field in zip(columns, schema, strict=True)
    ]


def _nullable(type_: DataType | str) -> str:
    return sql_of(type_ if isinstance(type_, str) else type_.nullable())
