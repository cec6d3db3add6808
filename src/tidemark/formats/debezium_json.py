"""The debezium-json format: each record is an event with the row before and after the change.

Snapshot reads (`r`) and inserts become `+I`, deletes `-D`, and an update always becomes `-U` and
`+U`, even if nothing changed. Empty records, the tombstones after deletes, are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats.before_after import BeforeAfter
from tidemark.formats.before_after_words import DEBEZIUM, SCHEMA_INCLUDED
from tidemark.formats.changelog_json import (
    INSTANT,
    TEXT,
    Change,
    ChangelogDecoder,
    EventFormat,
    QuickEvents,
    instant,
    instants,
    nothing,
    part,
)
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW

_PROPERTIES = t.Map(TEXT, TEXT)
_TS, _SOURCE = 3, 4  # of an event

# Metadata: the part of `source` that it is, and its type.
_OF_SOURCE: Mapping[str, tuple[str, t.DataType]] = {
    "value.source.timestamp": ("ts_ms", INSTANT),
    "value.source.database": ("db", TEXT),
    "value.source.schema": ("schema", TEXT),
    "value.source.table": ("table", TEXT),
    "db_operation_time": ("ts_ms", INSTANT),
}
_TYPES: Mapping[str, t.DataType] = {
    "value.schema": TEXT,
    "value.ingestion-timestamp": INSTANT,
    "value.source.properties": _PROPERTIES,
    **{key: type_ for key, (_, type_) in _OF_SOURCE.items()},
}


def debezium_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(DEBEZIUM.format, options)
    events = _Debezium(fields, reading, bool(options.get(SCHEMA_INCLUDED)), metadata)
    return ChangelogDecoder(fields, reading, events.format(), few)


class _Debezium:
    def __init__(
        self,
        fields: Sequence[t.Field],
        options: JsonOptions,
        wrapped: bool,
        metadata: Sequence[str],
    ) -> None:
        self._rows = BeforeAfter(DEBEZIUM, fields, options)
        self._wrapped = wrapped
        self._metadata = metadata

    def format(self) -> EventFormat:
        event = self._event(_PROPERTIES)
        row = t.Row(
            (t.Field("payload", event), t.Field("schema", TEXT)) if self._wrapped else event.fields
        )
        quick = self._quick_event()
        return EventFormat(
            row,
            self._changes,
            {key: self._reader(key) for key in self._metadata},
            {key: _TYPES[key] for key in self._metadata},
            None if quick is None else self._quick_fields(quick),
            None if quick is None else lambda columns, _: self._quick(columns, quick),
        )

    def _event(self, source: t.DataType) -> t.Row:
        return t.Row((*self._rows.event, t.Field("ts_ms", TEXT), t.Field("source", source)))

    # --- one by one ---

    def _payload(self, event: list[Any]) -> list[Any]:
        return (event[0] or [None] * 5) if self._wrapped else event

    def _changes(self, event: list[Any], fits: bool) -> list[Change]:
        return self._rows.changes(self._payload(event), fits)

    def _reader(self, key: str) -> Callable[[list[Any]], Any]:
        match key:
            case "value.schema":
                return lambda event: event[1] if self._wrapped else None
            case "value.ingestion-timestamp":
                return lambda event: instant(self._payload(event)[_TS])
            case "value.source.properties":
                return lambda event: _pairs(self._payload(event)[_SOURCE])
        name, type_ = _OF_SOURCE[key]
        read: Callable[[Any], Any] = instant if type_ is INSTANT else lambda text: text
        return lambda event: read((self._payload(event)[_SOURCE] or {}).get(name))

    # --- whole columns ---

    def _quick_event(self) -> t.Row | None:
        """The event with the parts of its source that are read; None if these are all."""
        if "value.source.properties" in self._metadata:
            return None
        names = dict.fromkeys(_OF_SOURCE[key][0] for key in self._metadata if key in _OF_SOURCE)
        # Even if nothing of it is read, the source must be an object.
        source = t.Row(tuple(t.Field(name, TEXT) for name in names or ("",)))
        return self._event(source)

    def _quick_fields(self, event: t.Row) -> Sequence[t.Field]:
        if not self._wrapped:
            return event.fields
        schema = (t.Field("schema", TEXT),) if "value.schema" in self._metadata else ()
        return (t.Field("payload", event), *schema)

    def _quick(self, columns: pl.DataFrame, event: t.Row) -> QuickEvents:
        payload = columns["payload"].struct.unnest() if self._wrapped else columns
        metadata = {
            key: self._quick_metadata(columns, payload, event, key) for key in self._metadata
        }
        return self._rows.quick(payload, metadata)

    def _quick_metadata(
        self, columns: pl.DataFrame, payload: pl.DataFrame, event: t.Row, key: str
    ) -> pl.Series:
        if key == "value.schema":
            return columns["schema"] if self._wrapped else nothing(TEXT, columns.height)
        if key == "value.ingestion-timestamp":
            return instants(payload["ts_ms"])
        source = event.fields[_SOURCE].type
        assert isinstance(source, t.Row)
        name, type_ = _OF_SOURCE[key]
        found = part(payload["source"], name, source)
        return instants(found) if type_ is INSTANT else found


def _pairs(properties: dict[str, Any] | None) -> list[tuple[str, Any]] | None:
    return None if properties is None else list(properties.items())
