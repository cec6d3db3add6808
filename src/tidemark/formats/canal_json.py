"""The canal-json format: each record is a MySQL event with all the rows that a statement changed.

CREATE statements are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats.changelog_json import (
    TEXT,
    ChangelogDecoder,
    MetadataField,
    chosen,
)
from tidemark.formats.exact_values import NotAValue, Spelling, reader
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW
from tidemark.formats.old_rows import old_rows_format
from tidemark.formats.old_rows_words import CANAL, DATABASES, TABLES

# What an event may be chosen by: the part of the event, and the option.
_INCLUDED = {"database": DATABASES, "table": TABLES}


def _sql_types(types: dict[str, str | None] | None) -> list[tuple[str, int | None]] | None:
    return None if types is None else [(name, _integer(text)) for name, text in types.items()]


_read_integer = reader(t.Int(), Spelling(integers_truncate=True))


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else _read_integer(text)
    except NotAValue:
        return None


_SQL_TYPES = t.Map(TEXT, t.Int())
_NAMES = t.Array(TEXT)
METADATA: Mapping[str, MetadataField] = {
    "value.database": MetadataField("database"),
    "value.table": MetadataField("table"),
    "value.sql-type": MetadataField("sqlType", _SQL_TYPES, _SQL_TYPES, one=_sql_types),
    "value.pk-names": MetadataField("pkNames", _NAMES, _NAMES),
    "value.ingestion-timestamp": MetadataField.of_number("ts"),
    "value.event-timestamp": MetadataField.of_number("es"),
    "db_operation_time": MetadataField.of_number("es"),
}


def canal_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(CANAL.format, options)
    included = {
        name: (re.compile(options[option]), option)
        for name, option in _INCLUDED.items()
        if options.get(option) is not None
    }
    events = old_rows_format(CANAL, fields, reading, chosen(METADATA, metadata), included)
    return ChangelogDecoder(fields, reading, events, few)
