"""Reads parts of a table: files of its snapshot, its changes, or the table as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.postgres.connections import connected
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc import snapshots
from tidemark.connectors.postgres_cdc.captured import (
    Captured,
    Known,
    check_fits,
    no_old_rows,
)
from tidemark.connectors.postgres_cdc.columns.values import BUILT_IN, values_of
from tidemark.connectors.postgres_cdc.metadata import metadata
from tidemark.connectors.postgres_cdc.slots import (
    check_from,
    check_until,
    opened_messages,
    state_of,
)
from tidemark.connectors.postgres_cdc.snapshots import VisibleTransactions
from tidemark.errors import DataError
from tidemark.formats.pgoutput import ChangedColumn, ChangeDecoder, Flags, Longs, TableChanges
from tidemark.formats.pgoutput_rows import ChangedRows, NoOldRow, Untouched, changed_rows
from tidemark.kernels.columns import KIND, PLACE
from tidemark.storage import Location

if TYPE_CHECKING:
    import polars as pl
    from adbc_driver_manager.dbapi import Cursor


class CdcColumns:
    """Reads parts as frames with the columns of a request."""

    def __init__(self, request: ColumnsRequest) -> None:
        self._request = request
        self._captured = Captured.of(request)
        self._appends = o.changelog_of(request.options) is Changelog.APPEND

    def __call__(self, part: Part) -> Iterator[pl.DataFrame]:
        for frame, skipped in self._frames(part):
            if self._request.count is not None:
                self._request.count(frame.height, skipped)
            if frame.height:
                yield frame

    def _frames(self, part: Part) -> Iterator[tuple[pl.DataFrame, int]]:
        if part.details:
            about = json.loads(part.details)
            captured = replace(self._captured, slot=about["slot"])
            changes = _ReadingChanges(captured, part, about["oid"], about["visible"])
            for rows, kinds, of_rows in changes.rows():
                yield self._made(rows, kinds, of_rows), 0
            if changes.truncated:
                yield self._nothing, changes.truncated
            return
        for values in self._table(part):
            kinds = _repeated("+I", values.height)
            times = np.zeros(values.height, np.int64)
            yield self._made(_by_name(values), kinds, metadata(self._captured, kinds, times)), 0

    def _table(self, part: Part) -> Iterator[pl.DataFrame]:
        if part.file:
            return snapshots.read(Location(part.file, self._request.access))
        return snapshots.of_now(self._captured)

    @property
    def _nothing(self) -> pl.DataFrame:
        kinds = _repeated("+I", 0)
        none = metadata(self._captured, kinds, np.zeros(0, np.int64))
        return self._made({}, kinds, none)

    def _made(
        self,
        values: dict[str, pl.Series],
        kinds: pl.Series,
        of_rows: Callable[[str], pl.Series],
    ) -> pl.DataFrame:
        """The columns as the plan names them. What is not read is NULL."""
        import polars as pl

        request, height = self._request, len(kinds)
        made = []
        for column, type_ in self._captured.columns.items():
            if column in values:
                made.append(values[column])
            elif column in self._captured.columns_read and height:
                raise DataError(
                    f"the snapshot of {self._captured} was taken without column `{column}`",
                    hint="start the job without its checkpoint",
                )
            else:
                made.append(_nulls(type_, height))
        made += [of_rows(key) for key in request.metadata]
        named = [value.alias(name) for value, name in zip(made, request.columns, strict=True)]
        if not self._appends:
            named.append(kinds.alias(KIND))
        if request.placed:
            named.append(_repeated(f"table {self._captured}", height).alias(PLACE))
        return pl.DataFrame(named or [kinds])


def _by_name(frame: pl.DataFrame) -> dict[str, pl.Series]:
    return {column: frame[column] for column in frame.columns}


def _repeated(value: str, count: int) -> pl.Series:
    import polars as pl

    return pl.repeat(value, count, dtype=pl.String, eager=True)


def _nulls(type_: t.DataType, count: int) -> pl.Series:
    import polars as pl

    from tidemark.columns import polars_type

    return pl.repeat(None, count, dtype=polars_type(type_), eager=True)


# --- changes -----------------------------------------------------------------------------------

Rows = tuple[dict[str, "pl.Series"], "pl.Series", Callable[[str], "pl.Series"]]


@dataclass
class _ReadingChanges:
    """Reads the changes between two positions of the log."""

    captured: Captured
    part: Part
    oid: int  # the table
    visible: str | None  # the transactions of the snapshot, if some of them may come
    truncated: int = 0

    def rows(self) -> Iterator[Rows]:
        """The values by column, the row kinds, and what makes metadata of them."""
        captured, part = self.captured, self.part
        assert part.end is not None
        decoder = ChangeDecoder(self.oid, self._wanted)
        captured.wait_until_reachable()
        with connected(captured.database, f"reading changes of {captured}") as connection:
            with connection.cursor() as cursor:
                known = Known.of(cursor, captured)
                check_until(state_of(cursor, captured), part.end, captured)
                self._check_slot(cursor)
            with opened_messages(connection, captured, part.end) as cursor:
                for batch in cursor.fetch_record_batch():
                    for changes in decoder.changes(batch.column(0)):
                        yield self._read(changes, known)
            with connection.cursor() as cursor:
                self._check_slot(cursor)  # that nobody has moved it meanwhile
        self.truncated = decoder.truncated

    def _check_slot(self, cursor: Cursor) -> None:
        check_from(state_of(cursor, self.captured), self.part.start, self.captured)

    def _wanted(self, committed: Longs, numbers: Longs) -> Flags:
        """The transactions of the part that the snapshot does not have."""
        inside = (committed >= self.part.start) & (committed < (self.part.end or 0))
        if self.visible is None:
            return np.asarray(inside)
        return np.asarray(inside & ~VisibleTransactions.read(self.visible).has(committed, numbers))

    def _read(self, changes: TableChanges, known: Known) -> Rows:
        captured = self.captured
        try:
            rows = changed_rows(changes, known.keys(captured), upserts=captured.upserts)
        except NoOldRow:
            raise no_old_rows(captured) from None
        values = {
            column: self._values(rows, column, type_, known)
            for column, type_ in captured.columns_read.items()
        }
        return values, rows.kinds, metadata(captured, rows.kinds, rows.committed_us)

    def _values(self, rows: ChangedRows, column: str, type_: t.DataType, known: Known) -> pl.Series:
        captured = self.captured
        place, found = self._found(rows.changes.table.columns, column)
        stored = _stored(found, known, captured)
        check_fits(stored, column, type_, captured)
        try:
            strings = rows.strings(place)
        except Untouched:
            raise DataError(
                f"an update of {captured} lacks column `{column}`",
                notes={"why": "it is large, and updates that do not touch it leave it out"},
                hint=f"ALTER TABLE {captured.quoted} REPLICA IDENTITY FULL",
            ) from None
        values = values_of(strings, stored.type, type_)
        if values is None:
            raise DataError(
                f"column `{column}` of {captured} has a value that is not {type_.text()}",
                notes={"type": stored.written},
            )
        return values

    def _found(self, columns: tuple[ChangedColumn, ...], wanted: str) -> tuple[int, ChangedColumn]:
        """A column by its name, or by the one that PostgreSQL makes of it without quotes."""
        places = {column.name: place for place, column in enumerate(columns)}
        place = places.get(wanted, places.get(wanted.lower()))
        if place is None:
            raise DataError(
                f"column `{wanted}` of {self.captured} is not in its changes",
                notes={
                    "why": "it was renamed or dropped, or the publication leaves it out",
                    "columns": ", ".join(places),
                },
                hint="start the job without its checkpoint, with the columns that there are",
            )
        return place, columns[place]


def _stored(found: ChangedColumn, known: Known, captured: Captured) -> StoredColumn:
    """The column as it was when it was changed."""
    type_ = BUILT_IN.get(found.type_oid) or known.types.get(found.type_oid)
    if type_ is None:
        raise DataError(
            f"column `{found.name}` of {captured} has got another type",
            notes={"why": "changes that were not read yet have values of the old one"},
            hint="start the job without its checkpoint",
        )
    return StoredColumn(found.name, type_, type_, None)
