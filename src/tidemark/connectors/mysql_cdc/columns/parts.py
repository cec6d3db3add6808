"""Reads parts of a table: files of its snapshot, its changes, or the table as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.cdc.frames import PartColumns, Rows
from tidemark.connectors.cdc.metadata import metadata
from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc import table_scan
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, KnownTable, end_of_log
from tidemark.connectors.mysql_cdc.columns.log import logged, not_understood
from tidemark.connectors.mysql_cdc.columns.values import is_logged_as, values_of
from tidemark.connectors.mysql_cdc.notes import known_from
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.connectors.mysql_cdc.starting import check_there
from tidemark.errors import DataError, SetupError
from tidemark.formats import binlog as b
from tidemark.formats.binlog import BadLogEvent, EventBlock, LoggedTable, OldTimes
from tidemark.formats.binlog_changes import BinlogDecoder, LoggedChanges
from tidemark.formats.binlog_rows import LoggedRows, NotWhole
from tidemark.formats.binlog_statements import Meant, meant
from tidemark.formats.binlog_values import WrongLoggedValue

if TYPE_CHECKING:
    import polars as pl


class BinlogColumns(PartColumns):
    def __init__(self, request: ColumnsRequest) -> None:
        self._captured = CapturedMysql.of(request)
        super().__init__(request, self._captured, o.changelog_of(request.options))

    def changes(self, part: Part) -> ReadingChanges:
        return ReadingChanges.of(self._captured, json.loads(part.details))

    def of_now(self) -> Iterator[pl.DataFrame]:
        return table_scan.of_now(self._captured)


# --- changes -----------------------------------------------------------------------------------


@dataclass
class ReadingChanges:
    """Reads the changes between two positions of the log, between which the table is the same."""

    captured: CapturedMysql
    known: KnownTable
    start: LogPosition
    end: LogPosition
    truncated: int = 0

    @classmethod
    def of(cls, captured: CapturedMysql, about: Mapping[str, Any]) -> ReadingChanges:
        start, end = (LogPosition.of(about[key]) for key in ("start", "end"))
        return cls(captured, known_from(about["known"]), start, end)

    def rows(self) -> Iterator[Rows]:
        """The values by column, the row kinds, and what makes metadata of them."""
        captured, found = self.captured, self.known.described
        decoder = BinlogDecoder(found.schema, found.name)
        self.known.check(captured)
        keys = self.known.keys(captured)
        there = captured.asked(lambda connection: end_of_log(connection, captured))
        check_there(there, self.end, captured)
        for part in logged(captured, self.start, self.end, reaches=True):
            self._count_truncates(part.block)
            for changes in self._decoded(decoder, part.block):
                yield self._read(changes, keys)

    def _decoded(self, decoder: BinlogDecoder, block: EventBlock) -> Iterator[LoggedChanges]:
        try:
            yield from decoder.changes(block)
        except NotWhole:
            raise SetupError(
                f"changes of {self.captured} lack columns",
                notes={"why": "their session had another binlog_row_image", "expected": "FULL"},
                hint="SET GLOBAL binlog_row_image = 'FULL', FLUSH BINARY LOGS, and start the job "
                "without its checkpoint",
            ) from None
        except OldTimes:
            raise SetupError(
                f"{self.captured} has times in the form of MySQL 5.5",
                hint=f"ALTER TABLE {self.captured.quoted} FORCE",
            ) from None
        except BadLogEvent as problem:
            raise not_understood(self.captured, problem) from None

    def _read(self, changes: LoggedChanges, keys: list[int]) -> Rows:
        captured, rows = self.captured, changes.rows
        self._check_same(rows.table)
        kinds = changes.kinds(keys)
        values = {
            column: self._values(rows, column, type_)
            for column, type_ in captured.columns_read.items()
        }
        return values, kinds, metadata(captured.names, kinds, changes.seconds * 1_000_000)

    def _check_same(self, table: LoggedTable) -> None:
        """That the table was logged as the server describes it."""
        known = self.known.columns
        same = len(known) == len(table.columns) and all(map(is_logged_as, known, table.columns))
        if not same:
            raise DataError(
                f"{self.captured} had other columns when it was changed",
                notes={"database": str(self.captured.database)},
                hint="start the job without its checkpoint",
            )

    def _values(self, rows: LoggedRows, column: str, type_: t.DataType) -> pl.Series:
        import polars as pl

        captured = self.captured
        place = self.known.place(column, captured)
        stored = self.known.columns[place]
        try:
            return values_of(rows, place, stored, type_, captured.zone)
        except (WrongLoggedValue, UnicodeDecodeError, pl.exceptions.PolarsError) as problem:
            raise DataError(
                f"column `{column}` of {captured} has a value that is not {type_.text()}",
                notes={"type": stored.written, "why": str(problem).splitlines()[0]},
            ) from None

    def _count_truncates(self, block: EventBlock) -> None:
        found = self.known.described
        for at in np.flatnonzero((block.types == b.QUERY) & ~block.begins).tolist():
            default, text = b.query_of(block.body(at))
            meaning = meant(text, default, found.schema, found.name)
            self.truncated += meaning is Meant.TRUNCATES
