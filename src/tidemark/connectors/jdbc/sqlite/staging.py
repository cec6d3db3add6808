"""Rows on their way into a table of SQLite. They wait in a file of their own beside the database,
so that the tasks that send them, and those that still read, do not wait for each other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.connectors.jdbc.contract import BATCHES, SentRows, TableMerge
from tidemark.connectors.jdbc.sqlite.connections import SqliteDatabase, file, name
from tidemark.connectors.jdbc.sqlite.types import sent as as_sent
from tidemark.connectors.jdbc.staging import ATTEMPT, PIECE
from tidemark.connectors.last_changes import GONE

if TYPE_CHECKING:
    import polars as pl


def staging_file(database: SqliteDatabase, merge: TableMerge) -> Path:
    return database.path.with_name(f"{database.path.name}-{merge.staging.name}")


def remove(database: SqliteDatabase, merge: TableMerge) -> None:
    own = staging_file(database, merge)
    for each in (own, own.with_name(f"{own.name}-journal")):
        each.unlink(missing_ok=True)


def make(database: SqliteDatabase, merge: TableMerge) -> None:
    """A new file, in which columns have no types: values stay as they are."""
    remove(database, merge)
    with _opened(database, merge, "rwc") as connection:
        columns = ", ".join((ATTEMPT, PIECE, GONE, *merge.staging.columns))
        connection.execute(f"CREATE TABLE sent ({columns})")


def add(
    database: SqliteDatabase, merge: TableMerge, rows: pl.DataFrame, attempt: int, number: int
) -> None:
    """A piece, which counts if its attempt does."""
    staging = merge.staging
    piece = staging.piece(rows, attempt, number)
    columns = [piece[ATTEMPT].to_list(), piece[PIECE].to_list(), piece[GONE].to_list()]
    each = zip(staging.columns, staging.types, strict=True)
    columns += [as_sent(piece[column], type_) for column, type_ in each]
    places = ", ".join("?" * len(columns))
    with _opened(database, merge, "rw") as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(f"INSERT INTO sent VALUES ({places})", zip(*columns, strict=True))
        connection.execute("COMMIT")


@contextmanager
def _opened(database: SqliteDatabase, merge: TableMerge, mode: str) -> Iterator[sqlite3.Connection]:
    connection = file(staging_file(database, merge), database.wait_s, mode)
    try:
        # It need not outlive the machine, only the processes that write to it.
        connection.execute("PRAGMA synchronous = OFF")
        yield connection
    finally:
        connection.close()


# --- into the table ----------------------------------------------------------------------------


def merged(
    connection: sqlite3.Connection, database: SqliteDatabase, merge: TableMerge, sent: SentRows
) -> None:
    """Bring the rows of these attempts into the table, and note the micro-batch, or nothing."""
    path = str(staging_file(database, merge))
    connection.execute("ATTACH ? AS staged", (path,))
    connection.execute("BEGIN IMMEDIATE")
    if _is_new(connection, merge, sent.batch_id):
        for statement in _statements(merge, sent):
            connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("DETACH staged")


def _statements(merge: TableMerge, sent: SentRows) -> Iterator[str]:
    staging, table = merge.staging, merge.table.sql
    rows = f"SELECT * FROM staged.sent WHERE {ATTEMPT} IN ({', '.join(map(str, sent.attempts))})"
    names = ", ".join(name(column.name) for column in merge.columns)
    insert = f"INSERT INTO {table} ({names}) SELECT {', '.join(staging.columns)}"
    if not staging.keys:
        yield f"{insert} FROM ({rows})"
        return
    keys = ", ".join(name(column.name) for column in merge.keys)
    sent_keys = ", ".join(staging.columns[place] for place in staging.keys)
    yield "DROP TABLE IF EXISTS temp.latest"
    yield f"CREATE TEMP TABLE latest AS {staging.latest(rows) if sent.pieces > 1 else rows}"
    yield (
        f"DELETE FROM {table} WHERE ({keys}) IN (SELECT {sent_keys} FROM temp.latest WHERE {GONE})"
    )
    others = ", ".join(f"{name(c.name)} = excluded.{name(c.name)}" for c in merge.others)
    then = f"DO UPDATE SET {others}" if others else "DO NOTHING"
    yield f"{insert} FROM temp.latest WHERE NOT {GONE} ON CONFLICT ({keys}) {then}"


# --- batches that come again -------------------------------------------------------------------


def make_batches(connection: sqlite3.Connection) -> None:
    """The table of what jobs have added, if there is none."""
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS main.{BATCHES} "
        "(job TEXT, added_to TEXT, batch INTEGER NOT NULL, PRIMARY KEY (job, added_to))"
    )


def _is_new(connection: sqlite3.Connection, merge: TableMerge, batch_id: int | None) -> bool:
    """Notes a micro-batch; whether it has not been added before."""
    if merge.noted_by is None or batch_id is None:
        return True
    done = connection.execute(
        f"INSERT INTO main.{BATCHES} AS known VALUES (?, ?, ?) "
        "ON CONFLICT (job, added_to) DO UPDATE SET batch = excluded.batch "
        "WHERE known.batch < excluded.batch",
        (merge.noted_by, merge.table.name, batch_id),
    )
    return done.rowcount == 1
