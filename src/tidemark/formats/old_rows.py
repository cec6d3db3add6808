"""Events with `data` and `old`, one by one: Canal's and Maxwell's.

The `old` of an update has only the fields that changed; the others are as in `data`. As in Flink, a
field counts as changed for all rows of an event if its name occurs anywhere in `old`, however deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats import old_rows_words as words
from tidemark.formats.changelog_json import (
    TEXT,
    BadEvent,
    Change,
    EventFormat,
    MetadataField,
    image_of,
)
from tidemark.formats.json_documents import STRING, Documents, Malformed, unescaped
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_structs import PartialRow
from tidemark.formats.old_rows_quick import OldRowsColumns
from tidemark.formats.old_rows_words import OldRowsEvents

_NAMES = re.compile(rf"({STRING})([ \t\r\n]*+:)?")


def old_rows_format(
    kind: OldRowsEvents,
    fields: Sequence[t.Field],
    reading: JsonOptions,
    metadata: Mapping[str, MetadataField],
    included: Mapping[str, tuple[re.Pattern[str], str]],
) -> EventFormat:
    """`included` are parts of an event with what they must match, and the option that says so."""
    image = image_of(fields)
    named = dict.fromkeys(included, TEXT) | {m.field: m.shape for m in metadata.values()}
    others = tuple(t.Field(name, shape) for name, shape in named.items())
    event = _event(kind, image, TEXT, others)
    patterns = {name: pattern for name, (pattern, _) in included.items()}
    quick = {key: field.of_columns() for key, field in metadata.items()}
    return EventFormat(
        event,
        _OldRows(kind, fields, reading, included, _positions(event)).changes,
        {key: field.of_event(event) for key, field in metadata.items()},
        {key: field.type for key, field in metadata.items()},
        _event(kind, image, PartialRow(image.fields), others).fields,
        OldRowsColumns(kind, fields, patterns, quick).changes,
    )


def _event(
    kind: OldRowsEvents, image: t.Row, old: t.DataType, others: tuple[t.Field, ...]
) -> t.Row:
    def rows(type_: t.DataType) -> t.DataType:
        return t.Array(type_) if kind.lists else type_

    first = (t.Field("data", rows(image)), t.Field("old", rows(old)), t.Field("type", TEXT))
    return t.Row((*first, *others))


def _positions(event: t.Row) -> Mapping[str, int]:
    return {field.name: position for position, field in enumerate(event.fields)}


class _OldRows:
    def __init__(
        self,
        kind: OldRowsEvents,
        fields: Sequence[t.Field],
        options: JsonOptions,
        included: Mapping[str, tuple[re.Pattern[str], str]],
        positions: Mapping[str, int],
    ) -> None:
        self._kind = kind
        self._names = [field.name for field in fields]
        self._options = options
        self._old = Documents(image_of(fields), lenient=True)
        self._included = included
        self._positions = positions
        self._listed: Callable[[Any], Any] = (
            (lambda rows: rows) if kind.lists else (lambda row: None if row is None else [row])
        )

    def changes(self, event: list[Any], fits: bool) -> list[Change] | None:
        # Events of other databases and tables, whose rows have another form, come first.
        if not self._is_included(event):
            return None
        if not fits and not self._options.ignores_errors:
            raise Malformed
        data, old, type_ = self._listed(event[0]), self._listed(event[1]), event[2]
        kind = self._kind
        if kind.skipped is not None and type_ == kind.skipped:
            return None
        if type_ not in kind.types:
            raise BadEvent(kind.unknown("none" if type_ is None else type_), kind.known)
        if data is None or None in data:
            raise BadEvent(kind.no_data(type_), kind.data_is_needed)
        if type_ == kind.update:
            return self._updates(data, old)
        return [("+I" if type_ == kind.insert else "-D", row) for row in data]

    def _is_included(self, event: list[Any]) -> bool:
        for part, (pattern, option) in self._included.items():
            name = event[self._positions[part]]
            if name is None:
                raise BadEvent(self._kind.no_name(part), words.required_by(option))
            if not pattern.fullmatch(name):
                return False
        return True

    def _updates(self, data: list[list[Any]], old: list[str | None] | None) -> list[Change]:
        if old is None or len(old) < len(data):
            raise self._no_old()
        rows = [self._old_row(text) for text in old]
        names = {name for text in old if text is not None for name in _names_in(text)}
        changed = [name in names for name in self._names]
        result: list[Change] = []
        for row, was in zip(data, rows, strict=False):
            before = [w if c else r for c, w, r in zip(changed, was, row, strict=True)]
            result += [("-U", before), ("+U", row)]
        return result

    def _old_row(self, text: str | None) -> list[Any]:
        try:
            if text is not None:
                row, fits = self._old.read_one(text.encode("utf-8"))
                if fits or self._options.ignores_errors:
                    return row
        except Malformed:
            pass
        raise self._no_old()

    def _no_old(self) -> BadEvent:
        return BadEvent(self._kind.no_old, words.OLD_IS_NEEDED)


def _names_in(text: str) -> set[str]:
    """The names of all fields in a document."""
    return {unescaped(found[1][1:-1]) for found in _NAMES.finditer(text) if found[2]}
