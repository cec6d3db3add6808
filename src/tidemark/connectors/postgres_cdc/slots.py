"""A replication slot: where it is, and the messages from there on.

Positions in the log are numbers; PostgreSQL writes them as `0/1A2B`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.connectors.jdbc.postgres.connections import (
    load_driver,
    name,
    rows,
    string,
)
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.errors import DataError, JobError, SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

_Result = TypeVar("_Result")
PLUGIN: Final = "pgoutput"
# How often something is tried that another process of the same job may still keep from being done.
PATIENCE: Final = 60
PAUSE_S: Final = 0.25
_IN_USE: Final = "55006"
_SIZE: Final = "adbc.postgresql.batch_size_hint_bytes"
_BLOCK_BYTES: Final = 16 << 20
_OLDEST: Final = 130_000


def written(position: int) -> str:
    """A position as PostgreSQL writes it.

    >>> written(0x1_0000_00FF)
    '1/FF'
    """
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def lsn(position: int) -> str:
    """The same in SQL."""
    return f"'{written(position)}'::pg_lsn"


def messages(captured: Captured, until: int, most: str = "NULL") -> str:
    """The SQL function whose rows are the messages from where the slot is."""
    slot, publications = string(captured.slot), string(name(captured.publication))
    return (
        f"pg_logical_slot_peek_binary_changes({slot}, {lsn(until)}, {most}, "
        f"'proto_version', '1', 'publication_names', {publications})"
    )


@dataclass(frozen=True, slots=True)
class SlotState:
    confirmed: int  # what comes before it is gone
    flushed: int  # what the database has written so far


def state_of(cursor: Cursor, captured: Captured) -> SlotState:
    """Where the slot is. Raises DataError if it does not have the changes any more."""
    [(exists, plugin, database, confirmed, status, flushed, here)] = rows(
        cursor, _STATE.format(slot=string(captured.slot))
    )
    slot = f"replication slot '{captured.slot}'"
    if not exists:
        raise _lost(f"{slot} does not exist", captured)
    if plugin != PLUGIN or database != here:
        raise SetupError(
            f"{slot} is another one",
            notes={"plugin": plugin or "none", "database": database or "none"},
            hint=f"choose another '{o.SLOT}': one of plugin {PLUGIN} in {here}, or a new name",
        )
    if status == "lost":
        raise _lost(f"{slot} has lost changes: there was too much to keep", captured)
    return SlotState(confirmed, flushed)


def check_from(state: SlotState, start: int, captured: Captured) -> None:
    """That all changes are there from a position on."""
    if state.confirmed > start:
        raise _lost(
            f"replication slot '{captured.slot}' is at {written(state.confirmed)}, after "
            f"{written(start)}, which was read last",
            captured,
        )


def check_until(state: SlotState, end: int, captured: Captured) -> None:
    if state.flushed < end:
        raise DataError(
            f"{captured.database} is at {written(state.flushed)}, before {written(end)}, which was "
            "there",
            notes={"why": "it was restored, or another server has taken its place"},
            hint="start the job without its checkpoint",
        )


def no_slot(captured: Captured) -> SetupError:
    return SetupError(
        f"replication slot '{captured.slot}' does not exist",
        notes={"database": str(captured.database)},
        hint=f"leave '{o.STARTUP}' out: the job creates the slot, and reads the table first",
    )


def no_more_slots(captured: Captured) -> SetupError:
    return SetupError(
        f"replication slot '{captured.slot}' cannot be created",
        notes={"database": str(captured.database), "why": "the server has no more of them"},
        hint="drop those of pg_replication_slots that are not needed, or raise "
        "max_replication_slots and restart the server",
    )


def check_server(cursor: Cursor, captured: Captured) -> None:
    """That changes can be read from it at all."""
    query = "SELECT current_setting('wal_level'), current_setting('server_version_num')::int"
    [(level, version)] = rows(cursor, query)
    if version < _OLDEST:
        raise SetupError(
            f"{captured.database} is PostgreSQL {version // 10_000}",
            notes={"expected": f"{_OLDEST // 10_000} or newer"},
        )
    if level != "logical":
        raise SetupError(
            f"{captured.database} does not log what changes of rows are read from",
            notes={"wal_level": level, "expected": "logical"},
            hint="ALTER SYSTEM SET wal_level = logical, and restart the server",
        )


def _lost(what: str, captured: Captured) -> DataError:
    return DataError(
        f"{what}: changes of {captured} are lost",
        notes={"database": str(captured.database)},
        hint="start the job without its checkpoint: it reads the table anew",
    )


_STATE = """
SELECT s.slot_name IS NOT NULL, s.plugin::text, s.database::text,
  (s.confirmed_flush_lsn - '0/0')::bigint, s.wal_status,
  (pg_current_wal_flush_lsn() - '0/0')::bigint,
  current_database()::text
FROM (SELECT 1) one LEFT JOIN pg_replication_slots s ON s.slot_name = {slot}
"""


def is_used(captured: Captured, kind: type[SetupError] = SetupError) -> SetupError:
    return kind(
        f"replication slot '{captured.slot}' is read by another job",
        notes={"why": "each job needs a slot of its own (same in Flink)"},
        hint="choose another 'slot.name', or stop the other job",
    )


def when_free(captured: Captured, work: Callable[[], _Result]) -> _Result:
    """The result of work on the slot. An attempt of the same job may not have let go of it yet."""
    for number in range(PATIENCE):
        try:
            return work()
        except JobError as problem:
            if problem.notes.get("SQLSTATE") != _IN_USE:
                raise
            if number == PATIENCE - 1:
                raise is_used(captured) from None
            time.sleep(PAUSE_S)
    raise AssertionError(PATIENCE)


def opened_messages(connection: Connection, captured: Captured, until: int) -> Cursor:
    """The messages from where the slot is, as a cursor over blocks of them."""
    driver = load_driver()
    for number in range(PATIENCE):
        cursor = connection.cursor()
        cursor.adbc_statement.set_options(**{_SIZE: str(_BLOCK_BYTES)})
        try:
            cursor.execute(f"SELECT data FROM {messages(captured, until)}")
            return cursor
        except driver.Error as problem:
            cursor.close()
            if problem.sqlstate != _IN_USE or number == PATIENCE - 1:
                raise
        connection.rollback()
        time.sleep(PAUSE_S)
    raise AssertionError(PATIENCE)
