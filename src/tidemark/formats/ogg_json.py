"""The ogg-json format: each record is an event of Oracle GoldenGate with the row before and after
the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats import ogg_times
from tidemark.formats.before_after import BeforeAfter
from tidemark.formats.before_after_words import OGG
from tidemark.formats.changelog_json import (
    TEXT,
    ChangelogDecoder,
    EventFormat,
    MetadataField,
    QuickEvents,
    chosen,
)
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW

_NAMES = t.Array(TEXT)
_INSTANT = t.TimestampLtz(6)


def _event_time(text: str | None) -> int | None:
    return None if text is None else ogg_times.event_time(text)


def _ingestion_time(text: str | None) -> int | None:
    return None if text is None else ogg_times.ingestion_time(text)


_EVENT_TIME = MetadataField("op_ts", _INSTANT, one=_event_time, many=ogg_times.event_times)
METADATA: Mapping[str, MetadataField] = {
    "value.table": MetadataField("table"),
    "value.primary-keys": MetadataField("primary_keys", _NAMES, _NAMES),
    "value.ingestion-timestamp": MetadataField(
        "current_ts", _INSTANT, one=_ingestion_time, many=ogg_times.ingestion_times
    ),
    "value.event-timestamp": _EVENT_TIME,
    "db_operation_time": _EVENT_TIME,
}


def ogg_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(OGG.format, options)
    about = chosen(METADATA, metadata)
    rows = BeforeAfter(OGG, fields, reading)
    shapes = {each.field: each.shape for each in about.values()}
    event = t.Row((*rows.event, *(t.Field(name, shape) for name, shape in shapes.items())))

    def quick(columns: pl.DataFrame, _: pl.Series) -> QuickEvents:
        return rows.quick(columns, {key: each.of_columns()(columns) for key, each in about.items()})

    events = EventFormat(
        event,
        rows.changes,
        {key: each.of_event(event) for key, each in about.items()},
        {key: each.type for key, each in about.items()},
        event.fields,
        quick,
    )
    return ChangelogDecoder(fields, reading, events, few)
