"""Events with `data` and `old` as Spark SQL: Canal's and Maxwell's.

An update's `old` rows contain only the fields that changed; the others are as in `data`. As in
Flink, a field counts as changed for all rows of an event if its name occurs anywhere in `old`,
however deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.formats.base import ABOUT_FILES, Decode
from tidemark.connectors.formats.changelog_json import (
    TEXT_TYPE,
    Events,
    bad_event,
    change,
    first_of,
    image_of,
    unreadable,
)
from tidemark.connectors.formats.conversions import matches
from tidemark.connectors.formats.json_values import (
    DOCUMENT,
    PARSER,
    TEXT,
    Reading,
    document_shape,
    document_type,
    documents,
)
from tidemark.formats import old_rows_words as words
from tidemark.formats.old_rows_words import OldRowsEvents
from tidemark.functions.spark_text import string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DATA, _OLD_TEXTS, _TYPE = "_tm_data", "_tm_old_texts", "_tm_type"
# The rows of `old`.
_OLD = "_tm_old"


def events(
    kind: OldRowsEvents,
    decode: Decode,
    reading: Reading,
    others: Sequence[str],
    metadata: Mapping[str, str],
    included: Mapping[str, str],
) -> Events:
    """`others` are further fields of an event, as strings; `field(name)` is such a one in SQL.
    `included` are the options that choose events by such a field, by its name.
    """
    image = image_of(decode.fields)
    event = _event(kind, image, others)
    frame = _with_rows(documents(decode, event), kind, image, others)
    bad = f"{DOCUMENT}._{len(event.fields)} IS NOT NULL"
    return Events(frame, _Changes(kind, image, reading, included, bad).sql(), metadata)


def field(name: str) -> str:
    return f"_tm_event_{name}"


def _event(kind: OldRowsEvents, image: t.Row, others: Sequence[str]) -> t.Row:
    def rows(type_: t.DataType) -> t.DataType:
        return t.Array(type_) if kind.lists else type_

    first = (
        t.Field("data", rows(image)),
        t.Field("old", rows(TEXT_TYPE)),
        t.Field("type", TEXT_TYPE),
    )
    return t.Row((*first, *(t.Field(name, TEXT_TYPE) for name in others)))


def _with_rows(
    frame: DataFrame, kind: OldRowsEvents, image: t.Row, others: Sequence[str]
) -> DataFrame:
    """The events by their parts, with their `old` rows: a field that is NULL there was NULL, a
    missing one has not changed.
    """
    from pyspark.sql import functions as f

    def rows(part: str) -> str:
        return part if kind.lists else f"CASE WHEN {part} IS NOT NULL THEN array({part}) END"

    texts = rows(f"{DOCUMENT}._1")
    shape = document_shape(image)
    old = f.transform(f.expr(texts), lambda text: f.from_json(text, shape, PARSER))
    return frame.select(
        DOCUMENT,
        f.expr(rows(f"{DOCUMENT}._0")).alias(_DATA),
        f.expr(texts).alias(_OLD_TEXTS),
        f.expr(f"{DOCUMENT}._2").alias(_TYPE),
        *(f.expr(f"{DOCUMENT}._{3 + i}").alias(field(name)) for i, name in enumerate(others)),
        old.cast(f"ARRAY<{document_type(image)}>").alias(_OLD),
        TEXT,
        *ABOUT_FILES,
    )


class _Changes:
    """The changes of an event."""

    def __init__(
        self,
        kind: OldRowsEvents,
        image: t.Row,
        reading: Reading,
        included: Mapping[str, str],
        bad: str,
    ) -> None:
        self._kind = kind
        self._image = image
        self._reading = reading
        self._included = included
        self._bad = bad

    def sql(self) -> str:
        insert, update, delete = map(string, self._kind.types)
        rows = f"forall({_DATA}, row -> row IS NOT NULL)"
        pair = f"array({change('-U', self._before())}, {change('+U', 'row')})"
        cases = [
            *self._unwanted(),
            *unreadable(self._bad, self._reading),
            *self._skipped(),
            (
                f"{_TYPE} IN ({insert}, {update}, {delete}) AND NOT coalesce({rows}, FALSE)",
                self._no_data(),
            ),
            (f"{_TYPE} = {insert}", f"transform({_DATA}, row -> {change('+I', 'row')})"),
            (f"{_TYPE} = {delete}", f"transform({_DATA}, row -> {change('-D', 'row')})"),
            (
                f"{_TYPE} = {update} AND {self._has_old()}",
                f"flatten(transform({_DATA}, (row, i) -> {pair}))",
            ),
            (f"{_TYPE} = {update}", self._no_old()),
        ]
        return first_of(cases, self._unknown())

    def _skipped(self) -> list[tuple[str, str]]:
        skipped = self._kind.skipped
        return [] if skipped is None else [(f"{_TYPE} = {string(skipped)}", "NULL")]

    def _has_old(self) -> str:
        fits = f"row._{len(self._image.fields)} IS NULL"
        if self._reading.ignores_errors:
            # A value that does not fit is NULL, but there must be a row.
            objects = f"forall({_OLD_TEXTS}, text -> json_object_keys(text) IS NOT NULL)"
            return f"size({_OLD}) >= size({_DATA}) AND {objects}"
        rows = f"forall({_OLD}, row -> row IS NOT NULL AND {fits})"
        return f"size({_OLD}) >= size({_DATA}) AND {rows}"

    def _unwanted(self) -> list[tuple[str, str]]:
        """Events of other databases and tables, whose rows have another form, come first."""
        cases = []
        for name, key in self._included.items():
            pattern = self._reading.options[key]
            if pattern is not None:
                missing = bad_event(
                    self._reading,
                    problem=string(self._kind.no_name(name)),
                    reason=string(words.required_by(key)),
                )
                part = field(name)
                cases.append((f"{part} IS NULL", missing))
                cases.append((f"NOT {part} RLIKE {string(f'^(?:{pattern})$')}", "NULL"))
        return cases

    def _before(self) -> str:
        """The row before the change: the fields in `old`, and the others from `data`."""
        parts = []
        for i, each in enumerate(self._image.fields):
            was = f"{_OLD}[i]._{i}"
            changed = f"{was} IS NOT NULL OR {_is_named(each.name)}"
            parts.append(f"'_{i}', CASE WHEN {changed} THEN {was} ELSE row._{i} END")
        return f"named_struct({', '.join(parts)})"

    def _no_data(self) -> str:
        return bad_event(
            self._reading,
            problem=f"concat({string(self._kind.no_data(''))}, {_TYPE})",
            reason=string(self._kind.data_is_needed),
        )

    def _no_old(self) -> str:
        return bad_event(
            self._reading, problem=string(self._kind.no_old), reason=string(words.OLD_IS_NEEDED)
        )

    def _unknown(self) -> str:
        return bad_event(
            self._reading,
            problem=f"concat({string(self._kind.unknown(''))}, coalesce({_TYPE}, 'none'))",
            reason=string(self._kind.known),
        )


def _is_named(name: str) -> str:
    """Whether an object in `old` has a field of this name, however deep."""
    written = r"[{,]\s*" + re.escape(json.dumps(name, ensure_ascii=False)) + r"\s*:"
    return f"exists({_OLD_TEXTS}, text -> {matches('text', written)})"
