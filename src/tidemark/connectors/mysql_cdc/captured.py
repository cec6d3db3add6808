"""The table whose changes are read, and what the server says about it and about its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tidemark.connectors.base import ColumnsRequest, ReadRequest
from tidemark.connectors.cdc.captured import CapturedColumns, columns_of
from tidemark.connectors.jdbc.contract import Described, Transient, again
from tidemark.connectors.jdbc.mysql.connections import (
    NotConnected,
    connected,
    described,
    load_driver,
    name,
    rows,
    string,
)
from tidemark.connectors.jdbc.mysql.url import MysqlDatabase
from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc.known_columns import KnownColumn, not_readable
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import DataError, SetupError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_Result = TypeVar("_Result")
_NO_STATEMENT: Final = 1064  # a syntax error
_NOT_ALL: Final = (1142, 1143)  # of a table, or of a column


@dataclass(frozen=True, kw_only=True)
class CapturedMysql(CapturedColumns):
    """A table of the database as a table of SQL. It is sent to workers."""

    database: MysqlDatabase
    table: str
    retries: int  # how often it is tried to connect again
    zone: str  # in which a TIMESTAMP is read as one without a zone

    @classmethod
    def of(cls, request: ReadRequest | ColumnsRequest) -> CapturedMysql:
        options = request.options
        return cls(
            database=o.database_of(options),
            table=options[o.TABLE],
            retries=options[o.RETRIES],
            zone=options[o.ZONE] or request.zone,
            **columns_of(request),
        )

    def __str__(self) -> str:
        return f"{self.database.name}.{self.table}"

    @property
    def names(self) -> dict[str, str]:
        return {"table_name": self.table, "database_name": self.database.name or ""}

    @property
    def quoted(self) -> str:
        """Its name, as SQL has it."""
        return f"{name(self.database.name or '')}.{name(self.table)}"

    @contextmanager
    def connected(self, what: str = "looking at") -> Iterator[Connection]:
        with connected(self.database, f"{what} {self}") as connection:
            yield connection

    def asked(self, ask: Callable[[Connection], _Result]) -> _Result:
        """What the server says."""

        def answer() -> _Result:
            with self.connected("reading") as connection:
                return ask(connection)

        return self.persistently(answer)

    def persistently(self, work: Callable[[], _Result]) -> _Result:
        """The result of work that a server may have to restart for, but not forever."""

        def tried() -> _Result:
            try:
                return work()
            except NotConnected as problem:
                raise Transient(problem.message, notes=problem.notes, hint=problem.hint) from None

        return again(tried, self.retries)


def check_columns(connection: Connection, captured: CapturedMysql) -> None:
    """That the user may see all columns: the log has them without their names."""
    try:
        rows(connection, f"SELECT * FROM {captured.quoted} LIMIT 0")
    except load_driver().MySQLError as problem:
        if not problem.args or problem.args[0] not in _NOT_ALL:
            return  # whoever looks at the table knows better why
        raise SetupError(
            f"user {captured.database.user} may not read all columns of {captured}",
            notes={"database": str(captured.database), "why": str(problem.args[-1])},
            hint=f"GRANT SELECT ON {captured.quoted} TO {captured.database.user}",
        ) from None


@dataclass(frozen=True, slots=True)
class KnownTable:
    """What the server knows of the table."""

    described: Described
    columns: tuple[KnownColumn, ...]  # as they are in the log

    @classmethod
    def of(cls, connection: Connection, captured: CapturedMysql) -> KnownTable:
        """The table as it stays until the transaction of the connection ends."""
        # Who alters it waits for those who read it, and whoever does so now is waited for. This
        # comes first: later, the transaction might see the table as it was before.
        try:
            rows(connection, f"SELECT 1 FROM {captured.quoted} LIMIT 0")
        except load_driver().MySQLError:
            described(connection, captured.quoted)  # knows better why
            raise
        found = described(connection, captured.quoted)
        where = f"table_schema = {string(found.schema)} AND table_name = {string(found.name)}"
        columns = rows(connection, _COLUMNS.format(where=where))
        [(engine, kind)] = rows(connection, _TABLE.format(where=where))
        if (why := _unreadable(str(engine), str(kind))) is not None:
            raise SetupError(f"changes of {captured} cannot be read", notes={"why": why})
        hashes = rows(connection, _HASHES.format(where=where))
        known = [KnownColumn.of(row) for row in columns]
        return cls(found, (*known, *(KnownColumn.of_hash() for _ in hashes)))

    def cascades(self, connection: Connection) -> bool:
        """Whether changes of other tables change its rows: such changes are not in the log."""
        where = f"constraint_schema = {string(self.described.schema)}"
        where += f" AND table_name = {string(self.described.name)}"
        return bool(rows(connection, _CASCADES.format(where=where)))

    def place(self, column: str, captured: CapturedMysql) -> int:
        """Which of the columns in the log one of the DDL is."""
        found = self.described.column(column, str(captured)).name
        return next(n for n, own in enumerate(self.columns) if own.name == found)

    def keys(self, captured: CapturedMysql) -> list[int]:
        """The columns by which a change of the key is found."""
        own = {self.place(column, captured) for column in captured.key}
        return sorted(own.union(n for n, column in enumerate(self.columns) if column.in_key))

    def check(self, captured: CapturedMysql) -> None:
        """That it can be read as it is declared. Raises DataError."""
        for column, type_ in captured.columns_read.items():
            known = self.columns[self.place(column, captured)]
            if (why := not_readable(known, type_)) is not None:
                raise DataError(
                    f"column `{column}` of {captured} is {known.written}, which cannot be read as "
                    f"{type_.text()}",
                    notes={"database": str(captured.database), **({"why": why} if why else {})},
                )


_COLUMNS: Final = """
SELECT column_name, data_type, column_type, character_set_name, character_octet_length,
  numeric_precision, numeric_scale, datetime_precision, column_key = 'PRI',
  extra LIKE '%VIRTUAL%'
