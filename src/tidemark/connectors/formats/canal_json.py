"""The canal-json format: each line is a MySQL event with all the rows that a statement changed.

An update's `old` rows contain only the fields that changed; the others are as in `data`. As in
Flink, a field counts as changed for all rows of an event if any of its `old` rows contains it.
CREATE statements are skipped.

Flink's filesystem connector does not provide an event's metadata; here the metadata columns work
with all connectors: `ts TIMESTAMP_LTZ(3) METADATA FROM 'value.event-timestamp'`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import ABOUT_FILES, Decode
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
from tidemark.connectors.formats.json_values import (
    DOCUMENT,
    PARSER,
    TEXT,
    Reading,
    document_shape,
    document_type,
    documents,
)
from tidemark.connectors.options import option_error
from tidemark.formats import canal_words as words
from tidemark.functions.spark_text import string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = words.NAME
DATABASES = words.DATABASES
TABLES = words.TABLES

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

# The parts of an event, in the order of `_event`.
_DATA, _OLD_TEXTS, _TYPE, _DATABASE, _TABLE, _SQL_TYPE, _PK_NAMES, _TS, _ES, _UNREADABLE = (
    f"{DOCUMENT}._{i}" for i in range(10)
)
# The rows of `old`, and the fields that any of them contains.
_OLD = "_tm_old"
_NAMED = "_tm_named"


def check(table: Table, options: Mapping[str, Any]) -> None:
    for key in (DATABASES, TABLES):
        try:
            re.compile(options[key] or "")
        except re.error as problem:
            raise option_error(table, key, f"not a regular expression: {problem}") from None


def events(decode: Decode, reading: Reading) -> Events:
    image = image_of(decode.fields)
    frame = _with_old(documents(decode, _event(image)), image)
    return Events(frame, _changes(image, reading), _metadata())


def _event(image: t.Row) -> t.Row:
    strings = ("type", "database", "table", "sqlType", "pkNames", "ts", "es")
    return t.Row(
        (
            t.Field("data", t.Array(image)),
            t.Field("old", t.Array(TEXT_TYPE)),
            *(t.Field(name, TEXT_TYPE) for name in strings),
        )
    )


def _with_old(frame: DataFrame, image: t.Row) -> DataFrame:
    """The events and their `old` rows, and which fields these contain: a field that is NULL
    there was NULL, a missing one has not changed.
    """
    from pyspark.sql import functions as f

    shape = document_shape(image)
    old = f.transform(f.expr(_OLD_TEXTS), lambda text: f.from_json(text, shape, PARSER))
    named = f.expr(f"flatten(transform({_OLD_TEXTS}, text -> json_object_keys(text)))")
    return frame.select(
        DOCUMENT,
        old.cast(f"ARRAY<{document_type(image)}>").alias(_OLD),
        named.alias(_NAMED),
        TEXT,
        *ABOUT_FILES,
    )


def _changes(image: t.Row, reading: Reading) -> str:
    rows = f"forall({_DATA}, row -> row IS NOT NULL)"
    old = (
        f"size({_OLD}) >= size({_DATA}) AND "
        f"forall({_OLD}, row -> row IS NOT NULL AND row._{len(image.fields)} IS NULL)"
    )
    pair = f"array({change('-U', _before(image))}, {change('+U', 'row')})"
    cases = [
        *_unwanted(reading),
        *unreadable(f"{_UNREADABLE} IS NOT NULL", reading),
        (f"{_TYPE} = 'CREATE'", "NULL"),
        (
            f"{_TYPE} IN ('INSERT', 'UPDATE', 'DELETE') AND NOT coalesce({rows}, FALSE)",
            _no_data(reading),
        ),
        (f"{_TYPE} = 'INSERT'", f"transform({_DATA}, row -> {change('+I', 'row')})"),
        (f"{_TYPE} = 'DELETE'", f"transform({_DATA}, row -> {change('-D', 'row')})"),
        (f"{_TYPE} = 'UPDATE' AND {old}", f"flatten(transform({_DATA}, (row, i) -> {pair}))"),
        (f"{_TYPE} = 'UPDATE'", _no_old(reading)),
    ]
    return first_of(cases, _unknown(reading))


def _unwanted(reading: Reading) -> list[tuple[str, str]]:
    """Events of other databases and tables, whose rows have another form, come first."""
    cases = []
    for part, what, key in ((_DATABASE, "database", DATABASES), (_TABLE, "table", TABLES)):
        pattern = reading.options[key]
        if pattern is not None:
            missing = bad_event(
                reading,
                problem=string(words.no_name(what)),
                reason=string(words.required_by(key)),
            )
            cases.append((f"{part} IS NULL", missing))
            cases.append((f"NOT {part} RLIKE {string(f'^(?:{pattern})$')}", "NULL"))
    return cases


def _before(image: t.Row) -> str:
    """The row before the change: the fields in `old`, and the others from `data`."""
    parts = []
    for i, field in enumerate(image.fields):
        was = f"{_OLD}[i]._{i}"
        changed = f"{was} IS NOT NULL OR array_contains({_NAMED}, {string(field.name)})"
        parts.append(f"'_{i}', CASE WHEN {changed} THEN {was} ELSE row._{i} END")
    return f"named_struct({', '.join(parts)})"


def _no_data(reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(words.no_data(''))}, {_TYPE})",
        reason=string(words.DATA_IS_NEEDED),
    )


def _no_old(reading: Reading) -> str:
    return bad_event(
        reading,
        problem=string(words.NO_OLD),
        reason=string(words.OLD_IS_NEEDED),
    )


def _unknown(reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(words.unknown(''))}, coalesce({_TYPE}, 'none'))",
        reason=string(words.KNOWN),
    )


def _metadata() -> dict[str, str]:
    return {
        "value.database": _DATABASE,
        "value.table": _TABLE,
        "value.sql-type": f"from_json({_SQL_TYPE}, 'MAP<STRING, INT>')",
        "value.pk-names": f"from_json({_PK_NAMES}, 'ARRAY<STRING>')",
        "value.ingestion-timestamp": milliseconds(_TS),
        "value.event-timestamp": milliseconds(_ES),
        CHANGE_TIME: milliseconds(_ES),
    }


CANAL_JSON = changelog_format(NAME, OPTIONS, METADATA, events, check)
