"""What `tidemark doctor` asks of MySQL for changes of a table. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from tidemark.connectors.base import Doubt, Probe, TableUse
from tidemark.connectors.cdc.connector import is_bounded
from tidemark.connectors.jdbc.mysql.connections import rows
from tidemark.connectors.mysql_cdc.captured import (
    CapturedMysql,
    KnownTable,
    check_columns,
    check_server,
    end_of_log,
)

if TYPE_CHECKING:
    from pymysql.connections import Connection


_Ask: TypeAlias = Callable[["Connection", CapturedMysql], str | Doubt]


def probes(use: TableUse) -> Iterator[Probe]:
    if use.reading is None:
        return
    captured = CapturedMysql.of(use.reading)

    def asking(ask: _Ask) -> Callable[[], str | Doubt]:
        def asked() -> str | Doubt:
            with captured.connected() as connection:
                return ask(connection, captured)

        return asked

    yield Probe("database", asking(_database))
    yield Probe("table", asking(_table))
    if is_bounded(use.options):
        return
    yield Probe("rights", asking(_rights))
    yield Probe("log", asking(_log))


def _database(connection: Connection, captured: CapturedMysql) -> str:
    [(version,)] = rows(connection, "SELECT version()")
    return f"{captured.database}, {version}"


def _table(connection: Connection, captured: CapturedMysql) -> str | Doubt:
    known = KnownTable.of(connection, captured)
    known.check(captured)
    if known.cascades(connection):
        return Doubt(
            "its foreign keys delete or update rows without a trace in the log",
            "have no ON DELETE or ON UPDATE with CASCADE or SET NULL",
        )
    return "columns and types fit"


def _rights(connection: Connection, captured: CapturedMysql) -> str:
    check_columns(connection, captured)
    end_of_log(connection, captured)
    return "SELECT, REPLICATION CLIENT"


def _log(connection: Connection, captured: CapturedMysql) -> str:
    from tidemark.connectors.mysql_cdc.columns.log import logged

    check_server(connection, captured)
    end = end_of_log(connection, captured)
    for _ in logged(captured, end):  # what comes from now on: nothing, or little
        break
    return f"has all changes of rows, up to {end}"
