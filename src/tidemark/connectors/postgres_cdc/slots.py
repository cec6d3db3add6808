"""A replication slot and its publication: how they are made, held, looked at and moved.

A job holds its slot by an advisory lock as long as the connection is open that plans it, so that no
other job moves it in between. Positions in the log are numbers; PostgreSQL writes them as `0/1A2B`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tidemark.connectors.jdbc.postgres import (
    Transient,
    again,
    failed,
    load_driver,
    name,
    not_connected,
    rows,
    string,
)
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.errors import DataError, JobError, SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

_Result = TypeVar("_Result")
PLUGIN: Final = "pgoutput"
# How often something is tried that another process of the same job may still keep from being done.
_PATIENCE: Final = 60
_PAUSE_S: Final = 0.25
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
    [(plugin, database, confirmed, status, flushed, here)] = rows(
        cursor, _STATE.format(slot=string(captured.slot))
    )
    slot = f"replication slot '{captured.slot}'"
    if plugin is None:
        raise _lost(f"{slot} does not exist", captured)
    if plugin != PLUGIN or database != here:
        raise SetupError(
            f"{slot} is of plugin '{plugin}' in database '{database}'",
            notes={"expected": f"{PLUGIN} in {here}"},
            hint="choose another 'slot.name'",
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


def _lost(what: str, captured: Captured) -> DataError:
    return DataError(
        f"{what}: changes of {captured} are lost",
        notes={"database": str(captured.database)},
        hint="start the job without its checkpoint: it reads the table anew",
    )


_STATE = """
SELECT s.plugin::text, s.database::text, (s.confirmed_flush_lsn - '0/0')::bigint, s.wal_status,
  (pg_current_wal_flush_lsn() - '0/0')::bigint, current_database()::text
