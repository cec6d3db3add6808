"""What is imported as `pyflink.table.catalog`: what is in a catalog, and how one is created."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from tidemark.dialect import quoted_name, quoted_string
from tidemark.errors import NotSupported
from tidemark.pyflink_programs.common.configuration import Configuration

__all__ = ["Catalog", "CatalogDescriptor", "ObjectPath"]


@dataclass(frozen=True)
class ObjectPath:
    """The name of a table in a catalog."""

    database_name: str
    object_name: str

    def get_database_name(self) -> str:
        return self.database_name

    def get_object_name(self) -> str:
        return self.object_name

    def get_full_name(self) -> str:
        return f"{self.database_name}.{self.object_name}"

    def __str__(self) -> str:
        return self.get_full_name()


@dataclass(frozen=True)
class CatalogDescriptor:
    """A catalog, as CREATE CATALOG declares it."""

    catalog_name: str
    configuration: Configuration
    comment: str | None = None

    @staticmethod
    def of(
        catalog_name: str, configuration: Configuration, comment: str | None = None
    ) -> CatalogDescriptor:
        return CatalogDescriptor(catalog_name, configuration, comment)

    def ddl(self, name: str) -> str:
        comment = "" if self.comment is None else f" COMMENT {quoted_string(self.comment)}"
        options = ", ".join(
            f"{quoted_string(key)} = {quoted_string(value)}"
            for key, value in self.configuration.to_dict().items()
        )
        return f"CREATE CATALOG {quoted_name(name)}{comment} WITH ({options})"


class Catalog:
    """What is in a catalog. It is changed with SQL."""

    def __init__(
        self,
        name: str,
        default: str,
        listed: Callable[[str], list[str]],
        temporary: Callable[[str, str], set[str]],
    ) -> None:
        self._name, self._default = name, default
        self._listed, self._temporary = listed, temporary

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        return self._listed(f"SHOW DATABASES FROM {quoted_name(self._name)}")

    def database_exists(self, database_name: str) -> bool:
        return database_name in self.list_databases()

    def list_tables(self, database_name: str) -> list[str]:
        return self._permanent("TABLES", database_name)

    def list_views(self, database_name: str) -> list[str]:
        return self._permanent("VIEWS", database_name)

    def table_exists(self, table_path: ObjectPath) -> bool:
        return table_path.object_name in self.list_tables(table_path.database_name)

    def _permanent(self, what: str, database_name: str) -> list[str]:
        """Temporary tables are not in a catalog."""
        path = f"{quoted_name(self._name)}.{quoted_name(database_name)}"
        others = self._temporary(self._name, database_name)
        return [name for name in self._listed(f"SHOW {what} FROM {path}") if name not in others]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotSupported(f"Catalog.{name}() of PyFlink", hint="write it as SQL: execute_sql(...)")
