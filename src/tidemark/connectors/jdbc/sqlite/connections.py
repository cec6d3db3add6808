"""Files of SQLite: which one a URL names, how it is opened, and what its errors mean."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tidemark.connectors.jdbc.contract import Described, NotUnderstood, StoredColumn, Transient
from tidemark.errors import DataError, JobError, SetupError, did_you_mean

_NO_KEY: Final = "ON CONFLICT clause does not match"
_UNREADABLE: Final = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


@dataclass(frozen=True, slots=True)
class SqliteDatabase:
    """A file, and for how many seconds to wait for others that write to it."""

    path: Path
    wait_s: int

    def __str__(self) -> str:
        return str(self.path)


def database(url: str, login: Mapping[str, str | None], wait_s: int) -> SqliteDatabase:
    """The file of a `jdbc:sqlite:` URL.

    >>> database("jdbc:sqlite:/data/shop.db", {}, 60)
    SqliteDatabase(path=PosixPath('/data/shop.db'), wait_s=60)
    """
    path = url.split(":", 2)[2]
    if any(value is not None for value in login.values()):
        raise NotUnderstood("SQLite has no users and passwords")
    if not path or path.startswith((":", "file:")):
        raise NotUnderstood("expected jdbc:sqlite:path, with the path of a file")
    if "?" in path:
        raise NotUnderstood("settings in the URL are not known for SQLite")
    # Workers may run in other folders.
    return SqliteDatabase(Path(path).absolute(), wait_s)


# --- connections -------------------------------------------------------------------------------


@contextmanager
def opened(database: SqliteDatabase, what: str) -> Iterator[sqlite3.Connection]:
    """A connection, outside of a transaction. Failures say `what` was to be done."""
    if not database.path.exists():
        raise SetupError(
            f"{what} failed: {database} does not exist",
            hint="check the path in 'url', which begins at the current folder if it is relative",
        )
    try:
        connection = file(database.path, database.wait_s)
        try:
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise failed(database, what, problem) from None


def file(path: Path, wait_s: int, mode: str = "rw") -> sqlite3.Connection:
    """A connection in whose statements no transaction begins by itself. It may be closed in another
    thread than it was used in.
    """
    uri = f"{path.as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, timeout=wait_s, isolation_level=None, check_same_thread=False
    )


def failed(
    database: SqliteDatabase, what: str, problem: sqlite3.Error
) -> JobError | DataError | SetupError:
    notes = {"database": str(database), "why": str(problem)}
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Transient(
            f"{what} failed",
            notes=notes,
            hint="'connection.max-retry-timeout' is how long it waits",
        )
    if code in _UNREADABLE:
        return SetupError(f"{what} failed", notes=notes, hint="check that it is a file of SQLite")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return SetupError(f"{what} failed", notes=notes, hint="check the rights to the file")
    if isinstance(problem, sqlite3.IntegrityError | sqlite3.DataError):
        return DataError(f"{what} failed", notes=notes)
    hint = None
    if str(problem).startswith(_NO_KEY):
        hint = "add the same PRIMARY KEY or a unique index to the table in the database"
    return JobError(f"{what} failed", notes=notes, hint=hint)


# --- tables ------------------------------------------------------------------------------------


def name(text: str) -> str:
    """A name in SQL.

    >>> name('a"b')
    '"a""b"'
    """
    return '"' + text.replace('"', '""') + '"'


def described(connection: sqlite3.Connection, table: str) -> Described:
    """What the database knows of a table, whose name it finds in any case."""
    parts = [
        quoted.replace('""', '"') or plain
        for quoted, plain in re.findall(r'"((?:[^"]|"")*)"|([^".]+)', table)
    ]
    if len(parts) == 2 and parts[0].lower() == "main":
        parts = parts[1:]
    every = {own.lower(): own for (own,) in connection.execute(_TABLES)}
    own = every.get(parts[0].lower()) if len(parts) == 1 else None
    if own is None:
        whole = every.get(table.lower())
        hint = f"write {name(whole)}: what precedes a period is a schema" if whole else None
        raise DataError(
            f"table {table} does not exist in the database",
            hint=hint or did_you_mean(table, every.values()),
        )
    columns = {
        column: StoredColumn(column, affinity(type_), type_ or "of no type", None, bool(required))
        for column, type_, required in connection.execute(_COLUMNS, (own,))
    }
    return Described("main", own, columns, f"main.{name(own)}", folds=True)


def affinity(declared: str) -> str:
    """What SQLite makes of values in a column, by the words of its type.

    >>> affinity("VARCHAR(20)"), affinity("BIGINT"), affinity("DECIMAL(5, 2)"), affinity("")
    ('TEXT', 'INTEGER', 'NUMERIC', 'BLOB')
    """
    declared = declared.upper()
    for words, found in _AFFINITIES:
        if any(word in declared for word in words):
            return found
    return "NUMERIC" if declared else "BLOB"


# In this order.
_AFFINITIES: Final = (
    (("INT",), "INTEGER"),
    (("CHAR", "CLOB", "TEXT"), "TEXT"),
    (("BLOB",), "BLOB"),
    (("REAL", "FLOA", "DOUB"), "REAL"),
)
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
# Those of virtual tables may be hidden; generated ones are not.
_COLUMNS: Final = 'SELECT name, type, "notnull" FROM pragma_table_xinfo(?) WHERE hidden <> 1'
