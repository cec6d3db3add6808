"""The debezium-json format: each line is an event with the row before and after the change.

Snapshot reads (`r`) and inserts become `+I`, deletes `-D`, and an update always becomes `-U` and
`+U`, even if nothing changed. Empty lines, the tombstones after deletes, are skipped.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import before_after
from tidemark.connectors.formats.base import Decode
from tidemark.connectors.formats.changelog_json import (
    CHANGE_TIME,
    INSTANT,
    TEXT_TYPE,
    Events,
    changelog_format,
    image_of,
    milliseconds,
)
from tidemark.connectors.formats.json_values import DOCUMENT, Reading, documents
from tidemark.connectors.options import option_error
from tidemark.formats.before_after_words import DEBEZIUM, SCHEMA_INCLUDED

OPTIONS = (
    OptionSpec(
        SCHEMA_INCLUDED,
        "boolean",
        False,
        summary="events are wrapped in an envelope with their schema",
    ),
)

METADATA: Mapping[str, t.DataType] = {
    "value.schema": TEXT_TYPE,
    "value.ingestion-timestamp": INSTANT,
    "value.source.timestamp": INSTANT,
    "value.source.database": TEXT_TYPE,
    "value.source.schema": TEXT_TYPE,
    "value.source.table": TEXT_TYPE,
    "value.source.properties": t.Map(TEXT_TYPE, TEXT_TYPE),
    CHANGE_TIME: INSTANT,
}


def events(decode: Decode, reading: Reading) -> Events:
    image = image_of(decode.fields)
    event = before_after.event(DEBEZIUM, image, ("ts_ms", "source"))
    if decode.options[SCHEMA_INCLUDED]:
        row = t.Row((t.Field("payload", event), t.Field("schema", TEXT_TYPE)))
        payload, schema = f"{DOCUMENT}._0", f"{DOCUMENT}._1"
    else:
        row, payload, schema = event, DOCUMENT, "CAST(NULL AS STRING)"
    bad = f"{DOCUMENT}._{len(row.fields)} IS NOT NULL"
    changes = before_after.changes(DEBEZIUM, payload, bad, reading)
    return Events(documents(decode, row), changes, _metadata(payload, schema))


def _metadata(payload: str, schema: str) -> dict[str, str]:
    source = f"from_json({payload}._4, 'MAP<STRING, STRING>')"
    return {
        "value.schema": schema,
        "value.ingestion-timestamp": milliseconds(f"{payload}._3"),
        "value.source.timestamp": milliseconds(f"{source}['ts_ms']"),
        "value.source.database": f"{source}['db']",
        "value.source.schema": f"{source}['schema']",
        "value.source.table": f"{source}['table']",
        "value.source.properties": source,
        CHANGE_TIME: milliseconds(f"{source}['ts_ms']"),
    }


def check_sink(table: Table, options: Mapping[str, Any]) -> None:
    if options[SCHEMA_INCLUDED]:
        raise option_error(
            table,
            SCHEMA_INCLUDED,
            "Debezium events cannot be written with their schema, as in Flink",
            hint="remove the option from the table that is written",
        )


DEBEZIUM_JSON = changelog_format(DEBEZIUM.format, OPTIONS, METADATA, events, check_sink=check_sink)
