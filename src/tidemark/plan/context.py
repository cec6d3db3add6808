"""What is known while a query is being planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Table, TableTraits
from tidemark.plan.scalars import Binder
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A query named in WITH, and what could be seen where it was named."""

    query: exp.Expression
    columns: tuple[str, ...]
    seen: Mapping[str, CommonTable]


@dataclass(frozen=True, slots=True)
class Context:
    """The catalog, what connectors say of tables, and the WITH names in sight."""

    catalogs: Catalogs
    traits: Callable[[Table], TableTraits]
    common: Mapping[str, CommonTable] = field(default_factory=dict)
    views: tuple[str, ...] = ()  # being expanded, outermost first
    warnings: list[str] = field(default_factory=list)

    def binder(self, scope: Scope) -> Binder:
        return Binder(scope, self.catalogs)

    def naming(self, common: Mapping[str, CommonTable]) -> Context:
        return replace(self, common={**self.common, **common})

    def inside_view(self, name: str) -> Context:
        """A view sees none of the WITH names around the place where it is used."""
        return replace(self, common={}, views=(*self.views, name))

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
