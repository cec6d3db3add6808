"""Change events as JSON, whatever their envelope: from events to rows with a row kind.

A format says which changes an event contains, in order, and the metadata of the event. The rest is
the same for all formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.blocks import records_of
from tidemark.formats.column_types import dtype, series
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.exact_values import NotAValue, Spelling, reader
from tidemark.formats.json_documents import Documents, Malformed
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW, QuickJson
from tidemark.formats.json_rows import QuickRows, rest_of
from tidemark.formats.json_values import RecordPlace, RowConverter, data_error, unreadable
from tidemark.formats.leaf_values import replaced
from tidemark.formats.merged import RECORD, in_order
from tidemark.functions.spark_text import safe_names

KIND = "_tm_kind"
_POSITION = "_tm_position"
TEXT = t.VarChar()
INSTANT = t.TimestampLtz(3)

INSTANTS = pl.Datetime("us", "UTC")
# Units of times, in microseconds.
MILLISECONDS, SECONDS = 1_000, 1_000_000

# A row of an event: its kind, and its fields as strings.
Change = tuple[str, Sequence[Any]]


class BadEvent(Exception):
    """An event from which no change can be made."""

    def __init__(self, problem: str, why: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.why = why
        self.hint = hint


@dataclass(frozen=True, slots=True)
class QuickChange:
    """The changes of one kind in a column of events."""

    kind: str
    rows: pl.DataFrame
    event: pl.Series  # for each row, the index of its event
    position: pl.Series | None = None  # for each row, if events may have more than one of the kind


@dataclass(frozen=True, slots=True)
class QuickEvents:
    """The changes in a column of events, in the order in which each event contains them."""

    changes: list[QuickChange]
    sure: pl.Series  # the events that these are all changes of
    metadata: dict[str, pl.Series]


@dataclass(frozen=True, slots=True)
class EventFormat:
    """One format of events, for the fields of one table and the metadata that it reads."""

    event: t.Row
    # The changes of an event, and whether it fits its type. None leaves it out. Raises BadEvent, or
    # Malformed.
    changes: Callable[[list[Any], bool], list[Change] | None]
    metadata: Mapping[str, Callable[[list[Any]], Any]]
    types: Mapping[str, t.DataType]  # of the metadata
    # The event's fields for the quick way, and what its columns contain, beside the records that
    # they are of; None if there is none.
    quick_fields: Sequence[t.Field] | None = None
    quick: Callable[[pl.DataFrame, pl.Series], QuickEvents] | None = None


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class MetadataField:
    """Metadata that a field of an event has: its type, and how the field is read."""

    field: str
    type: t.DataType = TEXT
    shape: t.DataType = TEXT
    one: Callable[[Any], Any] = _as_it_is
    many: Callable[[pl.Series], pl.Series] = _as_it_is

    @classmethod
    def of_number(cls, field: str, unit: int = MILLISECONDS) -> Self:
        """An instant that is a number of such units."""
        return cls(
            field,
            INSTANT,
            one=lambda number: instant(number, unit),
            many=lambda text: instants(text, unit),
        )

    def of_event(self, event: t.Row) -> Callable[[list[Any]], Any]:
        position = [each.name for each in event.fields].index(self.field)
        return lambda values: self.one(values[position])

    def of_columns(self) -> Callable[[pl.DataFrame], pl.Series]:
        return lambda events: self.many(events[self.field])


def chosen(
    all_fields: Mapping[str, MetadataField], keys: Sequence[str]
) -> Mapping[str, MetadataField]:
    return {key: all_fields[key] for key in keys}


@dataclass(slots=True)
class _ExactChanges:
    rows: list[list[Any]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    metadata: list[tuple[Any, ...]] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    skipped: int = 0
    count: int = 0  # of the events that were read, or skipped


class ChangelogDecoder:
    """Decodes blocks of events; `few` is when learning their shape begins to pay."""

    def __init__(
        self, fields: Sequence[t.Field], options: JsonOptions, events: EventFormat, few: int = FEW
    ) -> None:
        self._fields = fields
        self._options = options
        self._events = events
        self._documents = Documents(events.event, lenient=True)
        self._convert = RowConverter(fields, options)
        self._quick = (
            None
            if events.quick_fields is None
            else QuickJson(events.quick_fields, options, few=few)
        )
        about = [t.Field(f"{RECORD} {key}", type_) for key, type_ in events.types.items()]
        self._all_fields = [*fields, t.Field(KIND, TEXT), *about]

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        records = records_of(block)
        done = [] if self._quick is None else self._quick.read(records.text)
        known = [self._changes_of(each, records.text) for each in done]
        rest = pl.Series(np.flatnonzero(rest_of(records.count, [index for _, index in known])))
        exact = self._exactly(records.binary.gather(rest).to_list(), rest.to_list(), file, first)
        parts = [columns for columns, _ in known]
        if exact.rows:
            parts.append(self._columns(exact))
        rows = in_order(parts, self._all_fields)
        return self._decoded(rows, records.count, first, exact)

    def _decoded(self, rows: pl.DataFrame, count: int, first: int, exact: _ExactChanges) -> Decoded:
        width = len(self._fields)
        about = rows.columns[width + 1 : -1]
        return Decoded(
            rows[:, :width],
            rows[RECORD] + first,
            records=count,
            skipped=exact.skipped,
            slow=exact.count,
            kinds=rows[KIND],
            metadata={
                key: rows[name].alias(key)
                for key, name in zip(self._events.types, about, strict=True)
            },
        )

    # --- whole columns ---

    def _changes_of(self, done: QuickRows, text: pl.Series) -> tuple[list[pl.Series], pl.Series]:
        """The rows of events, and the indices of these events."""
        assert self._events.quick is not None
        found = self._events.quick(pl.DataFrame(done.columns), text.gather(done.index))
        frames = [self._rows(change, found, done.index) for change in found.changes]
        rows = pl.concat(frames).sort(RECORD, _POSITION, maintain_order=True).drop(_POSITION)
        return rows.get_columns(), done.index.filter(found.sure)

    def _rows(self, change: QuickChange, found: QuickEvents, index: pl.Series) -> pl.DataFrame:
        about = [
            found.metadata[key].gather(change.event).alias(each.name)
            for key, each in zip(
                self._events.types, self._all_fields[len(self._fields) + 1 :], strict=True
            )
        ]
        kind = pl.repeat(change.kind, change.rows.height, eager=True).alias(KIND)
        position = pl.lit(0) if change.position is None else change.position
        return change.rows.with_columns(
            kind, *about, index.gather(change.event).alias(RECORD), position.alias(_POSITION)
        )

    # --- one by one ---

    def _exactly(
        self, records: Sequence[bytes | None], index: Sequence[int], file: str | None, first: int
    ) -> _ExactChanges:
        result = _ExactChanges()
        for binary, position in zip(records, index, strict=True):
            if binary is None or not binary.strip(b"\r\n"):
                continue  # the tombstones after deletes
            result.count += 1
            place = RecordPlace(file, first + position, binary)
            try:
                self._add(place, position, result)
            except Malformed:
                if not self._options.ignores_errors:
                    raise unreadable(place, self._options) from None
                result.skipped += 1
            except BadEvent as bad:
                if not self._options.ignores_errors:
                    hint = bad.hint or self._options.skips
                    raise data_error(place, bad.problem, why=bad.why, hint=hint) from None
                result.skipped += 1
        return result

    def _add(self, place: RecordPlace, position: int, result: _ExactChanges) -> None:
        event, fits = self._documents.read_one(place.binary)
        changes = self._events.changes(event, fits)
        if changes is None:
            return
        rows = [self._convert(image, place) for _, image in changes]
        about = tuple(read(event) for read in self._events.metadata.values())
        result.rows += rows
        result.kinds += [kind for kind, _ in changes]
        result.metadata += [about] * len(rows)
        result.index += [position] * len(rows)

    def _columns(self, exact: _ExactChanges) -> list[pl.Series]:
        values = [
            (*row, kind, *about)
            for row, kind, about in zip(exact.rows, exact.kinds, exact.metadata, strict=True)
        ]
        columns = [
            series([row[i] for row in values], each.type, each.name)
            for i, each in enumerate(self._all_fields)
        ]
        return [*columns, pl.Series(RECORD, exact.index, dtype=pl.Int64)]


# --- what formats share ------------------------------------------------------------------------


def image_of(fields: Sequence[t.Field]) -> t.Row:
    """The table's row as it is in an event."""
    return t.Row(tuple(fields))


