"""The databases of a server as a catalog, and their tables by connector jdbc."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import quote

from tidemark.catalog.catalogs import Catalog, Database
from tidemark.catalog.foreign import Foreign
from tidemark.catalog.tables import Identifier, Relation, Table
from tidemark.connectors.jdbc.contract import Described, NotUnderstood, StoredColumn
from tidemark.connectors.jdbc.dialects import system_of
from tidemark.connectors.jdbc.mysql.catalog import MysqlCatalog
from tidemark.connectors.jdbc.postgres.catalog import PostgresCatalog
from tidemark.connectors.unsupported import JDBC_CATALOG, JDBC_SYSTEM
from tidemark.dialect.statements import CreateCatalog, Option, PhysicalColumn, PrimaryKey
from tidemark.errors import OptionError, did_you_mean
from tidemark.types import DataType

_OPTIONS: Final = ("type", "default-database", "username", "password", "base-url")


class CatalogSystem(Protocol):
    """What a database system is to a catalog. Names of tables are those that it lists."""

    def connected(
        self, url: str, login: Mapping[str, str], what: str
    ) -> AbstractContextManager[Any]:
        """A connection to a database by its URL. Raises NotUnderstood for another URL."""
        ...

    def databases(self, connection: Any) -> list[str]: ...

    def tables(self, connection: Any, database: str) -> list[str]: ...

    def name(self, table: str) -> tuple[str, str]:
        """The name of a table as it is listed, and in SQL."""
        ...

    def described(self, connection: Any, table: str) -> tuple[Described, list[str]]:
        """A table by its name in SQL, and its primary key."""
        ...

    def type_of(self, column: StoredColumn) -> DataType:
        """The type that Flink's catalog gives a column; a string for those that it refuses."""
        ...


SYSTEMS: Final[Mapping[str, CatalogSystem]] = {
    "postgresql": PostgresCatalog(),
    "mysql": MysqlCatalog(),
}


def catalog_of(statement: CreateCatalog, *, runs: bool) -> Catalog:
    """The catalog that a statement declares; the server must answer. It is never changed."""
    options = _checked(statement)
    url = options["base-url"].rstrip("/")
    server = Server(
        statement.name.parts[-1],
        SYSTEMS[system_of(url) or ""],
        url,
        {"user": options["username"], "password": options["password"]},
        options["default-database"],
    )
    server.databases()
    databases = Foreign(server.catalog, server.databases, server.database)
    return Catalog(statement.comment, options, databases, server.default)


def _checked(statement: CreateCatalog) -> dict[str, str]:
    options = {option.key: option for option in statement.options}
    for key, option in options.items():
        if key not in (*_OPTIONS, "property-version"):
            raise OptionError(
                f"unknown catalog option '{key}'",
                at=option.span,
                notes={"options": ", ".join(_OPTIONS)},
                hint=did_you_mean(key, _OPTIONS),
            )
    for key in _OPTIONS:
        if key not in options:
            raise OptionError(f"option '{key}' of the catalog is missing", at=statement.span)
    _check_url(options["base-url"])
    return {key: option.value for key, option in options.items()}


def _check_url(url: Option) -> None:
    system = system_of(url.value) or ""
    if system in JDBC_CATALOG.each:
        raise JDBC_CATALOG.error(url.span, system)
    if system in JDBC_SYSTEM.each:
        raise JDBC_SYSTEM.error(url.span, system)
    written = re.fullmatch(r"jdbc:[a-z]+://[^/?]*/?", url.value)
    try:
        if written is not None and system in SYSTEMS:
            SYSTEMS[system].connected(url.value.rstrip("/") + "/x", {}, "")
            return
    except (NotUnderstood, IndexError):
        pass
    raise OptionError(
        "'base-url' is not the JDBC URL of a server",
        at=url.span,
        hint=f"write jdbc:{system or 'postgresql'}://host:port, without a database",
    )


@dataclass(frozen=True, slots=True)
class Server:
    catalog: str
    system: CatalogSystem
    url: str
    login: Mapping[str, str] = field(repr=False)
    default: str

    def databases(self) -> list[str]:
        with self._connected(self.default) as connection:
            return self.system.databases(connection)

    def database(self, wanted: str) -> Database | None:
        if wanted not in self.databases():
            return None
        tables: Foreign[Relation] = Foreign(
            self.catalog, lambda: self.tables(wanted), lambda table: self.table(wanted, table)
        )
        return Database(relations=tables)

    def tables(self, database: str) -> list[str]:
        with self._connected(database) as connection:
            return self.system.tables(connection, database)

    def table(self, database: str, wanted: str) -> Table | None:
        listed, in_sql = self.system.name(wanted)
        if listed not in self.tables(database):
            return None
        with self._connected(database) as connection:
            found, key = self.system.described(connection, in_sql)
        columns = (
            PhysicalColumn(c.name, self.system.type_of(c).with_nullable(not c.required))
            for c in found.columns.values()
        )
        return Table(
            Identifier(self.catalog, database, wanted),
            tuple(columns),
            primary_key=PrimaryKey(tuple(key)) if key else None,
            options=self._options(database, in_sql),
        )

    def _options(self, database: str, table: str) -> tuple[Option, ...]:
        options = {
            "connector": "jdbc",
            "url": self._url(database),
            "table-name": table,
            "username": self.login["user"],
            "password": self.login["password"],
        }
        return tuple(Option(key, value) for key, value in options.items())

    def _connected(self, database: str) -> AbstractContextManager[Any]:
        return self.system.connected(
            self._url(database), self.login, f"reading catalog {self.catalog}"
        )

    def _url(self, database: str) -> str:
        """The URL of a database, whatever its name is."""
        return f"{self.url}/{re.sub('[/?#%]', lambda found: quote(found[0], safe=''), database)}"
