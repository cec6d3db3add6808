"""MySQL as a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import Described, StoredColumn
from tidemark.connectors.jdbc.mysql.connections import connected, described, name, rows, string
from tidemark.connectors.jdbc.mysql.types import type_of
from tidemark.connectors.jdbc.mysql.url import database as database_of

if TYPE_CHECKING:
    from pymysql.connections import Connection

_WAIT_S: Final = 60

_DATABASES: Final = """
SELECT schema_name FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1
"""
# As Flink lists them, with views.
_TABLES: Final = """
SELECT table_name FROM information_schema.tables WHERE table_schema = {database} ORDER BY 1
"""
_KEY: Final = """
SELECT column_name FROM information_schema.key_column_usage
WHERE constraint_name = 'PRIMARY' AND table_schema = {database} AND table_name = {table}
ORDER BY ordinal_position
"""


class MysqlCatalog:
    def connected(
        self, url: str, login: Mapping[str, str], what: str
    ) -> AbstractContextManager[Connection]:
        return connected(database_of(url, login, _WAIT_S), what)

    def databases(self, connection: Connection) -> list[str]:
        return [str(found) for (found,) in rows(connection, _DATABASES)]

    def tables(self, connection: Connection, database: str) -> list[str]:
        query = _TABLES.format(database=string(database))
        return [str(found) for (found,) in rows(connection, query)]

    def name(self, table: str) -> tuple[str, str]:
        return table, name(table)

    def described(self, connection: Connection, table: str) -> tuple[Described, list[str]]:
        found = described(connection, table)
        query = _KEY.format(database=string(found.schema), table=string(found.name))
        return found, [str(column) for (column,) in rows(connection, query)]

    def type_of(self, column: StoredColumn) -> t.DataType:
        return type_of(column)
