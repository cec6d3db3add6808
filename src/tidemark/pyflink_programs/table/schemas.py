"""The columns of a table, as PyFlink's schema objects answer for them."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.dialect import quoted_name
from tidemark.plan.nodes import Column
from tidemark.pyflink.api.table.types import DataType, RowType
from tidemark.pyflink_programs.table.type_objects import type_object

_TIMES = {"event": " *ROWTIME*", "processing": " *PROCTIME*", None: ""}


class _OfColumns:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = tuple(columns)

    def _names(self) -> list[str]:
        return [column.name for column in self._columns]

    def _types(self) -> list[DataType]:
        return [type_object(column.type) for column in self._columns]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OfColumns) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return str(self)


class ResolvedSchema(_OfColumns):
    """Names and types of columns, as `get_resolved_schema` returns them."""

    def get_column_names(self) -> list[str]:
        return self._names()

    def get_column_data_types(self) -> list[DataType]:
        return self._types()

    def get_column_count(self) -> int:
        return len(self._columns)

    def __str__(self) -> str:
        return "(\n" + ",\n".join(f"  {_described(column)}" for column in self._columns) + "\n)"


class TableSchema(_OfColumns):
    """The same, as `get_schema` and `get_table_schema` return it."""

    def get_field_names(self) -> list[str]:
        return self._names()

    def get_field_data_types(self) -> list[DataType]:
        return self._types()

    def get_field_count(self) -> int:
        return len(self._columns)

    def get_field_name(self, field_index: int) -> str | None:
        names = self._names()
        return names[field_index] if 0 <= field_index < len(names) else None

    def get_field_data_type(self, field: int | str) -> DataType | None:
        place = self._names().index(field) if field in self._names() else field
        types = self._types()
        return types[place] if isinstance(place, int) and 0 <= place < len(types) else None

    def to_row_data_type(self) -> RowType:
        made = RowType(nullable=False)
        for name, type_ in zip(self._names(), self._types(), strict=True):
            made.add(name, type_)
        return made

    def copy(self) -> TableSchema:
        return TableSchema(self._columns)

    def __str__(self) -> str:
        fields = (f" |-- {column.name}: {_type(column)}\n" for column in self._columns)
        return "root\n" + "".join(fields)


def _described(column: Column) -> str:
    return f"{quoted_name(column.name)} {_type(column)}"


def _type(column: Column) -> str:
    null = "" if column.type.nullable else " NOT NULL"
    return f"{column.type.text()}{null}{_TIMES[column.time]}"
