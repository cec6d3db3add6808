"""Rows of data files as a scan wants them: with its columns, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table
from tidemark.connectors.base import ColumnsRequest, ReadRequest, Target
from tidemark.connectors.formats.base import FormatField
from tidemark.dialect.statements import PhysicalColumn
from tidemark.kernels.columns import PLACE

if TYPE_CHECKING:
    import polars as pl


def fields_of(table: Table) -> tuple[FormatField, ...]:
    """The physical columns of a table, under their own names."""
    columns = [column for column in table.columns if isinstance(column, PhysicalColumn)]
    return tuple(FormatField(column.name, column.name, column.type) for column in columns)


def physical_fields(request: ColumnsRequest | ReadRequest | Target) -> tuple[FormatField, ...]:
    """The physical columns, under the names that they have in Spark."""
    columns = request.table.columns
    names = [column.name for column in columns if isinstance(column, PhysicalColumn)]
    return tuple(map(FormatField, names, request.columns, request.types))


@dataclass(frozen=True)
class Frames:
    request: ColumnsRequest

    @cached_property
    def fields(self) -> tuple[FormatField, ...]:
        return physical_fields(self.request)

    def is_read(self, field: FormatField) -> bool:
        return self.request.read is None or field.name in self.request.read

    def made(self, rows: pl.DataFrame, constants: Mapping[str, Any], file: str) -> pl.DataFrame:
        """The rows with all columns of the request: from the file, constant, or NULL."""
        import polars as pl

        from tidemark.columns import polars_type

        def values(field: FormatField) -> pl.Series:
            if field.name in rows.columns:
                return rows[field.name].alias(field.spark_name)
            dtype, value = polars_type(field.type), constants.get(field.name)
            made = pl.repeat(value, rows.height, dtype=dtype, eager=True)
            return made.alias(field.spark_name)

        place = pl.repeat(file, rows.height, eager=True).alias(PLACE)
        columns = [*map(values, self.fields), *[place] * self.request.placed]
        if not columns:  # a table of computed columns still has rows
            return rows
        return pl.DataFrame(columns)