FROM information_schema.columns WHERE {where} ORDER BY ordinal_position
"""
# MariaDB has a hidden column for each key that is too long for an index, after all others.
_HASHES: Final = """
SELECT DISTINCT index_name FROM information_schema.statistics
WHERE {where} AND index_type = 'HASH'
"""
_CASCADES: Final = """
SELECT constraint_name FROM information_schema.referential_constraints WHERE {where}
  AND (delete_rule IN ('CASCADE', 'SET NULL') OR update_rule IN ('CASCADE', 'SET NULL'))
"""
_TABLE: Final = "SELECT engine, table_type FROM information_schema.tables WHERE {where}"


def _unreadable(engine: str, kind: str) -> str | None:
    """Why changes of a table are not what its rows become; None if they are."""
    if kind == "VIEW":
        return "it is a view"
    if kind == "SYSTEM VERSIONED":
        return "it is system-versioned: the log has the rows of its history among the others"
    if engine not in ("InnoDB", "ROCKSDB"):
        return f"its engine {engine} has no transactions"
    return None


# --- the log -------------------------------------------------------------------------------------


def end_of_log(connection: Connection, captured: CapturedMysql) -> LogPosition:
    """Where the log ends now: after whole transactions."""
    found = _status(connection, captured)
    return LogPosition(str(found["File"]), int(found["Position"]))


def files_of_log(connection: Connection, captured: CapturedMysql) -> list[str]:
    """The files that are still there, in their order."""
    with _may_read(captured):
        return [str(row[0]) for row in rows(connection, "SHOW BINARY LOGS")]


def _status(connection: Connection, captured: CapturedMysql) -> dict[str, Any]:
    with _may_read(captured), connection.cursor() as cursor:
        try:
            cursor.execute("SHOW MASTER STATUS")
        except Exception as problem:
            if not problem.args or problem.args[0] != _NO_STATEMENT:
                raise
            cursor.execute("SHOW BINARY LOG STATUS")  # MySQL 8.4 has only this one
        found = cursor.fetchall()
        columns = [column[0] for column in cursor.description or ()]
    if not found:
        raise _no_log(captured)
    return dict(zip(columns, found[0], strict=True))


@contextmanager
def _may_read(captured: CapturedMysql) -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        if not problem.args or problem.args[0] != 1227:
            raise
        raise SetupError(
            f"user {captured.database.user} may not ask where the log of changes is",
            notes={"database": str(captured.database), "why": str(problem.args[-1])},
            hint=f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {captured.database.user}",
        ) from None


def _no_log(captured: CapturedMysql) -> SetupError:
    return SetupError(
        f"{captured.database} does not log what changes of rows are read from",
        notes={"log_bin": "OFF", "expected": "ON"},
        hint="start the server with --log-bin and a --server-id",
    )


# What a setting must be, and what it is set by.
_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "binlog_format": ("ROW",),
    "binlog_row_image": ("FULL",),
    "log_bin_compress": ("OFF",),
    "binlog_row_value_options": ("",),
}


def check_server(connection: Connection, captured: CapturedMysql) -> None:
    """That its log has all changes of the table, in a form that is understood."""
    names = ", ".join(map(string, ["log_bin", *_SETTINGS]))
    found = rows(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
    values = {str(key).lower(): str(value or "") for key, value in found}
    if values.get("log_bin") != "ON":
        raise _no_log(captured)
    for setting, wanted in _SETTINGS.items():
        if setting in values and values[setting].upper() not in wanted:
            raise SetupError(
                f"{captured.database} does not log changes of rows as they are read",
                notes={setting: values[setting], "expected": wanted[0] or "''"},
                hint=f"SET GLOBAL {setting} = '{wanted[0]}', also in the server's configuration; "
                "sessions that write must connect again",
            )
    status = _status(connection, captured)
    for key, is_left_out in (("Binlog_Do_DB", False), ("Binlog_Ignore_DB", True)):
        listed = [one.strip() for one in str(status.get(key) or "").split(",") if one.strip()]
        if listed and (captured.database.name in listed) is is_left_out:
            raise SetupError(
                f"{captured.database} does not log changes of database {captured.database.name}",
                notes={key: ", ".join(listed)},
                hint="change the server's configuration",
            )
