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
_TYPES: Final[Mapping[str, t.DataType]] = {
    "bool": t.Boolean(),
    "int2": t.SmallInt(),
    "int4": t.Int(),
    "int8": t.BigInt(),
    "float4": t.Float(),
    "float8": t.Double(),
    "bytea": t.BYTES,
    "date": t.Date(),
}
_MOST_DIGITS: Final = 38


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
        if column.type.startswith("_"):
            return t.Array(_scalar(column.type[1:], column))
        return _scalar(column.type, column)


# --- types -------------------------------------------------------------------------------------


def _scalar(found: str, column: StoredColumn) -> t.DataType:
    match found:
        case "numeric":
            digits, scale = column.digits or (_MOST_DIGITS, 18)
            fits = 0 <= scale <= digits <= _MOST_DIGITS
            return t.Decimal(digits, scale) if fits else t.Decimal(_MOST_DIGITS, 18)
        case "bpchar":
            return t.Char(column.length or 1)
        case "varchar":
            return t.VarChar(column.length or t.MAX_LENGTH)
        case "time":
            return t.Time(_precision(column))
        case "timestamp":
            return t.Timestamp(_precision(column))
        case "timestamptz":
            return t.TimestampLtz(_precision(column))
    return _TYPES.get(found, t.STRING)


def _precision(column: StoredColumn) -> int:
    return 6 if column.precision is None else column.precision
