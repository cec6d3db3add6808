"""The connection that plans a job: it makes the slot and its publication, and moves the slot.

It holds the slot by an advisory lock as long as it is open, so that no other job moves the slot in
between.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tidemark.connectors.jdbc.contract import Transient, again
from tidemark.connectors.jdbc.postgres.connections import (
    failed,
    load_driver,
    not_connected,
    rows,
    string,
)
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.connectors.postgres_cdc.publications import check_publication, creation
from tidemark.connectors.postgres_cdc.same_table import known_again
from tidemark.connectors.postgres_cdc.slots import (
    PATIENCE,
    PAUSE_S,
    PLUGIN,
    SlotState,
    check_server,
    is_used,
    lsn,
    messages,
    no_more_slots,
    state_of,
    when_free,
)
from tidemark.errors import JobError, SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

_Result = TypeVar("_Result")


_EXISTS: Final = "42710"
_NO_MORE: Final = "53400"
# How long a reader of the same run may take to let go of a slot.
_LETS_GO: Final = 12
_LONGEST_NAME: Final = 63


class _HeldBySibling(SetupError):
    """Another reader of the same run has the slot."""


class HeldSlot:
    """The connection that plans a job. It holds the slot, and every statement is a transaction.

    `run` is what those of one run have in common.
    """

    def __init__(self, captured: Captured, run: str) -> None:
        self._captured, self._run = captured, f"tidemark {run}"
        self._open: Connection | None = None
        self._was_open = False

    @classmethod
    def free(cls, captured: Captured, run: str) -> HeldSlot:
        """That of the name; if the same run reads the table several times, the next one."""
        number = 1
        while True:
            ending = f"_{number}" if number > 1 else ""
            slot = captured.slot[: _LONGEST_NAME - len(ending)] + ending
            held = cls(replace(captured, slot=slot), run)
            try:
                held.rows("SELECT 1")
            except _HeldBySibling:
                number += 1
                continue
            return held

    @property
    def name(self) -> str:
        return self._captured.slot

    def state(self) -> SlotState:
        return self._with(lambda cursor: state_of(cursor, self._captured))

    def known(self) -> Known:
        return self._with(lambda cursor: Known.of(cursor, self._captured))

    def check_same_table(self, oid: int) -> None:
        """That the table is the one that the job has begun with."""
        self._with(lambda cursor: known_again(cursor, self._captured, oid))

    def has_changes(self, until: int, oid: int) -> bool:
        """Whether there are changes of the table before a position."""
        return when_free(self._captured, lambda: self._has_changes(until, oid))

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
        when_free(self._captured, lambda: self.rows(f"SELECT end_lsn::text FROM {moved}"))

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
            time.sleep(PAUSE_S)  # transactions that do not wait for the disk
        return int(flushed)

    def create(self) -> int:
        """A new slot; returns where it is. An unused one of this name is replaced."""
        self._with(lambda cursor: check_server(cursor, self._captured))
        self._publish()
        if self.exists():
            self.state()  # not if it is of another plugin
            self.drop()
        made = f"pg_create_logical_replication_slot({self._slot}, '{PLUGIN}')"
        try:
            self.rows(f"SELECT lsn::text FROM {made}")
        except SetupError as problem:
            hint = f"ALTER ROLE {self._captured.database.user} REPLICATION"
            raise SetupError(problem.message, notes=problem.notes, hint=hint) from None
        except JobError as problem:
            if problem.notes.get("SQLSTATE") != _NO_MORE:
                raise
            raise no_more_slots(self._captured) from None
        return self.state().confirmed

    def exists(self) -> bool:
        query = f"SELECT count(*) FROM pg_replication_slots WHERE slot_name = {self._slot}"
        return self.rows(query) != [(0,)]

    def drop(self) -> None:
        when_free(
            self._captured,
            lambda: self.rows(f"SELECT pg_drop_replication_slot({self._slot})::text"),
        )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._with(lambda cursor: rows(cursor, sql))

    @property
    def _slot(self) -> str:
        return string(self._captured.slot)

    def _publish(self) -> None:
        """Create the publication, unless it exists and has all changes of the table."""
        captured, known = self._captured, self.known()
        if self._with(lambda cursor: check_publication(cursor, captured, known)):
            return
        create = creation(captured, known)
        if not captured.creates:
            raise SetupError(
                f"publication '{captured.publication}' does not exist",
                notes={"database": str(captured.database)},
                hint=create,
            )
        try:
            self._with(lambda cursor: cursor.execute(create))
        except JobError as problem:
            if problem.notes.get("SQLSTATE") != _EXISTS:  # another reader has been quicker
                raise
        except SetupError as problem:
            hint = f"have someone with the right to do so run: {create}"
            raise SetupError(problem.message, notes=problem.notes, hint=hint) from None

    # --- the connection ---

    def _with(self, work: Callable[[Cursor], _Result]) -> _Result:
        return again(lambda: self._tried(work), self._captured.retries)

    def _tried(self, work: Callable[[Cursor], _Result]) -> _Result:
        driver = load_driver()
        if self._open is None:
            if self._was_open:
                self._captured.wait_until_reachable()
            self._open, self._was_open = self._opened(driver), True
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
        named = replace(database, settings={**database.settings, "application_name": self._run})
        try:
            connection: Connection = driver.connect(named.uri, autocommit=True)
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
        for number in range(PATIENCE):
            with connection.cursor() as cursor:
                if rows(cursor, f"SELECT {lock}") == [(True,)]:
                    return
                holders = rows(cursor, _HOLDERS.format(slot=self._slot))
            if number >= _LETS_GO and holders == [(self._run,)]:
                raise is_used(self._captured, _HeldBySibling)
            time.sleep(PAUSE_S)
        raise is_used(self._captured)

    def close(self) -> None:
        connection, self._open = self._open, None
        if connection is not None:
            with suppress(load_driver().Error):
                connection.close()


_HOLDERS = """
SELECT a.application_name::text FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid::bigint = hashtext('tidemark slot')::bigint & 4294967295
  AND l.objid::bigint = hashtext({slot})::bigint & 4294967295
"""
