"""The log of a server from a position on, as blocks of events.

It is read as `mysqlbinlog` does: without a server ID, so that readers do not end each other, and
up to where the log ends now.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.connectors.jdbc.contract import Transient
from tidemark.connectors.jdbc.mysql.connections import (
    end,
    failed,
    load_driver,
    opened,
    rows,
    run,
)
from tidemark.connectors.mysql_cdc.columns.packets import ConnectionLost, EventPackets, LogError
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import DataError, JobError, SetupError
from tidemark.formats import binlog as b
from tidemark.formats.binlog import BadLogEvent, EventBlock
from tidemark.formats.binlog_payloads import unpacked

if TYPE_CHECKING:
    from pymysql.connections import Connection

    from tidemark.connectors.mysql_cdc.captured import CapturedMysql

_DUMP: Final = 0x12
_ENDS: Final = 1  # a flag: do not wait for more
_UNREADABLE, _NO_RIGHT = 1236, 1227
_TOO_FAR: Final = 1 << 32
_GONE: Final = ("Could not find first log file", "purged")
# What the server should send as it is: checksums, and events that only MariaDB has.
_UNDERSTOOD: Final = (
    "SET @master_binlog_checksum = @@global.binlog_checksum, "
    "@source_binlog_checksum = @@global.binlog_checksum, @mariadb_slave_capability = 4"
)


@dataclass(frozen=True, slots=True)
class Logged:
    """Some events of one file."""

    file: str
    made: int  # when the file was begun, in seconds since 1970
    block: EventBlock


def logged(
    captured: CapturedMysql,
    start: LogPosition,
    until: LogPosition | None = None,
    *,
    reaches: bool = False,
) -> Iterator[Logged]:
    """What is in the log from a position to another one, or to where it ends now; `reaches` says
    that it does not end before.
    """
    for part in _sent(captured, start):
        if part.file == start.file and part.made and start.made not in (0, part.made):
            raise another_log(captured, start)
        if until is None:
            yield part
            continue
        if until < LogPosition(part.file, 0):
            return
        if part.file != until.file:
            yield part
            continue
        inside = int(np.searchsorted(part.block.end_positions > until.byte, True))
        if inside:
            yield replace(part, block=part.block.some(0, inside))
        if inside < len(part.block) or part.block.end_positions[-1] == until.byte:
            return
    # Where there is nothing between the two, MySQL sends no event that ends there.
    if reaches and until is not None and start < until:
        raise lost(f"the log ends before {until}, up to which there were changes", captured)


def _sent(captured: CapturedMysql, start: LogPosition) -> Iterator[Logged]:
    if start.byte >= _TOO_FAR:
        raise SetupError(
            f"changes of {captured} cannot be read",
            notes={"why": f"a file of the log has more than 4 GB: {start.file}"},
            hint="start the job without its checkpoint",
        )
    with _connected(captured) as connection:
        checksums = rows(connection, "SELECT @@global.binlog_checksum") != [("NONE",)]
        run(connection, _UNDERSTOOD)
        fixed = struct.pack("<IHI", start.byte, _ENDS, 0)
        connection._execute_command(_DUMP, fixed + start.file.encode())
        packets = EventPackets(connection._rfile)
        files = _Files(start.file, checksums)
        while not packets.ended:
            yield from files.divided(packets.block())


@contextmanager
def _connected(captured: CapturedMysql) -> Iterator[Connection]:
    """A connection of its own: the server ends it after the log."""
    connection = opened(captured.database)
    what = f"reading changes of {captured}"
    try:
        yield connection
    except LogError as problem:
        raise _unreadable(problem, captured) from None
    except (OSError, ConnectionLost) as problem:
        notes = {"database": str(captured.database), "why": str(problem) or "it is closed"}
        raise Transient(f"{what} failed", notes=notes) from None
    except BadLogEvent as problem:
        raise not_understood(captured, problem) from None
    except load_driver().MySQLError as problem:
        raise failed(captured.database, what, problem) from None
    finally:
        end(connection)


def _unreadable(problem: LogError, captured: CapturedMysql) -> JobError | DataError | SetupError:
    notes = {"database": str(captured.database), "why": problem.message}
    if problem.number == _UNREADABLE and any(words in problem.message for words in _GONE):
        return lost("the log that was to be read next is gone", captured, why=problem.message)
    if problem.number == _NO_RIGHT:
        hint = f"GRANT REPLICATION SLAVE ON *.* TO {captured.database.user}"
        return SetupError(f"changes of {captured} cannot be read", notes=notes, hint=hint)
    if problem.number == _UNREADABLE:
        return lost("the log cannot be read from where the job was", captured, why=problem.message)
    return Transient(f"reading changes of {captured} failed", notes=notes)


def another_log(captured: CapturedMysql, start: LogPosition) -> DataError:
    return lost(
        f"{start.file} is another file than the one that was read",
        captured,
        why="the server's log was reset, or another server has taken its place",
    )


def lost(what: str, captured: CapturedMysql, **notes: str) -> DataError:
    return DataError(
        f"{what}: changes of {captured} are lost",
        notes={"database": str(captured.database), **notes},
        hint="start the job without its checkpoint: it reads the table anew; have the server keep "
        "its log for longer (binlog_expire_logs_seconds)",
    )


def not_understood(captured: CapturedMysql, problem: BadLogEvent) -> DataError:
    return DataError(
        f"the log has a change of {captured} that is not understood",
        notes={"database": str(captured.database), "why": str(problem)},
        hint="report it with the version of the server",
    )


class _Files:
    """Divides blocks by files. Leaves checksums out and unpacks compressed transactions."""

    def __init__(self, file: str, checksums: bool) -> None:
        self._file, self._made, self._checksums = file, 0, checksums

    def divided(self, block: EventBlock) -> Iterator[Logged]:
        special = np.isin(block.types, (b.ROTATE, b.FORMAT))
        # Each of these is the last of its part.
        bounds = [0, *(np.flatnonzero(special) + 1).tolist(), len(block)]
        for first, last in pairwise(bounds):
            part = block.some(first, last)
            if not len(part):
                continue
            type_ = int(part.types[-1])
            if type_ == b.FORMAT:
                self._checksums = b.has_checksums(part.body(-1))
                self._made = int(part.seconds[-1])
            if self._checksums:
                part = part.without_checksums()
            part = unpacked(part)
            if type_ == b.ROTATE:
                following = b.rotated_to(part.body(-1))[0]
                yield Logged(self._file, self._made, part)
                self._file = following
                continue
            yield Logged(self._file, self._made, part)
