"""Catalogs, their databases, and the objects in them. Names are case-sensitive, as in Flink."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from tidemark.catalog.foreign import Foreign, Rehearsed
from tidemark.catalog.tables import (
    Identifier,
    Relation,
    Table,
    TemporalFunction,
    UserFunction,
)
from tidemark.dialect.statements import CreateCatalog, Name
from tidemark.errors import CatalogError, Span, did_you_mean

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


@dataclass
class Database:
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    relations: MutableMapping[str, Relation] = field(default_factory=dict)


@dataclass
class Catalog:
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict, repr=False)  # some have passwords
    databases: MutableMapping[str, Database] = field(default_factory=dict)
    default_database: str = DEFAULT_DATABASE
    # Adds what its tables have without saying it, such as their connector.
    completed: Callable[[Table], Table] | None = None


class CatalogKind(Protocol):
    """Makes a catalog of a type that is not kept in memory. It is only changed if it `runs`."""

    def __call__(self, statement: CreateCatalog, *, runs: bool) -> Catalog: ...


class Catalogs:
    """Everything that a session has declared. Temporary objects hide permanent ones with the
    same name.
    """

    def __init__(
        self, kinds: Mapping[str, CatalogKind] | None = None, *, runs: bool = False
    ) -> None:
        self.kinds = kinds or {}
        self.runs = runs  # whether what is declared is to last, in catalogs that keep it
        default = Catalog(databases={DEFAULT_DATABASE: Database()})
        self.catalogs: dict[str, Catalog] = {DEFAULT_CATALOG: default}
        self.current_catalog = DEFAULT_CATALOG
        self.current_database = DEFAULT_DATABASE
        self._seen_in: str | None = None
        self.temporary: dict[Identifier, Relation] = {}
        self.temporary_functions: dict[Identifier, UserFunction] = {}
        self.temporal_functions: dict[str, TemporalFunction] = {}
        self.system_functions: dict[Identifier, UserFunction] = {}
        self.functions: dict[Identifier, UserFunction] = {}

    # --- names ---------------------------------------------------------------------------------

    @property
    def path(self) -> tuple[str, str]:
        """The current catalog and database, with which short names are completed."""
        return self.current_catalog, self.current_database

    @property
    def session_database(self) -> str:
        """The current database of the session, which is not that of a view that it reads."""
        return self.current_database if self._seen_in is None else self._seen_in

    def seen_from(self, path: tuple[str, str]) -> Catalogs:
        """The same catalogs, with short names completed as if `path` were current."""
        other = copy.copy(self)
        other._seen_in = self.session_database
        other.current_catalog, other.current_database = path
        return other

    def identify(self, name: Name) -> Identifier:
        """The full name of a table, view or function in the current catalog and database."""
        if len(name.parts) > 3:
            raise CatalogError(
                f"`{name}` has too many parts", at=name.span, hint="write catalog.database.name"
            )
        return Identifier(*self.path[: 3 - len(name.parts)], *name.parts)

    def identify_database(self, name: Name) -> tuple[str, str]:
        """The catalog and name of a database."""
        if len(name.parts) > 2:
            raise CatalogError(
                f"`{name}` has too many parts", at=name.span, hint="write catalog.database"
            )
        return (name.parts[0] if len(name.parts) > 1 else self.current_catalog), name.parts[-1]

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
        """A table or view, or None."""
        identifier = self.identify(name)
        return self.temporary.get(identifier) or self.permanent(identifier)

    def permanent(self, identifier: Identifier) -> Relation | None:
        """What a temporary table or view with that name would hide."""
        catalog = self.catalogs.get(identifier.catalog)
        database = catalog.databases.get(identifier.database) if catalog else None
        return database.relations.get(identifier.name) if database else None

    def relation(self, name: Name) -> Relation:
        """A table or view. Raises a CatalogError that suggests the nearest name if it does not
        exist.
        """
        found = self.find(name)
        if found is not None:
            return found
        identifier = self.identify(name)
        self._check_database(identifier, name.span)
        known = self.relation_names(identifier.catalog, identifier.database)
        raise CatalogError(
            f"table or view `{name}` does not exist",
            at=name.span,
            hint=did_you_mean(identifier.name, known) or self._elsewhere(identifier.name),
        )

    def _check_database(self, identifier: Identifier, at: Span | None) -> None:
        """That there is such a database. In catalogs of PostgreSQL, what precedes the name of a
        table may be meant as its schema.
        """
        try:
            self.database(identifier.catalog, identifier.database, at)
        except CatalogError as problem:
            with_schema = f"{identifier.database}.{identifier.name}"
            current = identifier.catalog == self.current_catalog
            if not current or with_schema not in self.relation_names():
                raise
            hint = f"write `{with_schema}` in backticks: the schema is part of the table's name"
            raise CatalogError(problem.message, at=at, hint=hint) from None

    def _elsewhere(self, name: str) -> str | None:
        """Where else a table with that name exists."""
        for catalog, held in self.catalogs.items():
            if isinstance(held.databases, Foreign):
                continue
            for database, objects in held.databases.items():
                if name in objects.relations:
                    return f"did you mean `{catalog}.{database}.{name}`?"
        return None

    def relation_names(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """The tables and views of a database, by default the current one; sorted."""
        path = (catalog or self.current_catalog, database or self.current_database)
        permanent = self.database(*path).relations
        temporary = (i.name for i in self.temporary if (i.catalog, i.database) == path)
        return sorted({*permanent, *temporary})

    def relations(self, catalog: str | None = None, database: str | None = None) -> list[Relation]:
        """The relations whose names `relation_names` returns."""
        path = (catalog or self.current_catalog, database or self.current_database)
        return [self.relation(Name((*path, name))) for name in self.relation_names(*path)]

    def put(self, relation: Relation) -> None:
        """Add a table or view, replacing one with the same name."""
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

    def rename(self, old: Relation, new: Relation) -> None:
        """Call a table or view by another name."""
        held = self.database(*old.identifier.path).relations
        if isinstance(held, Foreign) and not old.temporary:
            held.rename(old.name, new.name, new)
        else:
            self.remove(old)
            self.put(new)

    def keeps(self, identifier: Identifier) -> bool:
        """Whether what it names is in a catalog outside of this process, and not temporary."""
        catalog = self.catalogs.get(identifier.catalog)
        is_foreign = catalog is not None and isinstance(catalog.databases, Foreign)
        return is_foreign and identifier not in self.temporary

    def makes(self, identifier: Identifier) -> bool:
        """Whether a table is to be made in such a catalog by what is only planned here."""
        databases = self.catalogs[identifier.catalog].databases
        if identifier in self.temporary or not isinstance(databases, Rehearsed):
            return False
        if identifier.database in databases.made:
            return True
        database = databases.get(identifier.database)
        held = None if database is None else database.relations
        return isinstance(held, Rehearsed) and identifier.name in held.made

    def completed(self, table: Table) -> Table:
        """The table with what its catalog knows of it; the catalog may refuse it."""
        catalog = self.catalogs.get(table.identifier.catalog)
        if catalog is None or catalog.completed is None or table.temporary:
            return table
        return catalog.completed(table)

    # --- functions (names fold case) -----------------------------------------------------------

    def function(self, name: Name) -> UserFunction | None:
        """The function that a call with that name refers to: a system, then temporary, then
        permanent one.
        """
        kinds = [(True, False), (False, False)]
        if len(name.parts) == 1:
            kinds.insert(0, (True, True))
        slots = (self._slot(name, temporary, system) for temporary, system in kinds)
        return next((held[key] for held, key in slots if key in held), None)

    def has_function(self, name: Name, like: UserFunction) -> bool:
        """Whether a function of this name and kind already exists."""
        held, key = self._slot(name, like.temporary, like.system)
        return key in held

    def put_function(self, name: Name, function: UserFunction) -> None:
        """Add a function, replacing one with the same name and kind."""
        held, key = self._slot(name, function.temporary, function.system)
        if not function.temporary:
            self.database(key.catalog, key.database, name.span)
        held[key] = function

    def function_to_drop(self, name: Name, temporary: bool) -> UserFunction | None:
        """The function that DROP [TEMPORARY] FUNCTION refers to."""
        if temporary:
            found = self.function(name)
            return found if found is not None and found.temporary else None
        held, key = self._slot(name, False, False)
        return held.get(key)

    def remove_function(self, name: Name, function: UserFunction) -> None:
        held, key = self._slot(name, function.temporary, function.system)
        del held[key]

    def function_names(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """The user's functions that need no qualification in a database, as they were written."""
        path = (catalog or self.current_catalog, database or self.current_database)
        here = [
            function.name
            for held in (self.functions, self.temporary_functions)
            for key, function in held.items()
            if (key.catalog, key.database) == path
        ]
        return sorted({*here, *(f.name for f in self.system_functions.values())})

    def all_functions(self) -> list[UserFunction]:
        """Every function that the user has declared, wherever it can be called."""
        held = (self.functions, self.temporary_functions, self.system_functions)
        return [function for functions in held for function in functions.values()]

    def drop_database(self, catalog: str, name: str) -> None:
        """Remove a database and everything in it; temporary objects stay, as in Flink."""
        del self.catalogs[catalog].databases[name]
        for key in [k for k in self.functions if (k.catalog, k.database) == (catalog, name)]:
            del self.functions[key]

    def drop_catalog(self, name: str) -> None:
        if not isinstance(self.catalogs[name].databases, Foreign):
            for database in list(self.catalogs[name].databases):
                self.drop_database(name, database)
        del self.catalogs[name]

    def _slot(
        self, name: Name, temporary: bool, system: bool
    ) -> tuple[dict[Identifier, UserFunction], Identifier]:
        """Where a function of that kind is stored, and under what key."""
        folded = name.parts[-1].lower()
        if system:
            return self.system_functions, Identifier("", "", folded)
        key = replace(self.identify(name), name=folded)
        return (self.temporary_functions if temporary else self.functions), key
