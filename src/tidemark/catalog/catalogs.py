"""Catalogs, their databases, and what lives in them. Names are case-sensitive, as in Flink."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidemark.catalog.tables import Identifier, Relation, UserFunction
from tidemark.dialect.statements import Name
from tidemark.errors import CatalogError, Span, did_you_mean

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


@dataclass
class Database:
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)


@dataclass
class Catalog:
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    databases: dict[str, Database] = field(default_factory=dict)


class Catalogs:
    """All that a session has declared. Temporary objects hide permanent ones of the same name."""

    def __init__(self) -> None:
        default = Catalog(databases={DEFAULT_DATABASE: Database()})
        self.catalogs: dict[str, Catalog] = {DEFAULT_CATALOG: default}
        self.current_catalog = DEFAULT_CATALOG
        self.current_database = DEFAULT_DATABASE
        self.temporary: dict[Identifier, Relation] = {}
        self.temporary_functions: dict[str, UserFunction] = {}

    # --- names ---------------------------------------------------------------------------------

    def identify(self, name: Name) -> Identifier:
        """The full name of a table, view or function, by the current catalog and database."""
        if len(name.parts) > 3:
            raise CatalogError(
                f"`{name}` has too many parts", at=name.span, hint="write catalog.database.name"
            )
        missing = (self.current_catalog, self.current_database)[: 3 - len(name.parts)]
        return Identifier(*missing, *name.parts)

    def catalog(self, name: str, at: Span | None = None) -> Catalog:
        try:
            return self.catalogs[name]
        except KeyError:
            raise CatalogError(
                f"catalog `{name}` does not exist", at=at, hint=did_you_mean(name, self.catalogs)
            ) from None

    def database(self, catalog: str, name: str, at: Span | None = None) -> Database:
        databases = self.catalog(catalog, at).databases
        try:
            return databases[name]
        except KeyError:
            raise CatalogError(
                f"database `{name}` does not exist in catalog `{catalog}`",
                at=at,
                hint=did_you_mean(name, databases),
            ) from None

    # --- tables and views ----------------------------------------------------------------------

    def find(self, name: Name) -> Relation | None:
        """A table or view, or None. The catalog and database must exist."""
        identifier = self.identify(name)
        if identifier in self.temporary:
            return self.temporary[identifier]
        database = self.database(identifier.catalog, identifier.database, name.span)
        return database.relations.get(identifier.name)

    def relation(self, name: Name) -> Relation:
        """A table or view; a CatalogError that suggests the nearest name if there is none."""
        found = self.find(name)
        if found is None:
            raise CatalogError(
                f"table or view `{name}` does not exist",
                at=name.span,
                hint=did_you_mean(name.parts[-1], self.relation_names()),
            )
        return found

    def relation_names(self) -> list[str]:
        """Names that need no qualification now, temporary ones included, sorted."""
        here = self.database(self.current_catalog, self.current_database)
        temporary = (
            i.name
            for i in self.temporary
            if (i.catalog, i.database) == (self.current_catalog, self.current_database)
        )
        return sorted({*here.relations, *temporary})

    def relations(self) -> Iterable[Relation]:
        """The relations that `relation_names` names."""
        return [self.relation(Name((name,))) for name in self.relation_names()]

    def put(self, relation: Relation) -> None:
        """Add a table or view, in place of one of the same name."""
        identifier = relation.identifier
        if relation.temporary:
            self.temporary[identifier] = relation
        else:
            self.database(identifier.catalog, identifier.database).relations[identifier.name] = (
                relation
            )

    def remove(self, relation: Relation) -> None:
        identifier = relation.identifier
        if relation.temporary:
            del self.temporary[identifier]
        else:
            del self.database(identifier.catalog, identifier.database).relations[identifier.name]

    # --- functions (names fold case) -----------------------------------------------------------

    def function(self, name: Name) -> UserFunction | None:
        folded = name.parts[-1].lower()
        if len(name.parts) == 1 and folded in self.temporary_functions:
            return self.temporary_functions[folded]
        identifier = self.identify(name)
        if identifier.catalog not in self.catalogs:
            return None
        databases = self.catalogs[identifier.catalog].databases
        database = databases.get(identifier.database)
        return database.functions.get(folded) if database else None

    def put_function(self, name: Name, function: UserFunction) -> None:
        self._functions_of(name, function.temporary)[name.parts[-1].lower()] = function

    def remove_function(self, name: Name, temporary: bool) -> None:
        del self._functions_of(name, temporary)[name.parts[-1].lower()]

    def function_names(self) -> list[str]:
        here = self.database(self.current_catalog, self.current_database)
        return sorted({*here.functions, *self.temporary_functions})

    def _functions_of(self, name: Name, temporary: bool) -> dict[str, UserFunction]:
        if temporary:
            return self.temporary_functions
        identifier = self.identify(name)
        return self.database(identifier.catalog, identifier.database, name.span).functions
