"""What a table of files has: a format, fields in the files and in names of folders, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.formats import FORMATS, OF_FILES
from tidemark.connectors.formats.base import Format, FormatField
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import did_you_mean

METADATA: Mapping[str, t.DataType] = {
    "file.path": t.VarChar(nullable=False),
    "file.name": t.VarChar(nullable=False),
    "file.size": t.BigInt(nullable=False),
    "file.modification-time": t.TimestampLtz(3, nullable=False),
}


def format_of(table: Table, options: Mapping[str, Any]) -> Format:
    name = options["format"].lower()
    if name not in OF_FILES:
        of_messages = f"'{name}' is a format of messages, not of files"
        raise option_error(
            table,
            "format",
            of_messages if name in FORMATS else f"unknown format '{options['format']}'",
            hint=did_you_mean(name, OF_FILES) or f"formats are {', '.join(OF_FILES)}",
        )
    return OF_FILES[name]


def types_of(table: Table) -> tuple[t.DataType, ...]:
    return tuple(c.type for c in table.columns if isinstance(c, PhysicalColumn))


def all_fields(
    table: Table, columns: tuple[str, ...], types: tuple[t.DataType, ...]
) -> tuple[FormatField, ...]:
    names = [c.name for c in table.columns if isinstance(c, PhysicalColumn)]
    return tuple(
        FormatField(name, column, type_)
        for name, column, type_ in zip(names, columns, types, strict=False)
    )


def fields_in_files(
    table: Table, columns: tuple[str, ...], types: tuple[t.DataType, ...]
) -> tuple[FormatField, ...]:
    """The fields in the files; partition values are in folder names."""
    fields = all_fields(table, columns, types)
    return tuple(f for f in fields if f.name not in table.partitioned_by)
