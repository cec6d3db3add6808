"""What `tidemark doctor` asks of MySQL for changes of a table. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Probe, TableUse
from tidemark.connectors.cdc.connector import is_bounded
from tidemark.connectors.jdbc.mysql.connections import rows
from tidemark.connectors.jdbc.mysql.rights import gives
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, KnownTable, check_server
from tidemark.errors import SetupError

if TYPE_CHECKING:
    from pymysql.connections import Connection

# Each by the names that servers have for it.
_RIGHTS: Final = (
    ("SELECT",),
    ("REPLICATION SLAVE", "REPLICATION REPLICA", "REPLICATION SLAVE ADMIN"),
    ("REPLICATION CLIENT", "BINLOG MONITOR"),
)


def probes(use: TableUse) -> Iterator[Probe]:
    if use.reading is None:
        return
    captured = CapturedMysql.of(use.reading)

    def asking(ask: Callable[[Connection, CapturedMysql], str]) -> Callable[[], str]:
        def asked() -> str:
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


def _table(connection: Connection, captured: CapturedMysql) -> str:
    KnownTable.of(connection, captured).check(captured)
    return "columns and types fit"


def _rights(connection: Connection, captured: CapturedMysql) -> str:
    granted = [grant for (grant,) in rows(connection, "SHOW GRANTS") if grant is not None]
    for names in _RIGHTS:
        on = (captured.database.name or "", captured.table) if names == ("SELECT",) else ("", "")
        if not any(gives(grant, name, *on) for grant in granted for name in names):
            where = captured.quoted if any(on) else "*.*"
            [(user,)] = rows(connection, "SELECT CURRENT_USER()")
            raise SetupError(
                f"user {user} lacks the right {names[0]} on {where}",
                hint=f"GRANT {names[0]} ON {where} TO {user}",
            )
    return ", ".join(names[0] for names in _RIGHTS)


def _log(connection: Connection, captured: CapturedMysql) -> str:
    check_server(connection, captured)
    return "has all changes of rows (binlog_format = ROW, binlog_row_image = FULL)"
