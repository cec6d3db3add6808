"""The canal-json format: each record is a MySQL event with all the rows that a statement changed.

An update's `old` rows contain only the fields that changed; the others are as in `data`. As in
Flink, a field counts as changed for all rows of an event if any of its `old` rows contains it.
CREATE statements are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats import canal_words as words
from tidemark.formats.canal_quick import CanalColumns
from tidemark.formats.changelog_json import (
    INSTANT,
    TEXT,
    BadEvent,
    Change,
    ChangelogDecoder,
    EventFormat,
    image_of,
    instant,
    instants,
)
from tidemark.formats.exact_values import NotAValue, Spelling, reader
from tidemark.formats.json_documents import Documents, Malformed
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW
from tidemark.formats.json_structs import PartialRow

_ABSENT = object()
# The parts of an event, in order.
_DATA, _OLD, _TYPE, _DATABASE, _TABLE, _TS, _ES, _SQL_TYPE, _PK_NAMES = range(9)

# What an event may be chosen by: the part of the event, and the option.
_NAMES = {"database": (_DATABASE, words.DATABASES), "table": (_TABLE, words.TABLES)}

_TYPES: Mapping[str, t.DataType] = {
    "value.database": TEXT,
    "value.table": TEXT,
    "value.sql-type": t.Map(TEXT, t.Int()),
    "value.pk-names": t.Array(TEXT),
    "value.ingestion-timestamp": INSTANT,
    "value.event-timestamp": INSTANT,
    "db_operation_time": INSTANT,
}


def _sql_types(types: dict[str, str | None] | None) -> list[tuple[str, int | None]] | None:
    return None if types is None else [(name, _integer(text)) for name, text in types.items()]


_read_integer = reader(t.Int(), Spelling(integers_truncate=True))


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else _read_integer(text)
    except NotAValue:
        return None


_READERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "value.database": lambda event: event[_DATABASE],
    "value.table": lambda event: event[_TABLE],
    "value.sql-type": lambda event: _sql_types(event[_SQL_TYPE]),
    "value.pk-names": lambda event: event[_PK_NAMES],
    "value.ingestion-timestamp": lambda event: instant(event[_TS]),
    "value.event-timestamp": lambda event: instant(event[_ES]),
    "db_operation_time": lambda event: instant(event[_ES]),
}


_QUICK_READERS: Mapping[str, Callable[[pl.DataFrame], pl.Series]] = {
    "value.database": lambda events: events["database"],
    "value.table": lambda events: events["table"],
    "value.sql-type": lambda events: events["sqlType"],
    "value.pk-names": lambda events: events["pkNames"],
    "value.ingestion-timestamp": lambda events: instants(events["ts"]),
    "value.event-timestamp": lambda events: instants(events["es"]),
    "db_operation_time": lambda events: instants(events["es"]),
}


def canal_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(words.NAME, options)
    included = {
        name: re.compile(options[option])
        for name, (_, option) in _NAMES.items()
        if options.get(option) is not None
    }
    image = image_of(fields)
    columns = CanalColumns(fields, included, {key: _QUICK_READERS[key] for key in metadata})
    events = EventFormat(
        _event(image, TEXT, metadata),
        _Canal(fields, reading, included).changes,
        {key: _READERS[key] for key in metadata},
        {key: _TYPES[key] for key in metadata},
        _event(image, PartialRow(image.fields), metadata).fields,
        columns.changes,
    )
    return ChangelogDecoder(fields, reading, events, few)


def _event(image: t.Row, old: t.DataType, metadata: Sequence[str]) -> t.Row:
    fields = [
        t.Field("data", t.Array(image)),
        t.Field("old", t.Array(old)),
        *(t.Field(name, TEXT) for name in ("type", "database", "table", "ts", "es")),
    ]
    # These are read only if someone asks: otherwise they may be anything.
    for name, key in (("sqlType", "value.sql-type"), ("pkNames", "value.pk-names")):
        fields.append(t.Field(name, _TYPES[key] if key in metadata else TEXT))
    return t.Row(tuple(fields))


class _Canal:
    def __init__(
        self,
        fields: Sequence[t.Field],
        options: JsonOptions,
        included: Mapping[str, re.Pattern[str]],
    ) -> None:
        self._options = options
        self._old = Documents(image_of(fields), lenient=True, absent=_ABSENT, compact=True)
        self._included = included

    def changes(self, event: list[Any], fits: bool) -> list[Change] | None:
        # Events of other databases and tables, whose rows have another form, come first.
        if not self._is_included(event):
            return None
        if not fits and not self._options.ignores_errors:
            raise Malformed
        type_, data = event[_TYPE], event[_DATA]
        if type_ == "CREATE":
            return None
        if type_ not in ("INSERT", "UPDATE", "DELETE"):
            raise BadEvent(words.unknown("none" if type_ is None else type_), words.KNOWN)
        if data is None or None in data:
            raise BadEvent(words.no_data(type_), words.DATA_IS_NEEDED)
        if type_ == "UPDATE":
            return self._updates(data, event[_OLD])
        return [("+I" if type_ == "INSERT" else "-D", row) for row in data]

    def _is_included(self, event: list[Any]) -> bool:
        for part, pattern in self._included.items():
            name = event[_NAMES[part][0]]
            if name is None:
                raise BadEvent(words.no_name(part), words.required_by(_NAMES[part][1]))
            if not pattern.fullmatch(name):
                return False
        return True

    def _updates(self, data: list[list[Any]], old: list[str | None] | None) -> list[Change]:
        if old is None or len(old) < len(data):
            raise BadEvent(words.NO_OLD, words.OLD_IS_NEEDED)
        rows = [self._old_row(text) for text in old]
        named = (
            [any(row[i] is not _ABSENT for row in rows) for i in range(len(rows[0]))]
            if rows
            else []
        )
        result: list[Change] = []
        for row, was in zip(data, rows, strict=False):
            before = [_there(w) if n else r for n, w, r in zip(named, was, row, strict=True)]
            result += [("-U", before), ("+U", row)]
        return result

    def _old_row(self, text: str | None) -> list[Any]:
        try:
            if text is not None:
                row, fits = self._old.read_one(text.encode("utf-8"))
                if fits:
                    return row
        except Malformed:
            pass
        raise BadEvent(words.NO_OLD, words.OLD_IS_NEEDED)


def _there(value: Any) -> Any:
    return None if value is _ABSENT else value