FROM (SELECT 1) one LEFT JOIN pg_replication_slots s ON s.slot_name = {slot}
"""


def when_free(work: Callable[[], _Result]) -> _Result:
    """The result of work on the slot. An attempt of the same job may not have let go of it yet."""
    for number in range(_PATIENCE):
        try:
            return work()
        except JobError as problem:
            if problem.notes.get("SQLSTATE") != _IN_USE or number == _PATIENCE - 1:
                raise
            time.sleep(_PAUSE_S)
    raise AssertionError(_PATIENCE)


def opened_messages(connection: Connection, captured: Captured, until: int) -> Cursor:
    """The messages from where the slot is, as a cursor over blocks of them."""
    driver = load_driver()
    for number in range(_PATIENCE):
        cursor = connection.cursor()
        cursor.adbc_statement.set_options(**{_SIZE: str(_BLOCK_BYTES)})
        try:
            cursor.execute(f"SELECT data FROM {messages(captured, until)}")
            return cursor
        except driver.Error as problem:
            cursor.close()
            if problem.sqlstate != _IN_USE or number == _PATIENCE - 1:
                raise
        connection.rollback()
        time.sleep(_PAUSE_S)
    raise AssertionError(_PATIENCE)


# --- the job's own connection ------------------------------------------------------------------


class HeldSlot:
    """The connection that plans a job. It holds the slot, and every statement is a transaction."""

    def __init__(self, captured: Captured) -> None:
        self._captured = captured
        self._open: Connection | None = None

    def state(self) -> SlotState:
        return self._with(lambda cursor: state_of(cursor, self._captured))

    def known(self) -> Known:
        return self._with(lambda cursor: Known.of(cursor, self._captured))

    def has_changes(self, until: int, oid: int) -> bool:
        """Whether there are changes of the table before a position."""
        return when_free(lambda: self._has_changes(until, oid))

    def _has_changes(self, until: int, oid: int) -> bool:
        of_table = f"substring(data FROM 2 FOR 4) = '\\x{oid:08x}'::bytea"
        changes = f"get_byte(data, 0) IN (73, 68, 85) AND {of_table}"
        # The first transaction is mostly enough, as those of other tables are left out.
        for most in ("1", "NULL"):
            query = f"SELECT count(*), count(*) FILTER (WHERE {changes}) FROM "
            [(found, of_it)] = self.rows(query + messages(self._captured, until, most))
            if of_it or not found:
                return bool(of_it)
        return False

    def advance(self, to: int) -> None:
        """Let the database clean up what comes before a position."""
        moved = f"pg_replication_slot_advance({self._slot}, {lsn(to)})"
        when_free(lambda: self.rows(f"SELECT end_lsn::text FROM {moved}"))

    def flushed_all(self) -> int:
        """Where the log ends, once what was committed before is written."""
        for _ in range(8):
            query = (
                "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint, "
                "pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()"
            )
            [(flushed, all_of_it)] = self.rows(query)
            if all_of_it:
                break
            time.sleep(_PAUSE_S)  # transactions that do not wait for the disk
        return int(flushed)

    def create(self) -> int:
        """A new slot; returns where it is. One of this name that nobody uses is replaced."""
        self._check_server()
        self._publish()
        exists = f"SELECT count(*) FROM pg_replication_slots WHERE slot_name = {self._slot}"
        if self.rows(exists) != [(0,)]:
            self.state()  # not if it is of another plugin
            self.drop()
        made = f"pg_create_logical_replication_slot({self._slot}, '{PLUGIN}')"
        try:
            self.rows(f"SELECT lsn::text FROM {made}")
        except SetupError as problem:
            hint = f"ALTER ROLE {self._captured.database.user} REPLICATION"
            raise SetupError(problem.message, notes=problem.notes, hint=hint) from None
        return self.state().confirmed

    def drop(self) -> None:
        when_free(lambda: self.rows(f"SELECT pg_drop_replication_slot({self._slot})::text"))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._with(lambda cursor: rows(cursor, sql))

    @property
    def _slot(self) -> str:
        return string(self._captured.slot)

    def _check_server(self) -> None:
        query = "SELECT current_setting('wal_level'), current_setting('server_version_num')::int"
        [(level, version)] = self.rows(query)
        if version < _OLDEST:
            raise SetupError(
                f"{self._captured.database} is PostgreSQL {version // 10_000}",
                notes={"expected": f"{_OLDEST // 10_000} or newer"},
            )
        if level != "logical":
            raise SetupError(
                f"{self._captured.database} does not log what changes of rows are read from",
                notes={"wal_level": level, "expected": "logical"},
                hint="ALTER SYSTEM SET wal_level = logical, and restart the server",
            )

    # --- the publication ---

    def _publish(self) -> None:
        captured, known = self._captured, self.known()
        own = string(captured.publication)
        query = "SELECT pubinsert AND pubupdate AND pubdelete, pubviaroot FROM pg_publication"
        found = self.rows(f"{query} WHERE pubname = {own}")
        if not found:
            self._create_publication(known)
            return
        [(complete, via_root)] = found
        listed = (
            f"SELECT * FROM pg_publication_tables WHERE pubname = {own} "
            f"AND schemaname = {string(known.described.schema)} "
            f"AND tablename = {string(known.described.name)}"
        )
        self._check_publication(self._dicts(listed), complete, not known.partitioned or via_root)

    def _create_publication(self, known: Known) -> None:
        captured = self._captured
        create = (
            f"CREATE PUBLICATION {name(captured.publication)} FOR TABLE {known.described.sql} "
            "WITH (publish_via_partition_root = true)"
        )
        if not captured.creates:
            raise SetupError(
                f"publication '{captured.publication}' does not exist",
                notes={"database": str(captured.database)},
                hint=create,
            )
        try:
            self._with(lambda cursor: cursor.execute(create))
        except SetupError as problem:
            hint = f"have somebody who may do it run: {create}"
            raise SetupError(problem.message, notes=problem.notes, hint=hint) from None

    def _check_publication(
        self, tables: list[dict[str, Any]], complete: bool, via_root: bool
    ) -> None:
        captured = self._captured
        publication, why = name(captured.publication), None
        if not tables:
            why = f"it does not have table {captured}"
            hint = f"ALTER PUBLICATION {publication} ADD TABLE {captured.quoted}"
        elif not complete:
            why = "it leaves out inserts, updates or deletes"
            hint = f"ALTER PUBLICATION {publication} SET (publish = 'insert, update, delete')"
        elif not via_root:
            why = f"it publishes partitions of {captured} by their own names"
            hint = f"ALTER PUBLICATION {publication} SET (publish_via_partition_root = true)"
        elif tables[0].get("rowfilter") is not None:
            why = f"it leaves out rows of {captured}"
            hint = "choose another 'debezium.publication.name'"
        if why is not None:
            raise SetupError(
                f"publication '{captured.publication}' cannot be used",
                notes={"why": why},
                hint=hint,
            )

    def _dicts(self, sql: str) -> list[dict[str, Any]]:
        def asked(cursor: Cursor) -> list[dict[str, Any]]:
            cursor.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        return self._with(asked)

    # --- the connection ---

    def _with(self, work: Callable[[Cursor], _Result]) -> _Result:
        return again(lambda: self._tried(work), 3)

    def _tried(self, work: Callable[[Cursor], _Result]) -> _Result:
        driver = load_driver()
        if self._open is None:
            self._open = self._opened(driver)
        try:
            with self._open.cursor() as cursor:
                return work(cursor)
        except driver.Error as problem:
            known = failed(self._captured.database, f"reading {self._captured}", problem)
            if isinstance(known, Transient):
                self.close()  # another one may succeed
            raise known from None

    def _opened(self, driver: Any) -> Connection:
        database = self._captured.database
        try:
            connection: Connection = driver.connect(database.uri, autocommit=True)
        except driver.Error as problem:
            raise not_connected(database, problem) from None
        try:
            self._hold(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _hold(self, connection: Connection) -> None:
        """Take the lock, which the server lets go of when it notices that a process has ended."""
        lock = f"pg_try_advisory_lock(hashtext('tidemark slot'), hashtext({self._slot}))"
        for _ in range(_PATIENCE):
            with connection.cursor() as cursor:
                if rows(cursor, f"SELECT {lock}") == [(True,)]:
                    return
            time.sleep(_PAUSE_S)
        raise SetupError(
            f"replication slot '{self._captured.slot}' is read by another job",
            notes={"why": "each reader of a table needs a slot of its own (same in Flink)"},
            hint="choose another slot: FROM t /*+ OPTIONS('slot.name' = '...') */",
        )

    def close(self) -> None:
        connection, self._open = self._open, None
        if connection is not None:
            with suppress(load_driver().Error):
                connection.close()
