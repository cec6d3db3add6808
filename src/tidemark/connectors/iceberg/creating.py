"""New tables of Iceberg, with the columns, the key and the partitions of a DDL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.tables import IcebergPlace
from tidemark.functions.arrow_types import to_arrow
from tidemark.types import DataType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table import Table as IcebergTable


# The property with the comment of a table.
COMMENT: Final = "comment"


def create(
    place: IcebergPlace,
    table: Table,
    fields: Sequence[FormatField],
    options: Mapping[str, Any],
    catalog: Any = None,
) -> None:
    """Makes the table, and the database that it is in."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

    catalog = catalog or place.opened_catalog()
    # Another job may be quicker.
    with place.asking(), suppress(CommitFailedException, TableAlreadyExistsError):
        catalog.create_namespace_if_not_exists(place.identifier[:-1])
        created = catalog.create_table(
            place.identifier,
            schema=arrow_schema(table, fields),
            properties=o.table_properties(options) | _comment(table),
        )
        _set_keys(created, table)


def _set_keys(created: IcebergTable, table: Table) -> None:
    with created.transaction() as change:
        if table.primary_key is not None:
            with change.update_schema() as schema:
                schema.set_identifier_fields(*table.primary_key.columns)
        if table.partitioned_by:
            with change.update_spec() as spec:
                for name in table.partitioned_by:
                    spec.add_identity(name)


def _comment(table: Table) -> dict[str, str]:
    return {} if table.comment is None else {COMMENT: table.comment}


def arrow_schema(table: Table, fields: Sequence[FormatField]) -> pa.Schema:
    """The columns of the table, as pyiceberg takes them."""
    import pyarrow as pa

    keys = () if table.primary_key is None else table.primary_key.columns
    comments = {c.name: {"doc": c.comment} for c in table.columns if c.comment is not None}
    return pa.schema(
        pa.field(
            field.name,
            to_arrow(_held(field.type)),
            nullable=field.type.nullable and field.name not in keys,
            metadata=comments.get(field.name),
        )
        for field in fields
    )


def _held(type_: DataType) -> DataType:
    """The type that a table has for it: an INT is the smallest integer."""
    small = isinstance(type_, (t.TinyInt, t.SmallInt))
    return t.Int(nullable=type_.nullable) if small else type_
