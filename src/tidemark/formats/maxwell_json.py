"""The maxwell-json format: each record is a MySQL event with the row that a statement changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats.changelog_json import (
    SECONDS,
    TEXT,
    ChangelogDecoder,
    MetadataField,
    chosen,
)
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW
from tidemark.formats.old_rows import old_rows_format
from tidemark.formats.old_rows_words import MAXWELL

_NAMES = t.Array(TEXT)
METADATA: Mapping[str, MetadataField] = {
    "value.database": MetadataField("database"),
    "value.table": MetadataField("table"),
    "value.primary-key-columns": MetadataField("primary_key_columns", _NAMES, _NAMES),
    "value.ingestion-timestamp": MetadataField.of_number("ts", SECONDS),
    "db_operation_time": MetadataField.of_number("ts", SECONDS),
}


def maxwell_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(MAXWELL.format, options)
    events = old_rows_format(MAXWELL, fields, reading, chosen(METADATA, metadata), {})
    return ChangelogDecoder(fields, reading, events, few)
