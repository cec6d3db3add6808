"""What `tidemark doctor` asks of PostgreSQL: the database, the table, its columns and rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidemark.connectors.base import ColumnsRequest, Probe, TableUse
from tidemark.connectors.jdbc import options as o
from tidemark.connectors.jdbc.postgres import connected, described, rows, string
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.errors import SetupError
from tidemark.plan.inserts import writable_columns

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Cursor

_OF_KEYS = ("INSERT", "UPDATE", "DELETE")


def probes(use: TableUse) -> Iterator[Probe]:
    yield Probe("database", lambda: _database(use))
    if use.reading is not None:
        reading = use.reading
        yield Probe("read", lambda: _read(reading))
    if use.writes:
        yield Probe("write", lambda: _write(use))


def _database(use: TableUse) -> str:
    database, table = o.database_of(use.options), use.options["table-name"]
    with connected(database, f"looking at {table}") as connection, connection.cursor() as cursor:
        found = described(cursor, table)
    return f"{found.schema}.{found.name} of {database}"


def _read(reading: ColumnsRequest) -> str:
    """Reads a row: all columns must be there, of types that fit, and may be read."""
    scan = TableScan.of(reading)
    with scan.connected() as connection, connection.cursor() as cursor:
        query = scan.query(described(cursor, scan.table))
        found = sum(frame.height for frame in scan.fetched(cursor, f"{query} LIMIT 1"))
    return "columns and types fit" if found else "columns and types fit; it has no rows yet"


def _write(use: TableUse) -> str:
    database, table = o.database_of(use.options), use.options["table-name"]
    with connected(database, f"looking at {table}") as connection, connection.cursor() as cursor:
        found = described(cursor, table)
        for column in writable_columns(use.table):
            found.column(column.name, table)
        wanted = ("INSERT",) if use.table.primary_key is None else _OF_KEYS
        for right in wanted:
            _need(cursor, right, f"has_table_privilege({string(found.sql)}, '{right}')", found.sql)
        on_schema = f"has_schema_privilege({string(found.schema)}, 'CREATE')"
        _need(cursor, "CREATE", on_schema, f"SCHEMA {found.schema}")
    return f"columns fit; {', '.join(wanted)}, CREATE"


def _need(cursor: Cursor, right: str, test: str, on: str) -> None:
    [(granted, user)] = rows(cursor, f"SELECT {test}, current_user::text")
    if not granted:
        raise SetupError(
            f"user {user} lacks the right to {right} on {on}",
            hint=f"GRANT {right} ON {on} TO {user}",
        )
