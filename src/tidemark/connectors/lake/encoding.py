"""Rows of a task with the names and types that columns have in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.errors import DataError
from tidemark.functions.arrow_types import renamed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table that are written, in the order of those that come."""

    schema: pa.Schema
    place: str

    def of(self, rows: pa.Table) -> pa.Table:
        """The first columns of rows as those of the table. Raises DataError for a NULL where the
        table has none."""
        import pyarrow as pa

        made = []
        for column, field in zip(rows.columns, self.schema, strict=False):
            if not field.nullable and column.null_count:
                raise DataError(
                    f"column `{field.name}` of {self.place} is NOT NULL, and a row has NULL for it",
                    hint=f"filter the rows: WHERE {field.name} IS NOT NULL",
                )
            made.append(converted(column, field.type))
        return pa.table(made, schema=self.schema)

    def named(self, names: Sequence[str]) -> TableColumns:
        return TableColumns(self.schema.empty_table().select(names).schema, self.place)


def converted(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """The column as a type that has all of its values; fields of rows are those at their places."""
    import pyarrow as pa

    same = renamed(wanted, column.type)
    if same != column.type:
        column = column.cast(same)
    if column.type == wanted:
        return column
    return pa.chunked_array([chunk.view(wanted) for chunk in column.chunks], wanted)
