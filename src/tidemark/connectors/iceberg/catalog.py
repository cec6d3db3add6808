"""A catalog of Iceberg in SQL: its databases, and their tables by connector iceberg.

Its tables last: CREATE TABLE makes them, and DROP TABLE removes them with their files, as in Flink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.catalogs import Catalog, Database
from tidemark.catalog.foreign import Foreign, Rehearsed
from tidemark.catalog.tables import Identifier, Relation, Table
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.creating import COMMENT, arrow_schema, create
from tidemark.connectors.iceberg.tables import IcebergPlace, arrow_of, asking, need_library
from tidemark.connectors.lake.frames import fields_of
from tidemark.connectors.options import read_options, without_secrets
from tidemark.dialect.statements import (
    Column,
    CreateCatalog,
    Option,
    PhysicalColumn,
    PrimaryKey,
)
from tidemark.errors import CatalogError, SqlError
from tidemark.functions.arrow_types import from_arrow
from tidemark.storage import NO_ACCESS

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable

_CONNECTOR: Final = "iceberg"
_DEFAULT_DATABASE: Final = "default-database"


def catalog_of(statement: CreateCatalog, *, runs: bool) -> Catalog:
    """The catalog that a statement declares; it must answer. Changes last only if it `runs`."""
    need_library()
    given = {option.key: option for option in statement.options}
    default = given.pop(_DEFAULT_DATABASE, Option(_DEFAULT_DATABASE, "default")).value
    del given["type"]
    found = IcebergCatalog(statement.name.parts[-1], default, tuple(given.values()), runs)
    found.databases()
    databases = _held(runs)(found.name, found.databases, found.database, found.make, found.drop)
    options = {each.key: each.value for each in without_secrets(statement.options, o.OPTIONS)}
    return Catalog(statement.comment, options, databases, default, completed=found.completed)


def _held(runs: bool) -> type[Foreign[Any]]:
    return Foreign if runs else Rehearsed


@dataclass(frozen=True)
class IcebergCatalog:
    name: str
    default: str  # a database that need not exist
    options: tuple[Option, ...] = field(repr=False)  # of the connection, with its secrets
    runs: bool

    # --- databases -----------------------------------------------------------------------------

    def databases(self) -> list[str]:
        with self._asking():
            found = [namespace[0] for namespace in self._opened.list_namespaces()]
        return sorted({*found, self.default})

    def database(self, wanted: str) -> Database | None:
        if wanted not in self.databases():
            return None
        tables = _held(self.runs)(
            self.name,
            lambda: self.tables(wanted),
            lambda table: self.table(wanted, table),
            self.put,
            lambda table: self.remove(wanted, table),
            lambda old, new: self.rename(wanted, old, new),
        )
        return Database(relations=tables)

    def make(self, name: str, database: Database) -> None:
        with self._asking():
            self._opened.create_namespace((name,))

    def drop(self, name: str) -> None:
        for table in self.tables(name):
            self.remove(name, table)
        with self._asking():
            self._opened.drop_namespace((name,))

    # --- tables --------------------------------------------------------------------------------

    def tables(self, database: str) -> list[str]:
        from pyiceberg.exceptions import NoSuchNamespaceError

        with self._asking():
            try:
                found = self._opened.list_tables((database,))
            except NoSuchNamespaceError:  # the default one
                return []
        return sorted(identifier[-1] for identifier in found)

    def table(self, database: str, wanted: str) -> Table | None:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            with self._asking():
                found = self._opened.load_table((database, wanted))
        except NoSuchTableError:
            return None
        keys = sorted(found.schema().identifier_field_names())
        table = Table(
            Identifier(self.name, database, wanted),
            _columns(found),
            primary_key=PrimaryKey(tuple(keys)) if keys else None,
            options=_properties(found),
            partitioned_by=_partitions(found),
            comment=found.properties.get(COMMENT),
        )
        return self._connected(table)

    def put(self, name: str, relation: Relation) -> None:
        if not isinstance(relation, Table):
            raise CatalogError(
                f"`{name}` cannot be created: an Iceberg catalog has no views (same in Flink)",
                hint="CREATE TEMPORARY VIEW, or create it in `default_catalog`",
            )
        place, options = self._place(relation)
        if name in self.tables(relation.identifier.database):
            self._change(relation)
        else:
            create(place, relation, fields_of(relation), options, self._opened)

    def _change(self, new: Table) -> None:
        """Columns are added, and properties set and reset; nothing else is changed yet."""
        old = self.table(new.identifier.database, new.name)
        assert old is not None
        before, after = _properties_of(old), _properties_of(new)
        added = new.columns[len(old.columns) :]
        same = replace(new, columns=new.columns[: len(old.columns)], options=old.options)
        if same != old or not all(map(_may_be_added, added)) or _others(old) != _others(new):
            raise CatalogError(
                f"`{new.name}` exists; of tables in Iceberg catalogs, only properties can be "
                "changed yet, and columns added that may be NULL",
                hint="change it in a system that writes it, or DROP TABLE first",
            )
        with self._asking():
            table = self._opened.load_table((new.identifier.database, new.name))
            with table.transaction() as change:
                if added:
                    with change.update_schema() as schema:
                        schema.union_by_name(arrow_schema(new, fields_of(new)))
                if fresh := {k: v for k, v in after.items() if before.get(k) != v}:
                    change.set_properties(fresh)
                if gone := before.keys() - after.keys():
                    change.remove_properties(*gone)

    def rename(self, database: str, old: str, new: str) -> None:
        with self._asking():
            self._opened.rename_table((database, old), (database, new))

    def remove(self, database: str, name: str) -> None:
        with self._asking():
            self._opened.purge_table((database, name))

    def completed(self, table: Table) -> Table:
        """The table with its connector and what it needs; options that it has are properties."""
        connector = table.option("connector")
        if connector is not None and connector.lower() != _CONNECTOR:
            raise CatalogError(
                f"`{table.name}` has the connector '{connector}', and is in an Iceberg catalog",
                at=table.at,
                hint="CREATE TEMPORARY TABLE, or create it in `default_catalog`",
            )
        if table.watermark is not None or not _is_stored(table):
            raise CatalogError(
                f"`{table.name}` has a watermark, metadata or computed columns, which an Iceberg "
                "catalog does not keep",
                at=table.at,
                hint="declare them in a table LIKE it: CREATE TEMPORARY TABLE t (...) LIKE ...",
            )
        return self._connected(table)

    # --- how they are reached ------------------------------------------------------------------

    def _connected(self, table: Table) -> Table:
        own = {
            "connector": _CONNECTOR,
            o.NAME: self.name,
            **{option.key: option.value for option in self.options},
            o.DATABASE: table.identifier.database,
            o.TABLE: table.identifier.name,
        }
        properties = tuple(each for each in table.options if each.key not in own)
        named = tuple(Option(key, value) for key, value in own.items())
        return replace(table, options=(*named, *properties))

    def _place(self, table: Table) -> tuple[IcebergPlace, Mapping[str, Any]]:
        options = read_options(table, _CONNECTOR, o.OPTIONS)
        o.check(table, options)
        return IcebergPlace.of(table, options, NO_ACCESS), options

    @cached_property
    def _opened(self) -> Any:
        """Asked for each time, but opened once. Mistakes are found at the catalog's options."""
        declared = Table(
            Identifier(self.name, self.default, ""),
            (),
            options=(Option(o.NAME, self.name), *self.options),
        )
        try:
            place, _ = self._place(declared)
        except SqlError as error:
            error.notes.pop("table", None)
            raise
        return replace(place, identifier=()).opened_catalog()

    def _asking(self) -> Any:
        return asking(f"catalog `{self.name}`")


