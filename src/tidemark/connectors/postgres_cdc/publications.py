"""The publication by which the database says which changes a slot has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.connectors.jdbc.contract import Described
from tidemark.connectors.jdbc.postgres.connections import name, rows, string
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.errors import SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Cursor


def check_publication(cursor: Cursor, captured: Captured, known: Known) -> bool:
    """Whether it exists. Raises SetupError if it would leave out changes of the table."""
    own = string(captured.publication)
    query = "SELECT pubinsert AND pubupdate AND pubdelete, pubviaroot FROM pg_publication"
    found = rows(cursor, f"{query} WHERE pubname = {own}")
    if not found:
        return False
    [(complete, via_root)] = found
    cursor.execute(
        f"SELECT * FROM pg_publication_tables WHERE pubname = {own} "
        f"AND schemaname = {string(known.described.schema)} "
        f"AND tablename = {string(known.described.name)}"
    )
    columns = [column[0] for column in cursor.description or ()]
    tables = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    by_root = not known.partitioned or via_root
    problem = _problem(captured, known.described, tables, complete, by_root)
    if problem is not None:
        why, hint = problem
        raise SetupError(
            f"publication '{captured.publication}' cannot be used", notes={"why": why}, hint=hint
        )
    return True


def _problem(
    captured: Captured,
    table: Described,
    tables: list[dict[str, Any]],
    complete: bool,
    by_root: bool,
) -> tuple[str, str] | None:
    """What is wrong with it, and what to do."""
    alter = f"ALTER PUBLICATION {name(captured.publication)}"
    if not tables:
        return f"it does not have table {captured}", f"{alter} ADD TABLE {table.sql}"
    if not complete:
        why = "it leaves out inserts, updates or deletes"
        return why, f"{alter} SET (publish = 'insert, update, delete')"
    if not by_root:
        why = f"it publishes partitions of {captured} by their own names"
        return why, f"{alter} SET (publish_via_partition_root = true)"
    if tables[0].get("rowfilter") is not None:  # of PostgreSQL 15 and newer
        return f"it leaves out rows of {captured}", "choose another 'debezium.publication.name'"
    return None


def creation(captured: Captured, known: Known) -> str:
    """The SQL that creates it."""
    return (
        f"CREATE PUBLICATION {name(captured.publication)} FOR TABLE {known.described.sql} "
        "WITH (publish_via_partition_root = true)"
    )
