"""The table as it was at a position in the log, read without locks.

MariaDB says which position a transaction sees. MySQL does not: a transaction may be in the log and
not be seen yet. So the rows that the log changes are taken from the log, from a position before
which all transactions are surely seen: the beginning of the file, which the server begins only when
those of the last one are done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark.connectors.cdc import snapshot_files
from tidemark.connectors.jdbc.mysql.connections import load_driver, rows, run
from tidemark.connectors.made_rows import NO_COLUMN
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, KnownTable, end_of_log
from tidemark.connectors.mysql_cdc.positions import FIRST_BYTE, LogPosition
from tidemark.connectors.mysql_cdc.table_scan import frames_of
from tidemark.errors import SetupError
from tidemark.storage import Location

if TYPE_CHECKING:
    import polars as pl
    from pymysql.connections import Connection

_BEGIN: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_KIND: Final = "_tm_kind"
# How often, and how long, those who have prepared transactions are waited for.
_TRIES, _PAUSE_S = 50, 0.2
_MAY_NOT_ASK: Final = (1227, 1401)  # MySQL requires XA_RECOVER_ADMIN


def take(captured: CapturedMysql, folder: Location) -> LogPosition:
    """Write the table into files of a folder; returns the position as of which it is."""
    with captured.connected("reading") as connection:
        before = _begin(connection, captured)
        known = KnownTable.of(connection, captured)
        known.check(captured)
        position = _seen(connection)
        if position is not None:
            snapshot_files.write(frames_of(connection, captured, known), folder)
            return position
        changed = ChangedSince.of(captured, known, LogPosition(before.file, FIRST_BYTE))
        frames = frames_of(connection, changed.captured, known)
        snapshot_files.write(changed.folded(frames), folder)
    return changed.end


def _begin(connection: Connection, captured: CapturedMysql) -> LogPosition:
    """Begin a transaction that sees the table; returns where the log ended before. No other one may
    be prepared (XA) then: its rows are in the log before this position, and not seen yet.
    """
    for _ in range(_TRIES):
        connection.rollback()
        before = end_of_log(connection, captured)
        for statement in _BEGIN:
            run(connection, statement)
        prepared = _prepared(connection)
        if not prepared:
            return before
        time.sleep(_PAUSE_S)
    raise SetupError(
        f"{captured} cannot be read while transactions are prepared (XA)",
        notes={"prepared": ", ".join(prepared), "why": "what they change would be lost"},
        hint="XA COMMIT or XA ROLLBACK them; XA RECOVER lists them",
    )


def _prepared(connection: Connection) -> list[str]:
    """The transactions that wait for the second phase of their commit, as far as is known."""
    try:
        found = [row[-1] or "" for row in rows(connection, "XA RECOVER")]
    except load_driver().MySQLError as problem:
        if problem.args and problem.args[0] in _MAY_NOT_ASK:
            return []
        raise
    return [
        name if isinstance(name, str) else bytes(name).decode(errors="replace") for name in found
    ]


def _seen(connection: Connection) -> LogPosition | None:
    """The position as of which a transaction sees tables, if the server says so."""
    found = rows(connection, "SHOW STATUS LIKE 'binlog_snapshot_%'")
    values = {str(key).lower(): value for key, value in found}
    file, position = (values.get(f"binlog_snapshot_{key}") for key in ("file", "position"))
    return LogPosition(file, int(position)) if file and position else None


@dataclass(frozen=True)
class ChangedSince:
    """The changes of a table from a position on to where the log has ended since."""

    captured: CapturedMysql  # of which the key is read in any case
    keys: tuple[str, ...]
    changes: pl.DataFrame | None  # all old and new rows, in their order
    end: LogPosition

    @classmethod
    def of(cls, captured: CapturedMysql, known: KnownTable, since: LogPosition) -> ChangedSince:
        import polars as pl

        from tidemark.connectors.mysql_cdc.columns.parts import ReadingChanges
        from tidemark.connectors.mysql_cdc.columns.scanning import LogScan

        keys = _keys(captured, known)
        if captured.read is not None:
            captured = replace(captured, read=captured.read.union(keys))
        there = captured.asked(lambda connection: end_of_log(connection, captured))
        # What a transaction sees is in the log by now.
        found = LogScan(captured, known.described, stops=False).run(since, there)
        # Who defines a table waits for those who write into it.
        reading = ReadingChanges(captured, known, found.defined or since, found.end)
        frames = [
            pl.DataFrame([series.alias(column) for column, series in values.items()]).with_columns(
                kinds.alias(_KIND)
            )
            for values, kinds, _ in reading.rows()
        ]
        return cls(captured, keys, pl.concat(frames) if frames else None, found.end)

    def folded(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The table at the end, from what a transaction has seen of it: rows with keys that have
        changed are as the last of these changes left them.
        """
        import polars as pl

        if self.changes is None:
            yield from frames
            return
        keys = [*self.keys]
        touched = self.changes.select(keys).unique()
        for frame in frames:
            yield frame.join(touched, on=keys, how="anti", maintain_order="left")
        last = self.changes.unique(keys, keep="last", maintain_order=True)
        left = last.filter(~pl.col(_KIND).is_in(["-D", "-U"])).drop(_KIND)
        yield left.with_columns(pl.repeat(True, left.height, eager=True).alias(NO_COLUMN))


def _keys(captured: CapturedMysql, known: KnownTable) -> tuple[str, ...]:
    """The columns of the table's key, as the DDL names them."""
    declared = {known.place(column, captured): column for column in captured.columns}
    own = [n for n, column in enumerate(known.columns) if column.in_key]
    if not own or not set(own) <= declared.keys():
        names = ", ".join(known.columns[n].name for n in own)
        raise SetupError(
            f"the primary key of {captured} is needed to read it while others write",
            notes={"primary key": names or "none"},
            hint=f"declare its columns: {names}" if own else "give the table a primary key",
        )
    return tuple(declared[n] for n in own)
