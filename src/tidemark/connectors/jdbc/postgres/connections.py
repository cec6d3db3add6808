"""Connections to PostgreSQL: rows come and go as Arrow columns, in the server's binary form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tidemark.connectors.jdbc import idle
from tidemark.connectors.jdbc.contract import Described, StoredColumn, Transient
from tidemark.connectors.jdbc.postgres.url import PostgresDatabase
from tidemark.errors import DataError, JobError, SetupError, did_you_mean

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

# Classes of errors that may not come again: of connections, conflicts, resources, operators.
_TRANSIENT = ("08", "40", "53", "57P", "55P03")
# A limit of the configuration, such as that of replication slots.
_LIMIT = "53400"
# Of values that do not fit.
_OF_DATA = ("22", "23")
_NO_RIGHT = "42501"
_IN_A_SCHEMA = "write 'table-name' = 'schema.table' if it is not in the search path"
_HINTS = {
    "42P10": "add the same PRIMARY KEY or a unique index to the table in the database",
    "428C9": "leave the column out of the table in SQL: the database computes it",
}


@contextmanager
def connected(database: PostgresDatabase, what: str) -> Iterator[Connection]:
    """A connection, inside a transaction; what is not committed is undone. Failures say `what` was
    to be done.
    """
    driver = load_driver()
    connection = idle.taken(database.uri, _answers) or _opened(database, driver)
    try:
        yield connection
        connection.rollback()
    except BaseException as problem:
        with suppress(driver.Error):
            connection.close()
        if isinstance(problem, driver.Error):
            raise failed(database, what, problem) from None
        raise
    idle.put_back(database.uri, connection)


def load_driver() -> Any:
    try:
        import adbc_driver_postgresql.dbapi as driver
    except ImportError:
        raise SetupError(
            "PostgreSQL needs the package adbc-driver-postgresql",
            hint="pip install 'tidemark[jdbc]'",
        ) from None
    return driver


def _answers(connection: Connection) -> bool:
    # To connect takes long because the driver reads which types there are.
    driver = load_driver()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()
    except driver.Error:
        with suppress(driver.Error):
            connection.close()
        return False
    return True


def _opened(database: PostgresDatabase, driver: Any) -> Connection:
    try:
        connection: Connection = driver.connect(database.uri)
    except driver.Error as problem:
        raise not_connected(database, problem) from None
    return connection


def not_connected(database: PostgresDatabase, problem: Any) -> SetupError:
    said = str(problem).split("Failed to connect: ", 1)[-1]
    why = said.split("failed: ", 1)[-1].strip().splitlines()
    return SetupError(
        f"cannot connect to {database}",
        notes={"user": database.user or "that of the operating system", "why": why[0]},
        hint="check the address, user and password, and that the server accepts connections",
    )


def failed(
    database: PostgresDatabase, what: str, problem: Any
) -> JobError | DataError | SetupError:
    state = problem.sqlstate or "08000"
    said = dict(problem.details or ())
    why = said.get(b"PG_DIAG_MESSAGE_PRIMARY", b"").decode() or str(problem).splitlines()[0]
    notes = {"database": str(database), "why": why}
    if detail := said.get(b"PG_DIAG_MESSAGE_DETAIL", b"").decode():
        notes["detail"] = detail
    if state.startswith(_TRANSIENT) and state != _LIMIT:
        return Transient(f"{what} failed", notes=notes)
    if state.startswith(_OF_DATA):
        return DataError(f"{what} failed", notes=notes)
    if state == _NO_RIGHT:
        return SetupError(f"{what} failed", notes=notes, hint=f"GRANT it to {database.user}")
    hint = _HINTS.get(state)
    return JobError(f"{what} failed", notes={**notes, "SQLSTATE": state}, hint=hint)


# --- SQL ---------------------------------------------------------------------------------------


def name(text: str) -> str:
    """A name in SQL.

    >>> name('a"b')
    '"a""b"'
    """
    return '"' + text.replace('"', '""') + '"'


def string(text: str) -> str:
    r"""A string in SQL, whatever is in it and however the server reads backslashes.

    >>> print(string("it's \\ "))
    E'it''s \\ '
    """
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def rows(cursor: Cursor, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a small result."""
    cursor.execute(sql)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


# --- tables ------------------------------------------------------------------------------------


