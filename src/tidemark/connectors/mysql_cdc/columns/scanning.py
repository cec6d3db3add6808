"""Looks through the log for whole transactions, for changes of a table, and for statements that
change what it is.

Only what is special is looked at one by one: nothing is done for each row, and little for each
event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tidemark.connectors.jdbc.contract import Described
from tidemark.connectors.mysql_cdc.captured import CapturedMysql
from tidemark.connectors.mysql_cdc.columns.log import Logged, logged, lost
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import DataError, SetupError
from tidemark.formats import binlog as b
from tidemark.formats.binlog import EventBlock, Flags, Longs
from tidemark.formats.binlog_changes import defined_name, definitions
from tidemark.formats.binlog_statements import Meant, meant

# MariaDB's events that begin a transaction, or say that one statement follows.
_MARIADB_GTID: Final = 162
_STANDALONE: Final = 1
# Events that belong to what follows them.
_BEFORE: Final = np.array(
    [5, 13, 14, b.TABLE_MAP, 33, 34, 42, 160, _MARIADB_GTID, *b.ROWS.tolist()], np.uint8
)
_UNKNOWN: Final = np.array([b.PARTIAL_UPDATE_ROWS, *b.COMPRESSED], np.uint8)


@dataclass(slots=True)
class ScannedLog:
    """What is in a range of the log. It ends after a whole transaction."""

    end: LogPosition
    changes: bool = False  # whether rows of the table have changed up to there
    truncated: bool = False  # whether all or some of it was
    # The last statement after which the table may be another one, and whether rows had changed
    # before it.
    defined: LogPosition | None = None
    dropped: bool = False
    changes_before: bool = False

    def define(self, at: LogPosition, *, dropped: bool) -> None:
        self.changes_before |= self.changes
        self.changes, self.defined, self.dropped = False, at, dropped


@dataclass
class LogScan:
    """Looks from one position to another. It stops early after `most` bytes, or, if it `stops`,
    where the table may have become another one.
    """

    captured: CapturedMysql
    table: Described
    stops: bool = True
    most: int | None = None
    _open: bool = field(default=False, init=False)  # inside of a transaction
    _own_open: bool = field(default=False, init=False)  # that has changed the table
    _pending: bool = field(default=False, init=False)  # changes after the last whole transaction

    def run(self, start: LogPosition, until: LogPosition) -> ScannedLog:
        found = ScannedLog(start)
        read = 0
        for part in logged(self.captured, start, until):
            read += int((part.block.ends - part.block.starts).sum())
            self._look(part, found)
            if self.stops and found.defined is not None:
                break
            if self.most is not None and read >= self.most and start < found.end:
                break
        return found

    def _look(self, part: Logged, found: ScannedLog) -> None:
        block = part.block
        _check_known(block, self.captured)
        own = definitions(block, defined_name(self.table.schema, self.table.name))
        marks, special = self._marks(block, own)
        since = 0
        for at, meaning in special:
            if meaning is Meant.TRUNCATES:
                found.truncated = True
                continue
            found.changes |= self._pending or bool(((own >= since) & (own < at)).any())
            found.define(self._position(part, at), dropped=meaning is Meant.DROPS)
            since, self._pending = at, False
            if self.stops:
                return
        own = own[own >= since]
        inside = _carried(marks, self._open)
        self._open = bool(inside[-1]) if len(inside) else self._open
        ends = ~inside & (block.end_positions > 0) & ~np.isin(block.types, _BEFORE)
        if not ends.any():
            self._pending |= len(own) > 0
            return
        last = int(np.flatnonzero(ends)[-1])
        found.end = self._position(part, last)
        found.changes |= self._pending or bool((own < last).any())
        self._pending = bool((own > last).any())

    def _position(self, part: Logged, at: int) -> LogPosition:
        if part.block.types[at] == b.ROTATE:
            file, byte = b.rotated_to(part.block.body(at))
            return LogPosition(file, byte)
        return LogPosition(part.file, int(part.block.end_positions[at]), part.made)

    def _marks(self, block: EventBlock, own: Longs) -> tuple[Longs, list[tuple[int, Meant]]]:
        """Where transactions begin (1) and end (-1); and the statements that empty the table, drop
        it, or may make it another one.
        """
        types = block.types
        marks = np.zeros(len(block), np.int64)
        marks[types == b.XID] = -1
        gtids = np.flatnonzero(types == _MARIADB_GTID)
        flags = block.data[block.starts[gtids] + b.HEADER + 12]
        marks[gtids[flags & _STANDALONE == 0]] = 1
        statements = np.isin(types, (b.QUERY, b.LOAD, b.XA_PREPARE))
        begins = block.begins
        marks[begins] = 1
        special: list[tuple[int, Meant]] = []
        for at in np.flatnonzero(statements & ~begins).tolist():
            meaning = self._meaning(block, at)
            if meaning is Meant.BEGINS:
                marks[at] = 1
            elif meaning in (Meant.COMMITS, Meant.ROLLS_BACK):
                self._check_undone(block, at, marks, own, meaning)
                marks[at] = -1
            elif meaning is Meant.CHANGES:
                raise _not_as_rows(self.captured)
            elif meaning is not Meant.OTHER:
                special.append((at, meaning))
        self._own_open = self._is_own_open(len(block), marks, own)
        return marks, special

    def _meaning(self, block: EventBlock, at: int) -> Meant:
        body = block.body(at)
        if block.types[at] == b.XA_PREPARE:
            return Meant.COMMITS if b.is_one_phase(body) else Meant.ROLLS_BACK
        default, text = b.query_of(body, int(block.types[at]))
        return meant(text, default, self.table.schema, self.table.name)

    def _check_undone(
        self, block: EventBlock, at: int, marks: Longs, own: Longs, meaning: Meant
    ) -> None:
        """That no rows of the table are undone that are in the log all the same."""
        if meaning is Meant.COMMITS or not self._is_own_open(at, marks, own):
            return
        is_xa = block.types[at] == b.XA_PREPARE
        why = (
            "it is prepared (XA), and may be committed or rolled back later"
            if is_xa
            else "it, or some of it, was rolled back after tables without transactions were changed"
        )
        raise DataError(
            f"a transaction that changes {self.captured} is not supported",
            notes={"why": why, "database": str(self.captured.database)},
            hint="start the job without its checkpoint",
        )

    def _is_own_open(self, at: int, marks: Longs, own: Longs) -> bool:
        """Whether the transaction of an event has changed the table before."""
        marked = np.flatnonzero(marks[:at])
        since = int(marked[-1]) if len(marked) else -1
        changed = bool(((own > since) & (own < at)).any())
        return changed or (not len(marked) and self._own_open)


def _carried(marks: Longs, is_open: bool) -> Flags:
    """Of each event, whether a transaction is open after it."""
    last = np.maximum.accumulate(np.where(marks != 0, np.arange(len(marks)), -1))
    return np.where(last >= 0, marks[last] == 1, is_open)


def _check_known(block: EventBlock, captured: CapturedMysql) -> None:
    in_file = block.end_positions[block.end_positions > 0]
    if (np.diff(in_file) < 0).any():
        raise SetupError(
            f"changes of {captured} cannot be read",
            notes={"why": "a file of the log has more than 4 GB"},
            hint="start the job without its checkpoint",
        )
    if (block.types == b.INCIDENT).any():
        raise lost("the server has noted that its log lacks something", captured)
    unknown = np.flatnonzero(np.isin(block.types, _UNKNOWN))
    if len(unknown):
        raise SetupError(
            f"{captured.database} does not log changes of rows as they are read",
            notes={"why": f"an event of type {block.types[unknown[0]]} is compressed or partial"},
            hint="turn log_bin_compress and binlog_row_value_options off, and start the job "
            "without its checkpoint",
        )


def _not_as_rows(captured: CapturedMysql) -> DataError:
    return DataError(
        f"a change of {captured} is in the log as a statement, without its rows",
        notes={"database": str(captured.database), "why": "its session had another binlog_format"},
        hint="SET GLOBAL binlog_format = 'ROW', FLUSH BINARY LOGS, and start the job without its "
        "checkpoint",
    )


def begun(captured: CapturedMysql, file: LogPosition) -> int:
    """When a file of the log was begun, in seconds since 1970."""
    return next(part.made for part in logged(captured, file) if part.made)


def first_since(
    captured: CapturedMysql, start: LogPosition, until: LogPosition, seconds: int
) -> LogPosition:
    """After the last transaction before a time."""
    found = start
    for part in logged(captured, start, until):
        block = part.block
        in_file = (block.end_positions > 0) & (block.types != b.FORMAT)
        late = np.flatnonzero(in_file & (block.seconds >= seconds))
        before = block.end_positions[in_file]
        if len(late):  # a transaction that is compressed ends at one position
            before = before[before < block.end_positions[late[0]]]
        if len(before):
            found = LogPosition(part.file, int(before[-1]), part.made)
        if len(late):
            break
    return found
