"""New data files of an Iceberg table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidemark.connectors.iceberg.tables import arrow_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table as IcebergTable


def new_files(table: IcebergTable, rows: pa.Table) -> Iterator[DataFile]:
    """Data files of rows, divided by partition."""
    from pyiceberg.io.pyarrow import _dataframe_to_data_files

    complete = with_all_columns(rows, arrow_of(table.schema()))
    yield from _dataframe_to_data_files(table.metadata, complete, table.io)


def with_all_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with NULL in the columns of the table that they lack."""
    import pyarrow as pa

    columns = [
        rows.column(own.name) if own.name in rows.column_names else pa.nulls(len(rows), own.type)
        for own in schema
    ]
    return pa.table(columns, schema=schema)