def _columns(table: IcebergTable) -> tuple[PhysicalColumn, ...]:
    schema = table.schema()
    return tuple(
        PhysicalColumn(
            field.name,
            from_arrow(field.type).with_nullable(field.nullable),
            schema.find_field(field.name).doc,
        )
        for field in arrow_of(schema)
    )


def _properties(table: IcebergTable) -> tuple[Option, ...]:
    """What the table says itself of how it is written and read."""
    given = {"format-version": str(table.format_version), **table.properties}
    if not table.schema().identifier_field_ids:
        given.pop(o.UPSERT[-1], None)  # it has no effect on those who read
    return tuple(Option(key, value) for key, value in given.items() if key.startswith(o.PROPERTIES))


def _properties_of(table: Table) -> dict[str, str]:
    return {each.key: each.value for each in table.options if each.key.startswith(o.PROPERTIES)}


def _others(table: Table) -> dict[str, str]:
    """The options that are not properties of the table in Iceberg."""
    return {e.key: e.value for e in table.options if not e.key.startswith(o.PROPERTIES)}


def _may_be_added(column: Column) -> bool:
    return isinstance(column, PhysicalColumn) and column.type.nullable


def _partitions(table: IcebergTable) -> tuple[str, ...]:
    """The columns that the table is partitioned by; none if some part is computed, such as days."""
    spec, schema = table.spec(), table.schema()
    if any(str(part.transform) != "identity" for part in spec.fields):
        return ()
    return tuple(schema.find_field(part.source_id).name for part in spec.fields)


def _is_stored(table: Table) -> bool:
    return all(isinstance(column, PhysicalColumn) for column in table.columns)
