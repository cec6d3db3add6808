"""Plan with what a table declares even if its connector objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.tables import Identifier, LookupTraits, Table, TableTraits, Use
from tidemark.connectors import registry
from tidemark.dialect import statements as s
from tidemark.dialect.table_names import table_names
from tidemark.errors import CatalogError, SqlError
from tidemark.plan.late_rows import SUFFIX
from tidemark.plan.planner import declared_traits


@dataclass
class AssumedTraits:
    """The traits of tables as their connectors report them. If a connector objects, the
    objection is recorded, and the table is treated as append-only and capable of everything.
    """

    options: SessionOptions
    objections: list[SqlError] = field(default_factory=list)

    def __call__(self, table: Table, use: Use) -> TableTraits:
        try:
            return registry.traits(table, use)
        except SqlError as problem:
            self.objections.append(problem)
        traits = declared_traits(table)
        lookup = LookupTraits("keys", "its connector")
        return replace(traits, bounded=self.options.batch, accepts_updates=True, lookup=lookup)

    def taken(self) -> list[SqlError]:
        """The objections since the last call."""
        taken, self.objections = self.objections, []
        return taken


def tables_used(statement: s.Statement, catalogs: Catalogs) -> Iterator[Identifier]:
    """The tables and views that a statement reads or writes, known or not."""
    for name in table_names(statement):
        *path, last = name.parts
        with suppress(CatalogError):
            yield catalogs.identify(s.Name((*path, last.removesuffix(SUFFIX))))
