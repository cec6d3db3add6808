"""The canal-json format: each line is a MySQL event with all the rows that a statement changed.

CREATE statements are skipped.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(3) METADATA FROM 'value.event-timestamp'`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import old_rows
from tidemark.connectors.formats.base import Decode
from tidemark.connectors.formats.changelog_json import (
    CHANGE_TIME,
    INSTANT,
    TEXT_TYPE,
    Events,
    changelog_format,
    milliseconds,
)
from tidemark.connectors.formats.json_values import Reading
from tidemark.connectors.formats.old_rows import field
from tidemark.connectors.options import option_error
from tidemark.formats.old_rows_words import CANAL, DATABASES, TABLES

OPTIONS = (
    OptionSpec(
        DATABASES, summary="read only events of databases that match this regular expression"
    ),
    OptionSpec(TABLES, summary="read only events of tables that match this regular expression"),
)

METADATA: Mapping[str, t.DataType] = {
    "value.database": TEXT_TYPE,
    "value.table": TEXT_TYPE,
    "value.sql-type": t.Map(TEXT_TYPE, t.Int()),
    "value.pk-names": t.Array(TEXT_TYPE),
    "value.ingestion-timestamp": INSTANT,
    "value.event-timestamp": INSTANT,
    CHANGE_TIME: INSTANT,
}

_OTHERS = ("database", "table", "sqlType", "pkNames", "ts", "es")


def check(table: Table, options: Mapping[str, Any]) -> None:
    for key in (DATABASES, TABLES):
        try:
            re.compile(options[key] or "")
        except re.error as problem:
            raise option_error(table, key, f"not a regular expression: {problem}") from None


def events(decode: Decode, reading: Reading) -> Events:
    included = {"database": DATABASES, "table": TABLES}
    return old_rows.events(CANAL, decode, reading, _OTHERS, _metadata(), included)


def _metadata() -> dict[str, str]:
    return {
        "value.database": field("database"),
        "value.table": field("table"),
        "value.sql-type": f"from_json({field('sqlType')}, 'MAP<STRING, INT>')",
        "value.pk-names": f"from_json({field('pkNames')}, 'ARRAY<STRING>')",
        "value.ingestion-timestamp": milliseconds(field("ts")),
        "value.event-timestamp": milliseconds(field("es")),
        CHANGE_TIME: milliseconds(field("es")),
    }


CANAL_JSON = changelog_format(CANAL.format, OPTIONS, METADATA, events, check)
