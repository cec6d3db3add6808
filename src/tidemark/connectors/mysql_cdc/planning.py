"""Which changes a micro-batch reads: the transactions in a range of the log.

Spark keeps positions of the log in its checkpoint. What the log lacks of the table, the names of
its columns and what their bytes mean, is noted beside it: a micro-batch ends where that may change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.base import ColumnsRequest, ReadRequest
from tidemark.connectors.cdc import snapshot_files
from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc import snapshots, starting
from tidemark.connectors.mysql_cdc.captured import (
    CapturedMysql,
    KnownTable,
    check_columns,
    check_server,
    end_of_log,
)
from tidemark.connectors.mysql_cdc.notes import JobNotes, written
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.connectors.planned_stream import Offset, Planning
from tidemark.errors import DataError
from tidemark.storage import Location

if TYPE_CHECKING:
    from tidemark.connectors.mysql_cdc.columns.scanning import ScannedLog

_SNAPSHOT: Final = "snapshot"
# How much of the log a micro-batch reads at most, but for its last transaction.
_WINDOW: Final = 64 << 20
# How often the server is asked whether there are changes: Spark asks all the time. Less often if
# there are changes, but of other tables: to look at them is a connection.
_PAUSE_S: Final = 0.1
_OF_OTHERS: Final = 4


@dataclass(frozen=True)
class BinlogReading:
    """What a stream reads, and where it keeps its notes."""

    captured: CapturedMysql
    options: o.Options
    folder: Location
    pause_s: float = _PAUSE_S


def look_at(request: ReadRequest | ColumnsRequest) -> CapturedMysql:
    """The table that is asked for. What is wrong with it is an error at once."""
    captured = CapturedMysql.of(request)
    with captured.connected() as connection:
        check_server(connection, captured)
        check_columns(connection, captured)
        KnownTable.of(connection, captured).check(captured)
    return captured


def planning(request: ReadRequest) -> Callable[[], Planning]:
    captured = look_at(request)
    assert request.folder is not None
    reading = BinlogReading(captured, request.options, request.folder)
    return lambda: BinlogPlanning(reading)


class BinlogPlanning:
    """Plans micro-batches. An offset is a position of the log, and whether the snapshot is read."""

    def __init__(self, reading: BinlogReading) -> None:
        self._reading, self._captured = reading, reading.captured
        self._notes = JobNotes(reading.folder, reading.captured)
        self._until: LogPosition | None = None
        self._beat = time.monotonic()
        self._ask_at = 0.0
        # There are no changes from the last offset to this position.
        self._seen: LogPosition | None = None
        self._cleaned = False

    # --- where a job begins ---

    def initial(self) -> dict[str, Any]:
        """Where the job started; it stays the same when it resumes."""
        if not self._notes.exist:
            self._begin()
        return {**self._notes.start.offset(), "snapshot": not self._notes.has_snapshot}

    def _begin(self) -> None:
        """Take the snapshot, if there is to be one. If it crashes in between, this begins again."""
        options = self._reading.options
        has_snapshot = options[o.STARTUP] == "initial"
        if has_snapshot:
            found = snapshots.take(self._captured, self._reading.folder / _SNAPSHOT)
        else:
            found = starting.position(self._captured, options)
        start, known = starting.settled(self._captured, found)
        self._notes.begin(start, known, snapshot=has_snapshot)

    # --- micro-batches ---

    def latest(self, start: Offset) -> dict[str, Any]:
        """Where the next micro-batch ends."""
        if not start["snapshot"]:
            return {**start, "snapshot": True}
        if self._until is None and time.monotonic() < self._ask_at:
            return dict(start)
        return self._latest(start)

    def _latest(self, start: Offset) -> dict[str, Any]:
        since = LogPosition.of(start)
        end = self._captured.asked(lambda connection: end_of_log(connection, self._captured))
        starting.check_there(end, since, self._captured)
        until = end if self._until is None else min(end, self._until)
        done = self._done(since)
        pauses = 1
        while done < until:
            pauses = _OF_OTHERS
            known = self._notes.known(done)
            found = self._scanned(known, done, until)
            if found.defined is not None:
                self._define(found.defined, dropped=found.dropped)
            if found.changes or found.changes_before or found.truncated:
                self._seen = None
                return {**(found.defined or found.end).offset(), "snapshot": True}
            if (found.defined or found.end) <= done:
                break  # a transaction that is not complete yet
            done = self._seen = found.defined or found.end
        self._note_idle(since, done)
        self._ask_at = time.monotonic() + pauses * self._reading.pause_s
        return dict(start)

    def _scanned(self, known: KnownTable, start: LogPosition, until: LogPosition) -> ScannedLog:
        from tidemark.connectors.mysql_cdc.columns.scanning import LogScan

        def scanned() -> ScannedLog:
            return LogScan(self._captured, known.described, most=_WINDOW).run(start, until)

        return self._captured.persistently(scanned)

    def _done(self, since: LogPosition) -> LogPosition:
        """Up to where there are no changes after an offset, as far as is known."""
        noted = self._notes.idle_until(since)
        return max(noted, self._seen) if self._seen is not None else noted

    def _define(self, at: LogPosition, *, dropped: bool) -> None:
        """Look at the table again, which may have become another one."""
        if dropped:
            raise DataError(
                f"{self._captured} was dropped: changes of a new table are not those of the old",
                notes={"database": str(self._captured.database), "position": str(at)},
                hint="start the job without its checkpoint",
            )
        _, known = starting.settled(self._captured, at)
        self._notes.define(at, known)

    def _note_idle(self, since: LogPosition, done: LogPosition) -> None:
        """A job that resumes need not begin in a part of the log that may be gone by then."""
        heartbeat_ms = self._reading.options[o.HEARTBEAT]
        due = (time.monotonic() - self._beat) * 1000 >= heartbeat_ms
        if due and heartbeat_ms and since < done:
            self._notes.note_idle(since, done)
            self._beat = time.monotonic()

    def stop_here(self) -> None:
        """Read what there is now, and no more."""
        self._until = self._captured.asked(lambda found: end_of_log(found, self._captured))

    def parts(self, start: Offset, end: Offset) -> list[tuple[Any, ...]]:
        """The files of the snapshot; or what one task reads of the log, whose order it keeps."""
        if not start["snapshot"]:
            folder = self._reading.folder / _SNAPSHOT
            return [(file.uri, 0, None, "") for file in snapshot_files.files(folder)]
        since, until = LogPosition.of(start), LogPosition.of(end)
        if until <= since:
            return []
        defined, known = self._notes.known_before(until)
        since = max(self._notes.idle_until(since), defined)
        about = {"start": since.offset(), "end": until.offset(), "known": written(known)}
        return [("", 0, None, json.dumps(about))]

    def commit(self, end: Offset) -> None:
        """The snapshot is not asked for again."""
        if not self._cleaned and end["snapshot"]:
            (self._reading.folder / _SNAPSHOT).remove_all()
            self._cleaned = True
