"""The catalog of a PostgreSQL server: its databases, and their tables by connector jdbc."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.catalog.catalogs import Catalog, Database
from tidemark.catalog.foreign import Foreign
from tidemark.catalog.tables import Identifier, Relation, Table
from tidemark.connectors.jdbc.contract import Described, NotUnderstood, StoredColumn
from tidemark.connectors.jdbc.dialects import system_of
from tidemark.connectors.jdbc.postgres.connections import (
    connected,
    described,
    name,
    primary_key,
    rows,
)
from tidemark.connectors.jdbc.postgres.url import postgres
from tidemark.connectors.unsupported import JDBC_CATALOG, JDBC_SYSTEM
from tidemark.dialect.statements import CreateCatalog, Option, PhysicalColumn, PrimaryKey
from tidemark.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from adbc_driver_manager.dbapi import Connection

_OPTIONS: Final = ("type", "default-database", "username", "password", "base-url")
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


def catalog_of(statement: CreateCatalog, *, runs: bool) -> Catalog:
    """The catalog that a statement declares; the server must answer. It is never changed."""
    options = _checked(statement)
    server = Server(
        statement.name.parts[-1],
        options["base-url"].rstrip("/"),
        options["username"],
        options["password"],
        options["default-database"],
    )
    server.databases()
    databases = Foreign(server.catalog, server.databases, server.database)
    return Catalog(statement.comment, options, databases, server.default)


def _checked(statement: CreateCatalog) -> dict[str, str]:
    options = {option.key: option for option in statement.options}
    for key, option in options.items():
        if key not in _OPTIONS:
            raise OptionError(
                f"unknown catalog option '{key}'",
                at=option.span,
                notes={"options": ", ".join(_OPTIONS)},
                hint=did_you_mean(key, _OPTIONS),
            )
    for key in _OPTIONS:
        if key not in options:
            raise OptionError(f"option '{key}' of the catalog is missing", at=statement.span)
    url = options["base-url"]
    system = system_of(url.value)
    if system in JDBC_CATALOG.each:
        raise JDBC_CATALOG.error(url.span, str(system))
    if system in JDBC_SYSTEM.each:
        raise JDBC_SYSTEM.error(url.span, str(system))
    written = re.fullmatch(r"jdbc:postgresql://([^/?]*)/?", url.value)
    try:
        postgres(url.value, {}, _WAIT_S)
    except (NotUnderstood, IndexError):
        written = None
    if written is None:
        raise OptionError(
            "'base-url' is not the JDBC URL of a server",
            at=url.span,
            hint="write jdbc:postgresql://host:port, without a database",
        )
    return {key: option.value for key, option in options.items()}


@dataclass(frozen=True, slots=True)
class Server:
    catalog: str
    url: str
    user: str
    password: str
    default: str

    def databases(self) -> list[str]:
        with self._connected(self.default) as connection, connection.cursor() as cursor:
            return [found for (found,) in rows(cursor, _DATABASES)]

    def database(self, wanted: str) -> Database | None:
        if wanted not in self.databases():
            return None
        tables: Foreign[Relation] = Foreign(
            self.catalog, lambda: self.tables(wanted), lambda table: self.table(wanted, table)
        )
        return Database(relations=tables)

    def tables(self, database: str) -> list[str]:
        with self._connected(database) as connection, connection.cursor() as cursor:
            return [found for (found,) in rows(cursor, _TABLES)]

    def table(self, database: str, wanted: str) -> Table | None:
        """A table by `schema.name`, or by its name if it is in the schema `public`."""
        schema, _, table = wanted.partition(".") if "." in wanted else ("public", "", wanted)
        if f"{schema}.{table}" not in self.tables(database):
            return None
        full_name = f"{name(schema)}.{name(table)}"
        with self._connected(database) as connection, connection.cursor() as cursor:
            found, key = described(cursor, full_name), primary_key(cursor, full_name)
        return Table(
            Identifier(self.catalog, database, wanted),
            _columns(found),
            primary_key=PrimaryKey(tuple(key)) if key else None,
            options=self._options(database, full_name),
        )

    def _options(self, database: str, table: str) -> tuple[Option, ...]:
        options = {
            "connector": "jdbc",
            "url": f"{self.url}/{database}",
            "table-name": table,
            "username": self.user,
            "password": self.password,
        }
        return tuple(Option(key, value) for key, value in options.items())

    def _connected(self, database: str) -> AbstractContextManager[Connection]:
        login = {"user": self.user, "password": self.password}
        found = postgres(f"{self.url}/{database}", login, _WAIT_S)
        return connected(found, f"reading catalog {self.catalog}")


# --- types -------------------------------------------------------------------------------------


def _columns(table: Described) -> tuple[PhysicalColumn, ...]:
    return tuple(
        PhysicalColumn(column.name, _type(column).with_nullable(not column.required))
        for column in table.columns.values()
    )


def _type(column: StoredColumn) -> t.DataType:
    """The type that Flink's catalog gives a column; a string for those that it refuses."""
    found = column.type
    if found.startswith("_"):
        return t.Array(_scalar(found[1:], column))
    return _scalar(found, column)


def _scalar(found: str, column: StoredColumn) -> t.DataType:
    match found:
        case "numeric":
            digits, scale = column.digits or (_MOST_DIGITS, 18)
            fits = 0 <= scale <= digits <= _MOST_DIGITS
            return t.Decimal(digits, scale) if fits else t.Decimal(_MOST_DIGITS, 18)
        case "bpchar":
            return t.Char(_length(column) or 1)
        case "varchar":
            return t.VarChar(_length(column) or t.MAX_LENGTH)
        case "time":
            return t.Time(_precision(column))
        case "timestamp":
            return t.Timestamp(_precision(column))
        case "timestamptz":
            return t.TimestampLtz(_precision(column))
    return _TYPES.get(found, t.STRING)


def _length(column: StoredColumn) -> int | None:
    length = re.search(r"\((\d+)\)", column.written)
    return int(length[1]) if length else None


def _precision(column: StoredColumn) -> int:
    return 6 if column.precision is None else column.precision
