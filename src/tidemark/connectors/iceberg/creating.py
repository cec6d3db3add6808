"""New tables of Iceberg, with the columns, the key and the partitions of a DDL."""

from __future__ import annotations

from tidemark import types as t
from tidemark.connectors.base import Target
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.tables import IcebergPlace
from tidemark.connectors.lake.frames import physical_fields
from tidemark.functions.arrow_types import to_arrow
from tidemark.types import DataType


def create(place: IcebergPlace, target: Target) -> None:
    """Makes the table, and the database that it is in."""
    import pyarrow as pa
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

    key = target.table.primary_key
    keys = () if key is None else key.columns
    fields = [
        pa.field(
            field.name,
            to_arrow(_held(field.type)),
            nullable=field.type.nullable and field.name not in keys,
        )
        for field in physical_fields(target)
    ]
    catalog = place.opened_catalog()
    try:
        with place.asking():
            catalog.create_namespace_if_not_exists(place.identifier[:-1])
            table = catalog.create_table(
                place.identifier,
                schema=pa.schema(fields),
                properties=o.table_properties(target.options),
            )
            with table.transaction() as change:
                if keys:
                    with change.update_schema() as schema:
                        schema.set_identifier_fields(*keys)
                if target.table.partitioned_by:
                    with change.update_spec() as spec:
                        for name in target.table.partitioned_by:
                            spec.add_identity(name)
    except (CommitFailedException, TableAlreadyExistsError):
        return  # another job was quicker


def _held(type_: DataType) -> DataType:
    """The type that a table has for it: an INT is the smallest integer."""
    small = isinstance(type_, (t.TinyInt, t.SmallInt))
    return t.Int(nullable=type_.nullable) if small else type_