def instant(number: str | None, unit: int = MILLISECONDS) -> int | None:
    """The microseconds of a number of such units; None if it is not one."""
    if number is None:
        return None
    try:
        value: int = _read_number(number) * unit
    except NotAValue:
        return None
    return value if -(2**63) <= value < 2**63 else None


_read_number = reader(t.BigInt(), Spelling(integers_truncate=True))


def instants(text: pl.Series, unit: int = MILLISECONDS) -> pl.Series:
    """The same for whole columns of strings."""
    plain = text.str.contains(r"^-?[0-9]{1,12}$")
    numbers = pl.select(pl.when(plain).then(text)).to_series().cast(pl.Int64) * unit
    return read_again(text, numbers, lambda each: instant(each, unit)).cast(INSTANTS)


def read_again(text: pl.Series, found: pl.Series, read: Callable[[str], int | None]) -> pl.Series:
    """Numbers that were found in strings, and those that only the exact way finds."""
    odd = (text.is_not_null() & found.is_null()).arg_true()
    if not odd.len():
        return found
    others = [read(each) for each in text.gather(odd)]
    return replaced(found, odd, pl.Series(others, dtype=pl.Int64))


def part(struct: pl.Series, name: str, row: t.Row) -> pl.Series:
    """A field of a column of rows, by its name in the document."""
    names = [each.name for each in row.fields]
    return struct.struct.field(safe_names(names)[names.index(name)])


def nothing(type_: t.DataType, height: int) -> pl.Series:
    return pl.repeat(None, height, dtype=dtype(type_), eager=True)
