"""Planning on where a connector objects: with what the table's declaration says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tidemark import connectors
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.tables import Identifier, Table, TableTraits
from tidemark.dialect import statements as s
from tidemark.dialect.table_names import table_names
from tidemark.errors import CatalogError, SqlError
from tidemark.plan.late_rows import SUFFIX
from tidemark.plan.planner import declared_traits


@dataclass
class AssumedTraits:
    """The traits that connectors tell of tables. An objection is noted, and the table is taken
    for one whose rows come as they must and whose connector can do all that is asked of it."""

    options: SessionOptions
    objections: list[SqlError] = field(default_factory=list)

    def __call__(self, table: Table) -> TableTraits:
        try:
            return connectors.traits(table)
        except SqlError as problem:
            self.objections.append(problem)
        traits = declared_traits(table)
        return replace(traits, bounded=self.options.batch, accepts_updates=True)

    def taken(self) -> list[SqlError]:
        """What was objected to since this was asked last."""
        taken, self.objections = self.objections, []
        return taken


def tables_used(statement: s.Statement, catalogs: Catalogs) -> Iterator[Identifier]:
    """The tables and views that a statement reads or writes, known or not."""
    for name in table_names(statement):
        *path, last = name.parts
        with suppress(CatalogError):
            yield catalogs.identify(s.Name((*path, last.removesuffix(SUFFIX))))
