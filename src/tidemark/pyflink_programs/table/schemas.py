"""The columns of a table, as PyFlink's schema objects answer for them."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.dialect import quoted_name
from tidemark.plan.nodes import Column
from tidemark.pyflink.api.table.types import DataType

_TIMES = {"event": " *ROWTIME*", "processing": " *PROCTIME*", None: ""}


class ResolvedSchema:
    """Names and types of columns."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = tuple(columns)

    def get_column_names(self) -> list[str]:
        return [column.name for column in self._columns]

    def get_column_data_types(self) -> list[DataType]:
        return [DataType(c.type.text(), c.type.nullable) for c in self._columns]

    def get_column_count(self) -> int:
        return len(self._columns)

    # As the older `TableSchema` calls them.
    get_field_names = get_column_names
    get_field_data_types = get_column_data_types
    get_field_count = get_column_count

    def __str__(self) -> str:
        return "(\n" + ",\n".join(f"  {_described(column)}" for column in self._columns) + "\n)"


def _described(column: Column) -> str:
    null = "" if column.type.nullable else " NOT NULL"
    return f"{quoted_name(column.name)} {column.type.text()}{null}{_TIMES[column.time]}"
