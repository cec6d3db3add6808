"""The ogg-json format: each line is an event of Oracle GoldenGate with the row before and after the
change.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(6) METADATA FROM 'value.event-timestamp'`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidemark import types as t
from tidemark.connectors.formats import before_after
from tidemark.connectors.formats.base import Decode
from tidemark.connectors.formats.changelog_json import (
    CHANGE_TIME,
    TEXT_TYPE,
    Events,
    changelog_format,
    image_of,
)
from tidemark.connectors.formats.conversions import matches
from tidemark.connectors.formats.json_values import DOCUMENT, Reading, documents
from tidemark.formats.before_after_words import OGG
from tidemark.formats.ogg_time_patterns import ISO_TIME, SQL_TIME

_INSTANT = t.TimestampLtz(6)

METADATA: Mapping[str, t.DataType] = {
    "value.table": TEXT_TYPE,
    "value.primary-keys": t.Array(TEXT_TYPE),
    "value.ingestion-timestamp": _INSTANT,
    "value.event-timestamp": _INSTANT,
    CHANGE_TIME: _INSTANT,
}

_OTHERS = ("table", "primary_keys", "current_ts", "op_ts")


def events(decode: Decode, reading: Reading) -> Events:
    event = before_after.event(OGG, image_of(decode.fields), _OTHERS)
    bad = f"{DOCUMENT}._{len(event.fields)} IS NOT NULL"
    changes = before_after.changes(OGG, DOCUMENT, bad, reading)
    return Events(documents(decode, event), changes, _metadata())


def _metadata() -> dict[str, str]:
    table, keys, current, op = (f"{DOCUMENT}._{3 + i}" for i in range(len(_OTHERS)))
    event_time = _to_milliseconds(_moment(op, SQL_TIME))
    iso = _to_milliseconds(_moment(current, ISO_TIME))
    return {
        "value.table": table,
        "value.primary-keys": f"from_json({keys}, 'ARRAY<STRING>')",
        "value.ingestion-timestamp": f"coalesce({iso}, {_moment(current, SQL_TIME)})",
        "value.event-timestamp": event_time,
        CHANGE_TIME: event_time,
    }


def _moment(sql: str, pattern: str) -> str:
    """The instant of a string that is a time in UTC; NULL for others."""
    complete = f"concat({sql}, CASE WHEN length({sql}) <= 10 THEN ' 00:00:00Z' ELSE 'Z' END)"
    return f"CASE WHEN {matches(sql, pattern)} THEN try_cast({complete} AS TIMESTAMP) END"


def _to_milliseconds(sql: str) -> str:
    return f"date_trunc('MILLISECOND', {sql})"


OGG_JSON = changelog_format(OGG.format, (), METADATA, events)
