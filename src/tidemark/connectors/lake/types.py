"""Which types tables of Delta and Iceberg have, and whether their columns fit those of the DDL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.columns_by_name import reads
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.unsupported import LAKE_TYPE
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError, NotSupported, PlanError, did_you_mean
from tidemark.functions.arrow_types import from_arrow, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

_ABSENT: Final = {
    "delta": (t.Time, *t.INTERVALS, t.Multiset),
    "iceberg": (*t.INTERVALS, t.Multiset),
}


def check_columns(table: Table, connector: str) -> None:
    """Check that the kind of table has the types of all columns."""
    names: dict[str, str] = {}
    for column in table.columns:
        if not isinstance(column, PhysicalColumn):
            continue
        for part in t.with_parts(column.type):
            if isinstance(part, _ABSENT[connector]):
                where = f" (column `{column.name}`)"
                raise LAKE_TYPE.error(column.span, part.text(), where=where, source=table.source)
        other = names.setdefault(column.name.lower(), column.name)
        if other != column.name:
            raise PlanError(
                f"columns `{other}` and `{column.name}` differ only in case",
                at=column.span,
                source=table.source,
                notes={"why": f"a table of {connector} does not distinguish them"},
            )
    _check_partitions(table, [*names.values()])


def _check_partitions(table: Table, names: Sequence[str]) -> None:
    for name in table.partitioned_by:
        if name not in names:
            raise PlanError(
                f"partition column `{name}` is not a physical column of `{table.name}`",
                source=table.source,
                hint=did_you_mean(name, names),
            )


# --- what a table has ---------------------------------------------------------------------------


def check_readable(
    fields: Sequence[FormatField], found: pa.Schema, place: str, *, narrows: bool = False
) -> None:
    """Raises DataError if columns of the DDL are not in the table, or of other types. If it
    `narrows`, small integers are those of an INT, the smallest that the table has.
    """
    there = {name.lower(): name for name in found.names}
    for field in fields:
        name = there.get(field.name.lower())
        if name is None:
            raise _missing(field, found, place)
        small = narrows and isinstance(field.type, (t.TinyInt, t.SmallInt))
        if not reads(found.field(name).type, t.Int() if small else field.type):
            raise DataError(
                f"column `{field.name}` of {place} is {shown(found.field(name).type)}, which "
                f"cannot be read as {field.type.text()}",
                hint="declare the column with the type that the table has",
            )


def check_writable(fields: Sequence[FormatField], found: pa.Schema, place: str) -> pa.Schema:
    """The columns of the table that are written. Raises DataError if rows of the DDL do not fit."""
    import pyarrow as pa

    there = {name.lower(): name for name in found.names}
    columns = []
    for field in fields:
        name = there.get(field.name.lower())
        if name is None:
            raise _missing(field, found, place)
        own = found.field(name)
        try:
            fits = reads(to_arrow(field.type), from_arrow(own.type))
        except NotSupported:
            fits = False
        if not fits:
            raise DataError(
                f"column `{field.name}` of {place} is {shown(own.type)}, in which "
                f"{field.type.text()} cannot be written",
                hint="CAST in the query, and declare the type that the table has",
            )
        columns.append(own)
    written = {column.name for column in columns}
    for own in found:
        if own.name not in written and not own.nullable:
            raise DataError(
                f"column `{own.name}` of {place} is NOT NULL, and `{fields[0].name}` and the "
                "others of the DDL do not fill it",
                hint=f"declare `{own.name}`",
            )
    return pa.schema(columns)


def _missing(field: FormatField, found: pa.Schema, place: str) -> DataError:
    return DataError(
        f"{place} has no column `{field.name}`",
        notes={"columns": ", ".join(found.names)},
        hint=did_you_mean(field.name, found.names),
    )


def shown(type_: pa.DataType) -> str:
    """An Arrow type in the words of SQL, where it has some."""
    try:
        return from_arrow(type_).text()
    except NotSupported:
        return str(type_)
