"""What `tidemark doctor` asks of PostgreSQL for changes of a table. Nothing is made or moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.connectors.base import Doubt, Probe, TableUse
from tidemark.connectors.cdc.connector import is_bounded
from tidemark.connectors.jdbc.postgres.connections import connected, rows, string
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.connectors.postgres_cdc.logged import check_changes
from tidemark.connectors.postgres_cdc.publications import check_publication
from tidemark.connectors.postgres_cdc.slots import check_server, no_more_slots, no_slot, state_of
from tidemark.errors import SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Cursor

_Found = TypeVar("_Found")
_NO_MORE: Final = """
SELECT count(*) >= current_setting('max_replication_slots')::int FROM pg_replication_slots
"""


def probes(use: TableUse) -> Iterator[Probe]:
    if use.reading is None:
        return
    captured = Captured.of(use.reading)
    yield Probe("database", lambda: _asked(captured, lambda cursor: _database(cursor, captured)))
    yield Probe("table", lambda: _asked(captured, lambda cursor: _table(cursor, captured, use)))
    if is_bounded(use.options):
        return
    yield Probe("rights", lambda: _asked(captured, lambda cursor: _rights(cursor, captured)))
    yield Probe("publication", lambda: _asked(captured, lambda c: _publication(c, captured)))
    yield Probe("slot", lambda: _asked(captured, lambda cursor: _slot(cursor, captured, use)))


def _asked(captured: Captured, ask: Callable[[Cursor], _Found]) -> _Found:
    looking = connected(captured.database, f"looking at {captured}")
    with looking as connection, connection.cursor() as cursor:
        return ask(cursor)


def _database(cursor: Cursor, captured: Captured) -> str:
    check_server(cursor, captured)
    return f"{captured.database}, whose wal_level is logical"


def _table(cursor: Cursor, captured: Captured, use: TableUse) -> str:
    known = Known.of(cursor, captured)
    known.check(captured)
    if is_bounded(use.options):
        return "columns and types fit"
    check_changes(known, captured)
    return "columns, types and replica identity fit"


def _rights(cursor: Cursor, captured: Captured) -> str | Doubt:
    known = Known.of(cursor, captured)
    query = (
        f"SELECT has_table_privilege({string(known.described.sql)}, 'SELECT'), "
        "rolsuper OR rolreplication, rolname::text FROM pg_roles WHERE rolname = current_user"
    )
    [(reads, replicates, user)] = rows(cursor, query)
    if not reads:
        raise SetupError(
            f"user {user} lacks the right to SELECT on {captured}",
            hint=f"GRANT SELECT ON {known.described.sql} TO {user}",
        )
    if not replicates:
        # Services of clouds grant it by roles of their own.
        return Doubt(f"user {user} may not replicate", f"ALTER ROLE {user} REPLICATION")
    return "SELECT, REPLICATION"


def _publication(cursor: Cursor, captured: Captured) -> str:
    exists = check_publication(cursor, captured, Known.of(cursor, captured))
    if exists:
        return f"'{captured.publication}' has the table"
    if not captured.creates:
        raise SetupError(f"publication '{captured.publication}' does not exist")
    return f"'{captured.publication}' will be created"


def _slot(cursor: Cursor, captured: Captured, use: TableUse) -> str | Doubt:
    query = f"SELECT active_pid FROM pg_replication_slots WHERE slot_name = {string(captured.slot)}"
    found = rows(cursor, query)
    if not found and use.options[o.STARTUP] == "committed-offset":
        raise no_slot(captured)
    if not found:
        if rows(cursor, _NO_MORE) == [(True,)]:
            raise no_more_slots(captured)
        return f"'{captured.slot}' will be created"
    state_of(cursor, captured)
    [(reader,)] = found
    if reader is not None:
        return Doubt(f"'{captured.slot}' is read by process {reader}", "choose another 'slot.name'")
    return f"'{captured.slot}' exists; a job without a checkpoint replaces it"
