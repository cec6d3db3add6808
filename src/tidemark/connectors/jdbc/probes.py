"""What `tidemark doctor` asks of a database: the table, its columns and rights."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.connectors.base import ColumnsRequest, Probe, TableUse
from tidemark.connectors.jdbc import options as o
from tidemark.connectors.jdbc.dialects import dialect_of
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.plan.inserts import writable_columns


def probes(use: TableUse) -> Iterator[Probe]:
    yield Probe("database", lambda: _database(use))
    if use.reading is not None:
        reading = use.reading
        yield Probe("read", lambda: _read(reading))
    if use.writes:
        yield Probe("write", lambda: _write(use))


def _database(use: TableUse) -> str:
    database, table = o.database_of(use.options), use.options["table-name"]
    with dialect_of(use.options["url"]).connected(database, f"looking at {table}") as transaction:
        found = transaction.described(table)
    return f"{found.schema}.{found.name} of {database}"


def _read(reading: ColumnsRequest) -> str:
    """Reads a row: all columns must be there, of types that fit, and may be read."""
    scan = TableScan.of(reading)
    with scan.connected() as transaction:
        table = transaction.described(scan.table)
        found = sum(frame.height for frame in scan.fetched(transaction, table, " LIMIT 1"))
    return "columns and types fit" if found else "columns and types fit; it has no rows yet"


def _write(use: TableUse) -> str:
    database, table = o.database_of(use.options), use.options["table-name"]
    with dialect_of(use.options["url"]).connected(database, f"looking at {table}") as transaction:
        found = transaction.described(table)
        for column in writable_columns(use.table):
            found.column(column.name, table)
        rights = transaction.may_write(found, by_key=use.table.primary_key is not None)
    return f"columns fit; {rights}"