def parts_of(table: str) -> tuple[str, ...]:
    """The schema, if there is one, and the name of a table.

    >>> parts_of('shop.orders'), parts_of('"a.b".c')
    (('shop', 'orders'), ('a.b', 'c'))
    """
    found = re.findall(r'"((?:[^"]|"")*)"|([^".]+)', table)
    return tuple(quoted.replace('""', '"') or plain for quoted, plain in found)


def described(cursor: Cursor, table: str, otherwise: str = _IN_A_SCHEMA) -> Described:
    """What the database knows of a table, found by its name, or by that in lower case. If there is
    none, and none of a similar name, the hint is what to do `otherwise`.
    """
    parts = parts_of(table)
    written = ".".join(map(name, parts))
    names = ", ".join(f"to_regclass({string(one)})" for one in (written, written.lower()))
    found = rows(cursor, _TABLE.format(table=f"coalesce({names})"))
    if not found or len(parts) > 2:
        raise DataError(
            f"table {table} does not exist in the database, or you may not see it",
            hint=_similar(cursor, parts) or otherwise,
        )
    columns = [StoredColumn(*_column(row[2:])) for row in found]
    schema, own = found[0][:2]
    known = {column.name: column for column in columns}
    return Described(schema, own, known, f"{name(schema)}.{name(own)}")


def _similar(cursor: Cursor, parts: tuple[str, ...]) -> str | None:
    """The table that may be meant: one of this name in another schema, or of a similar name."""
    tables = [(schema, own) for schema, own in rows(cursor, _TABLES)]
    same = [f"{schema}.{own}" for schema, own in tables if own.lower() == parts[-1].lower()]
    if same:
        return f"did you mean {' or '.join(f'`{one}`' for one in same[:3])}?"
    names = [own if len(parts) == 1 else f"{schema}.{own}" for schema, own in tables]
    return did_you_mean(".".join(parts), names)


def primary_key(cursor: Cursor, table: str) -> list[str]:
    """The columns of a table's primary key. `table` is its name in SQL."""
    return [column for (column,) in rows(cursor, _KEY.format(table=string(table)))]


def _column(row: tuple[Any, ...]) -> tuple[Any, ...]:
    column, type_, written, modifier, required = row
    digits = precision = None
    if type_ in ("numeric", "_numeric") and modifier >= 4:
        # As PostgreSQL packs them; the scale has a sign of its own.
        digits = (modifier - 4) >> 16, (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    elif type_.lstrip("_").startswith("time"):
        precision = modifier if modifier >= 0 else 6
    return column, type_, written, digits, required, precision


# A domain is read as what it is over, which may be a domain, too, and an array of domains as an
# array of what they are over.
_TABLE = """
WITH RECURSIVE typed (number, depth, type, modifier) AS (
  SELECT attnum, 0, atttypid, atttypmod FROM pg_attribute
  WHERE attrelid = {table} AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT number, depth + 1, inside.type, inside.modifier FROM typed
  JOIN pg_type t ON t.oid = typed.type
  LEFT JOIN pg_type element ON element.oid = t.typelem AND element.typarray = t.oid
  LEFT JOIN pg_type base ON base.oid = element.typbasetype
  CROSS JOIN LATERAL (
    SELECT t.typbasetype, t.typtypmod WHERE t.typtype = 'd'
    UNION ALL
    SELECT base.typarray, element.typtypmod WHERE element.typtype = 'd' AND base.typarray <> 0
  ) AS inside (type, modifier)
), columns AS (
  SELECT DISTINCT ON (number) number, type, modifier FROM typed ORDER BY number, depth DESC
)
SELECT n.nspname::text, c.relname::text, a.attname::text, t.typname::text,
  format_type(t.oid, columns.modifier), columns.modifier, a.attnotnull
FROM columns
JOIN pg_class c ON c.oid = {table}
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = columns.number
JOIN pg_type t ON t.oid = columns.type
ORDER BY a.attnum
"""

_TABLES = """
SELECT n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname NOT LIKE 'pg\\_%'
  AND nspname <> 'information_schema'
ORDER BY 1, 2 LIMIT 10000
"""
_KEY = """
SELECT a.attname::text FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
WHERE i.indrelid = to_regclass({table}) AND i.indisprimary ORDER BY k.place
"""


def listed(names: Sequence[str]) -> str:
    """Names in SQL, with commas."""
    return ", ".join(map(name, names))
