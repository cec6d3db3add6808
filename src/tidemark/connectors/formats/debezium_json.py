"""The debezium-json format: each line is an event with the row before and after the change.

Snapshot reads (`r`) and inserts become `+I`, deletes `-D`, and an update always becomes `-U` and
`+U`, even if nothing changed. Empty lines, the tombstones after deletes, are skipped.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp'`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidemark import types as t
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import Decode
from tidemark.connectors.formats.changelog_json import (
    CHANGE_TIME,
    INSTANT,
    TEXT_TYPE,
    Events,
    bad_event,
    change,
    changelog_format,
    first_of,
    image_of,
    milliseconds,
    unreadable,
)
from tidemark.connectors.formats.json_values import DOCUMENT, Reading, documents
from tidemark.formats import debezium_words as words
from tidemark.formats.problems import skips_records
from tidemark.functions.spark_text import string

NAME = words.NAME
SCHEMA_INCLUDED = words.SCHEMA_INCLUDED

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
    event = t.Row(
        (
            t.Field("before", image),
            t.Field("after", image),
            t.Field("op", TEXT_TYPE),
            t.Field("ts_ms", TEXT_TYPE),
            t.Field("source", TEXT_TYPE),
        )
    )
    if decode.options[SCHEMA_INCLUDED]:
        row = t.Row((t.Field("payload", event), t.Field("schema", TEXT_TYPE)))
        payload, schema = f"{DOCUMENT}._0", f"{DOCUMENT}._1"
    else:
        row, payload, schema = event, DOCUMENT, "CAST(NULL AS STRING)"
    bad = f"{DOCUMENT}._{len(row.fields)} IS NOT NULL"
    changes = _changes(payload, bad, reading)
    return Events(documents(decode, row), changes, _metadata(payload, schema))


def _changes(payload: str, bad: str, reading: Reading) -> str:
    before, after, op = (f"{payload}._{i}" for i in range(3))
    cases = [
        *unreadable(bad, reading),
        (f"{op} IN ('c', 'r') AND {after} IS NOT NULL", f"array({change('+I', after)})"),
        (
            f"{op} = 'u' AND {before} IS NOT NULL AND {after} IS NOT NULL",
            f"array({change('-U', before)}, {change('+U', after)})",
        ),
        (f"{op} = 'd' AND {before} IS NOT NULL", f"array({change('-D', before)})"),
        (f"{op} IN ('u', 'd') AND {before} IS NULL", _no_before(op, reading)),
        (f"{op} IN ('c', 'r', 'u')", _no_after(op, reading)),
    ]
    return first_of(cases, _unknown(op, reading))


def _no_before(op: str, reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(words.no_before(''))}, {op})",
        reason=string(words.BEFORE_IS_NEEDED),
        hint=string(f"{words.REPLICA_IDENTITY}; {skips_records(reading.ignore_option)}"),
    )


def _no_after(op: str, reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(words.no_after(''))}, {op})",
        reason=string(words.AFTER_IS_NEEDED),
    )


def _unknown(op: str, reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(words.unknown(''))}, coalesce({op}, 'none'))",
        reason=string(words.KNOWN),
    )


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


DEBEZIUM_JSON = changelog_format(NAME, OPTIONS, METADATA, events)
