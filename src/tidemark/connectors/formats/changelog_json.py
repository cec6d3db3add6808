"""Change events as JSON, whatever their envelope: from events to rows with a row kind.

A format specifies in SQL which changes an event contains, as an array in order, and its metadata.
The rest is the same for all formats: lines become events, events rows, and strings values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors import records
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    FILE,
    Decode,
    Encode,
    Format,
    FormatField,
    metadata_name,
)
from tidemark.connectors.formats.conversions import truncated
from tidemark.connectors.formats.json_documents import with_documents, writing_options
from tidemark.connectors.formats.json_values import (
    TEXT,
    Reading,
    check_fields,
    malformed,
    reading_options,
    value,
)
from tidemark.formats.changelog_envelopes import DELETED, envelopes
from tidemark.functions.spark_text import string
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT_TYPE = t.VarChar()
INSTANT = t.TimestampLtz(3)
# The time of the change in the database, under its older name.
CHANGE_TIME = "db_operation_time"

_CHANGE = "_tm_change"
_CHANGES = "_tm_changes"


def changelog_format(
    name: str,
    options: tuple[OptionSpec, ...],
    metadata: Mapping[str, t.DataType],
    events: Callable[[Decode, Reading], Events],
    check: Callable[[Table, Mapping[str, Any]], None] = lambda table, options: None,
    check_sink: Callable[[Table, Mapping[str, Any]], None] = lambda table, options: None,
) -> Format:
    """A format of change events: its own options and the checks of them, the metadata of
    events, and how lines become events.
    """

    def check_table(
        table: Table, fields: tuple[FormatField, ...], given: Mapping[str, Any]
    ) -> None:
        check_fields(table, fields)
        check(table, given)

    def read(decode: Decode) -> DataFrame:
        reading = Reading(name, decode.options)
        return _rows_of(events(decode, reading), decode, reading)

    return Format(
        name,
        (*reading_options(name), *writing_options(name), *options),
        check_table,
        read,
        lambda encode: _events_of(encode, name),
        changelog=Changelog.RETRACT,
        metadata=metadata,
        check_sink=check_sink,
    )


def image_of(fields: tuple[FormatField, ...]) -> t.Row:
    """The table's row as it is in an event."""
    return t.Row(tuple(t.Field(field.name, field.type) for field in fields))


@dataclass(frozen=True, slots=True)
class Events:
    """The events in the lines of `frame`, as SQL over its columns.

    `changes` is an array of results of `change`; NULL skips the event. `metadata` has an expression
    for each key.
    """

    frame: DataFrame
    changes: str
    metadata: Mapping[str, str]


def change(kind: str, image: str) -> str:
    """One row of an event: its kind and its fields as strings."""
    return f"named_struct('kind', '{kind}', 'image', {image})"


def first_of(cases: Iterable[tuple[str, str]], otherwise: str) -> str:
    """The changes of the first case whose condition holds."""
    whens = " ".join(f"WHEN {condition} THEN {changes}" for condition, changes in cases)
    return f"CASE {whens} ELSE {otherwise} END"


def unreadable(condition: str, reading: Reading) -> list[tuple[str, str]]:
    """The case of an event that is not JSON of its shape; None if such events are skipped."""
    return [] if reading.ignores_errors else [(condition, malformed(TEXT, reading))]


def _rows_of(events: Events, decode: Decode, reading: Reading) -> DataFrame:
    """One row for each change of each event, in order, with its kind and metadata."""
    from pyspark.sql.functions import expr

    about = [f"{sql} AS {metadata_name(key)}" for key, sql in events.metadata.items()]
    changes = events.changes
    frame = events.frame.selectExpr("*", *about)
    if reading.ignores_errors:
        frame = frame.withColumn(_CHANGES, expr(changes))
        frame = decode.count_skipped(frame, f"size({_CHANGES}) = 1 AND {_CHANGES}[0] IS NULL")
        changes = f"filter({_CHANGES}, _change -> _change IS NOT NULL)"
    kept = (*(metadata_name(key) for key in events.metadata), TEXT, *ABOUT_FILES)
    opened = frame.selectExpr(f"explode({changes}) AS {_CHANGE}", *kept)
    fields = [
        f"{value(f'{_CHANGE}.image._{i}', field, reading, record=TEXT)} AS {field.sql}"
        for i, field in enumerate(decode.fields)
    ]
    metadata = [metadata_name(key) for key in events.metadata]
    return opened.selectExpr(*fields, f"{_CHANGE}.kind AS {KIND}", *metadata, *ABOUT_FILES)


def bad_event(reading: Reading, *, problem: str, reason: str, hint: str | None = None) -> str:
    """Fails because of an event, or skips it if so configured. The strings are SQL."""
    if reading.ignores_errors:
        return "array(NULL)"  # and not NULL, which would not be counted
    skips = string(f"'{reading.ignore_option}' = 'true' skips such records")
    return records.raising(
        file=FILE, record=TEXT, problem=problem, reason=reason, hint=hint or skips
    )


def milliseconds(sql: str) -> str:
    """The instant of a number of milliseconds; NULL for NULL."""
    return f"timestamp_millis({truncated(sql, 'BIGINT')})"


def seconds(sql: str) -> str:
    """The instant of a number of seconds; NULL for NULL, and for what is not an instant."""
    return f"timestamp_micros(try_multiply({truncated(sql, 'BIGINT')}, 1000000L))"


# --- writing -----------------------------------------------------------------------------------


def _events_of(encode: Encode, format_: str) -> DataFrame:
    """The rows as events in one column `value`."""
    kinds = (KIND,) if KIND in encode.frame.columns else ()
    rows = with_documents(replace(encode, keep=(*encode.keep, *kinds)), format_)
    without_nulls = encode.options[f"{format_}.encode.ignore-null-fields"]
    around = envelopes(format_, without_nulls=without_nulls)
    event = _around("value", *around.inserted)
    if kinds:
        deleted = ", ".join(map(string, DELETED))
        event = (
            f"CASE WHEN {KIND} IN ({deleted}) THEN {_around('value', *around.deleted)} "
            f"ELSE {event} END"
        )
    return rows.selectExpr(f"{event} AS value", *encode.keep)


def _around(sql: str, before: str, after: str) -> str:
    return f"concat({string(before)}, {sql}, {string(after)})"
