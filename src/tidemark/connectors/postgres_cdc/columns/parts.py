"""Reads parts of a table: files of its snapshot, its changes, or the table as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.cdc.frames import PartColumns, Rows
from tidemark.connectors.cdc.metadata import metadata
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.postgres.connections import connected
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc import snapshots
from tidemark.connectors.postgres_cdc.captured import (
    Captured,
    Known,
    check_fits,
)
from tidemark.connectors.postgres_cdc.columns.values import BUILT_IN, as_people_write, values_of
from tidemark.connectors.postgres_cdc.logged import check_no_heirs, check_partitions, no_old_rows
from tidemark.connectors.postgres_cdc.same_table import known_again
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

if TYPE_CHECKING:
    import polars as pl
    from adbc_driver_manager.dbapi import Cursor


class CdcColumns(PartColumns):
    def __init__(self, request: ColumnsRequest) -> None:
        self._captured = Captured.of(request)
        super().__init__(request, self._captured, o.changelog_of(request.options))

    def changes(self, part: Part) -> _ReadingChanges:
        about = json.loads(part.details)
        captured = replace(self._captured, slot=about["slot"])
        return _ReadingChanges(captured, part, about["oid"], about["visible"])

    def of_now(self) -> Iterator[pl.DataFrame]:
        return snapshots.of_now(self._captured)


# --- changes -----------------------------------------------------------------------------------


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
                known = known_again(cursor, captured, self.oid)
                # There may be new ones since the job has begun.
                check_no_heirs(known, captured)
                check_partitions(known, captured)
                check_until(state_of(cursor, captured), part.end, captured)
                self._check_slot(cursor)
            with opened_messages(connection, captured, part.end) as cursor:
                for batch in cursor.fetch_record_batch():
                    for changes in decoder.changes(batch.column(0)):
                        yield self._read(changes, known)
            with connection.cursor() as cursor:
                self._check_slot(cursor)  # it may have been moved meanwhile
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
            raise no_old_rows(known, captured) from None
        values = {
            column: self._values(rows, column, type_, known)
            for column, type_ in captured.columns_read.items()
        }
        return values, rows.kinds, metadata(captured.names, rows.kinds, rows.committed_us)

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
                hint=f"ALTER TABLE {known.described.sql} REPLICA IDENTITY FULL",
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
    return StoredColumn(found.name, type_, as_people_write(type_), None)
