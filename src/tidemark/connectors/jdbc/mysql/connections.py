"""Connections to MySQL: values come as the server writes them, and go as SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tidemark.connectors.jdbc import idle
from tidemark.connectors.jdbc.contract import Described, StoredColumn, Transient
from tidemark.connectors.jdbc.mysql.url import MysqlDatabase
from tidemark.errors import DataError, JobError, SetupError, did_you_mean

if TYPE_CHECKING:
    from pymysql.connections import Connection

# Times are UTC's, values that do not fit are errors, strings are escaped by backslashes. Sorting
# must see all of a key. Those who read slowly are not cut off.
_SESSION: Final = (
    "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
    "max_sort_length = 4096, net_write_timeout = 3600"
)
# Errors that may not come again: of connections, locks, resources, servers that stop.
_TRANSIENT: Final = frozenset(
    {0, 1040, 1053, 1152, 1158, 1159, 1160, 1161, 1205, 1213, 1927, 2003, 2006, 2013, 2055, 4031}
)
# Of values that do not fit.
_OF_DATA: Final = frozenset(
    {1048, 1062, 1216, 1217, 1264, 1265, 1292, 1364, 1366, 1367, 1406, 1411, 1441, 1451, 1452}
    | {1690, 3819, 4025}
)
# What to do if there is no connection: by the number of the error.
_TO_CONNECT: Final = "check the address, and that the server accepts connections"
_HINTS: Final = {
    1044: "check the name of the database, and that the user has rights in it: GRANT SELECT",
    1045: "check the user and password, and from where the user may connect",
    1049: "check the name of the database",
    1130: "allow the user to connect from here: CREATE USER ...@...",
}
_NO_RIGHT: Final = frozenset({1044, 1142, 1143, 1227, 1370})


class NotConnected(SetupError):
    """There is no such server or database, or it does not let the user in, or not now."""


@contextmanager
def connected(database: MysqlDatabase, what: str) -> Iterator[Connection]:
    """A connection, inside a transaction; what is not committed is undone. Failures say `what` was
    to be done.
    """
    driver = load_driver()
    key = f"{database} {database.user} {database.settings}"
    connection: Connection = idle.taken(key, _answers) or opened(database)
    try:
        yield connection
        connection.rollback()
    except BaseException as problem:
        end(connection)
        if isinstance(problem, driver.MySQLError):
            raise failed(database, what, problem) from None
        raise
    idle.put_back(key, connection)


def load_driver() -> Any:
    try:
        import pymysql
    except ImportError:
        raise SetupError(
            "MySQL needs the package PyMySQL", hint="pip install 'tidemark[mysql]'"
        ) from None
    return pymysql


def _answers(connection: Connection) -> bool:
    try:
        connection.ping(reconnect=False)
    except load_driver().MySQLError:
        end(connection)
        return False
    return True


def end(connection: Connection) -> None:
    """Close it without reading what is still to come of a result."""
    if (result := connection._result) is not None:
        result.unbuffered_active = False
    with suppress(load_driver().MySQLError):
        connection.close()


def opened(database: MysqlDatabase) -> Connection:
    """A new connection; whoever asks for it ends it."""
    driver = load_driver()
    settings = dict(database.settings)
    # The driver would encode it in Latin 1.
    password = settings.pop("password", "").encode()
    try:
        connection: Connection = _class()(
            host=database.host,
            port=database.port,
            database=database.name,
            password=password,
            charset="utf8mb4",
            # Values are converted in columns.
            conv=dict(driver.converters.encoders),
            init_command=_SESSION,
            **settings,
        )
    except (driver.MySQLError, RuntimeError, OSError) as problem:
        why = str(problem.args[-1]) if problem.args else type(problem).__name__
        raise NotConnected(
            f"cannot connect to {database}",
            notes={"user": database.user or "that of the operating system", "why": why},
            hint=_HINTS.get(problem.args[0] if problem.args else 0, _TO_CONNECT),
        ) from None
    return connection


@cache
def _class() -> Any:
    """The driver's connections. If the URL does not say how to use TLS, what that needs is made
    only once: to read the certificates of the system takes longer than all else.
    """
    from pymysql.connections import Connection

    class OneContext(Connection):  # type: ignore[misc]
        _contexts: ClassVar[list[Any]] = []

        def _create_ssl_ctx(self, settings: Any) -> Any:
            if settings:
                return super()._create_ssl_ctx(settings)
            if not self._contexts:
                self._contexts.append(super()._create_ssl_ctx(settings))
            return self._contexts[0]

    return OneContext


def failed(database: MysqlDatabase, what: str, problem: Any) -> JobError | DataError | SetupError:
    number = problem.args[0] if problem.args and isinstance(problem.args[0], int) else 0
    why = str(problem.args[-1]) if problem.args else type(problem).__name__
    notes = {"database": str(database), "why": why or "the connection is lost"}
    if number in _TRANSIENT:
        return Transient(f"{what} failed", notes=notes)
    if number in _OF_DATA:
        return DataError(f"{what} failed", notes=notes)
    if number in _NO_RIGHT:
        hint = f"GRANT it to {database.user}"
        if "tidemark_" in why:
            rights = f"GRANT CREATE, DROP, SELECT, INSERT, DELETE ON database.* TO {database.user}"
            hint = f"rows wait in a table until their batch is complete: {rights}"
        return SetupError(f"{what} failed", notes=notes, hint=hint)
    return JobError(f"{what} failed", notes={**notes, "error": str(number)})


# --- SQL ---------------------------------------------------------------------------------------


def name(text: str) -> str:
    """A name in SQL.

    >>> name('a`b')
    '`a``b`'
    """
    return "`" + text.replace("`", "``") + "`"


def string(text: str) -> str:
    r"""A string in SQL.

    >>> print(string("it's \\ "))
    'it''s \\ '
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def rows(connection: Connection, sql: str) -> list[tuple[str | None, ...]]:
    """The rows of a small result, as strings."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def run(connection: Connection, sql: str) -> int:
    """How many rows a statement has changed."""
    with connection.cursor() as cursor:
        changed: int = cursor.execute(sql)
    return changed


# --- tables ------------------------------------------------------------------------------------


def described(connection: Connection, table: str) -> Described:
    """What the database knows of a table."""
    parts = [
        quoted.replace("``", "`") or plain
        for quoted, plain in re.findall(r"`((?:[^`]|``)*)`|([^`.]+)", table)
    ]
    schema = string(parts[0]) if len(parts) == 2 else "DATABASE()"
    found = rows(connection, _TABLE.format(schema=schema, table=string(parts[-1])))
    # Servers may compare the names of tables without case.
    found = [row for row in found if row[1] == parts[-1]] or found
    if not found or len(parts) > 2:
        known = [row[0] or "" for row in rows(connection, _TABLES.format(schema=schema))]
        raise DataError(
            f"table {table} does not exist in the database, or you may not see it",
            hint=did_you_mean(parts[-1], known) or (_ELSEWHERE if len(parts) == 1 else _NOT_SEEN),
        )
    columns = [_column(row[2:]) for row in found]
    own, its = str(found[0][0]), str(found[0][1])
    known_columns = {column.name: column for column in columns}
    return Described(own, its, known_columns, f"{name(own)}.{name(its)}", folds=True)


def _column(row: tuple[str | None, ...]) -> StoredColumn:
    column, type_, written, digits, scale, nullable, precision = row
    unsigned = " unsigned" if "unsigned" in str(written) else ""
    return StoredColumn(
        str(column),
        f"{str(type_).lower()}{unsigned}",
        str(written),
        None if digits is None else (int(digits), int(scale or 0)),
        nullable == "NO",
        None if precision is None else int(precision),
    )


_ELSEWHERE: Final = "write 'table-name' = 'database.table' if it is in another database"
_NOT_SEEN: Final = "check the names of database and table, and that the user may SELECT from it"
_TABLE: Final = """
SELECT table_schema, table_name, column_name, data_type, column_type, numeric_precision,
  numeric_scale, is_nullable, datetime_precision
FROM information_schema.columns WHERE table_schema = {schema} AND table_name = {table}
ORDER BY table_name, ordinal_position
"""
_TABLES: Final = "SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}"
