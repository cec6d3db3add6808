"""PostgreSQL as a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import Described, StoredColumn
from tidemark.connectors.jdbc.postgres.connections import (
    connected,
    described,
    name,
    primary_key,
    rows,
)
from tidemark.connectors.jdbc.postgres.types import type_of
from tidemark.connectors.jdbc.postgres.url import postgres

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection

_WAIT_S: Final = 60

_DATABASES: Final = "SELECT datname::text FROM pg_database WHERE NOT datistemplate ORDER BY 1"
# As Flink lists them: with their schemas, and without views.
_TABLES: Final = """
SELECT table_schema || '.' || table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT LIKE 'pg\\_%'
  AND table_schema <> 'information_schema' ORDER BY 1
"""


class PostgresCatalog:
    def connected(
        self, url: str, login: Mapping[str, str], what: str
    ) -> AbstractContextManager[Connection]:
        return connected(postgres(url, login, _WAIT_S), what)

    def databases(self, connection: Connection) -> list[str]:
        with connection.cursor() as cursor:
            return [found for (found,) in rows(cursor, _DATABASES)]

    def tables(self, connection: Connection, database: str) -> list[str]:
        with connection.cursor() as cursor:
            return [found for (found,) in rows(cursor, _TABLES)]

    def name(self, table: str) -> tuple[str, str]:
        """`schema.name`, or the name of a table in the schema `public`."""
        schema, _, own = table.partition(".") if "." in table else ("public", "", table)
        return f"{schema}.{own}", f"{name(schema)}.{name(own)}"

    def described(self, connection: Connection, table: str) -> tuple[Described, list[str]]:
        with connection.cursor() as cursor:
            return described(cursor, table), primary_key(cursor, table)

    def type_of(self, column: StoredColumn) -> t.DataType:
        return type_of(column)
