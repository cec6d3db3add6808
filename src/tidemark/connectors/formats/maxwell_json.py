"""The maxwell-json format: each line is a MySQL event with the row that a statement changed.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp'`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidemark import types as t
from tidemark.connectors.formats import old_rows
from tidemark.connectors.formats.base import Decode
from tidemark.connectors.formats.changelog_json import (
    CHANGE_TIME,
    INSTANT,
    TEXT_TYPE,
    Events,
    changelog_format,
    seconds,
)
from tidemark.connectors.formats.json_values import Reading
from tidemark.connectors.formats.old_rows import field
from tidemark.formats.old_rows_words import MAXWELL

METADATA: Mapping[str, t.DataType] = {
    "value.database": TEXT_TYPE,
    "value.table": TEXT_TYPE,
    "value.primary-key-columns": t.Array(TEXT_TYPE),
    "value.ingestion-timestamp": INSTANT,
    CHANGE_TIME: INSTANT,
}

_OTHERS = ("database", "table", "primary_key_columns", "ts")


def events(decode: Decode, reading: Reading) -> Events:
    metadata = {
        "value.database": field("database"),
        "value.table": field("table"),
        "value.primary-key-columns": f"from_json({field('primary_key_columns')}, 'ARRAY<STRING>')",
        "value.ingestion-timestamp": seconds(field("ts")),
        CHANGE_TIME: seconds(field("ts")),
    }
    return old_rows.events(MAXWELL, decode, reading, _OTHERS, metadata, {})


MAXWELL_JSON = changelog_format(MAXWELL.format, (), METADATA, events)
