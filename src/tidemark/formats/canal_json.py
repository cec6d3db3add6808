"""The canal-json format: each record is a MySQL event with all the rows that a statement changed.

An update's `old` rows contain only the fields that changed; the others are as in `data`. As in
Flink, a field counts as changed for all rows of an event if any of its `old` rows contains it.
CREATE statements are skipped. All events are read the exact way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats import canal_words as words
from tidemark.formats.changelog_json import (
    INSTANT,
    TEXT,
    BadEvent,
    Change,
    ChangelogDecoder,
    EventFormat,
    image_of,
    instant,
)
from tidemark.formats.exact_values import NotAValue, Spelling, reader
from tidemark.formats.json_documents import Documents, Malformed
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW

_ABSENT = object()
# The parts of an event, in order.
_DATA, _OLD, _TYPE, _DATABASE, _TABLE, _TS, _ES, _SQL_TYPE, _PK_NAMES = range(9)

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


_read_integer = reader(t.Int(), Spelling())


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


def canal_decoder(
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    *,
    few: int = FEW,
) -> ChangelogDecoder:
    reading = JsonOptions.of(words.NAME, options)
    events = EventFormat(
        _event(image_of(fields), metadata),
        _Canal(fields, reading, options).changes,
        {key: _READERS[key] for key in metadata},
        {key: _TYPES[key] for key in metadata},
    )
    return ChangelogDecoder(fields, reading, events, few)


def _event(image: t.Row, metadata: Sequence[str]) -> t.Row:
    fields = [
        t.Field("data", t.Array(image)),
        t.Field("old", t.Array(TEXT)),
        *(t.Field(name, TEXT) for name in ("type", "database", "table", "ts", "es")),
    ]
    # These are read only if someone asks: otherwise they may be anything.
    for name, key in (("sqlType", "value.sql-type"), ("pkNames", "value.pk-names")):
        fields.append(t.Field(name, _TYPES[key] if key in metadata else TEXT))
    return t.Row(tuple(fields))


class _Canal:
    def __init__(
        self, fields: Sequence[t.Field], options: JsonOptions, given: Mapping[str, Any]
    ) -> None:
        self._options = options
        self._old = Documents(image_of(fields), lenient=True, absent=_ABSENT, compact=True)
        self._included = [
            (part, what, key, re.compile(given[key]))
            for part, what, key in (
                (_DATABASE, "database", words.DATABASES),
                (_TABLE, "table", words.TABLES),
            )
            if given.get(key) is not None
        ]

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
        for part, what, key, pattern in self._included:
            if event[part] is None:
                raise BadEvent(words.no_name(what), words.required_by(key))
            if not pattern.fullmatch(event[part]):
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
