"""COMPILE PLAN and EXECUTE PLAN: what a statement needs from the catalog, and how it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.definitions import create_table, create_view
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.tables import (
    Identifier,
    Relation,
    Table,
    TemporalFunction,
    UserFunction,
    View,
)
from tidemark.dialect import parse_script, to_sql
from tidemark.dialect import statements as s
from tidemark.dialect.table_names import table_names
from tidemark.errors import CatalogError, Span
from tidemark.plan import late_rows
from tidemark.session.plan_files import StoredObject, StoredPlan


def stored(statement: s.CompilePlan, catalogs: Catalogs, options: SessionOptions) -> StoredPlan:
    """The statement with everything that it needs. It must be valid."""
    needed = _Needed(catalogs, statement.span)
    needed.add(statement.statement, catalogs)
    text = to_sql(statement.statement)
    words = {word.lower() for sql in (text, *needed.texts()) for word in re.findall(r"\w+", sql)}
    temporal = [f for name, f in catalogs.temporal_functions.items() if name in words]
    for function in temporal:
        needed.add_relation(catalogs.relation(s.Name((function.table,))))
    needed.add_functions(words)
    return StoredPlan(
        text,
        catalogs.path,
        tuple(needed.objects()),
        tuple(asdict(function) for function in temporal),
        options.deciding(),
    )


@dataclass
class _Needed:
    """Objects of the catalog, those first that others need."""

    catalogs: Catalogs
    at: Span
    found: dict[Identifier, Relation] = field(default_factory=dict)
    functions: list[s.CreateFunction] = field(default_factory=list)

    def add(self, statement: s.Statement, catalogs: Catalogs) -> None:
        for name in table_names(statement):
            self.add_relation(late_rows.relation_of(name, catalogs) or catalogs.relation(name))

    def add_relation(self, relation: Relation) -> None:
        if relation.identifier in self.found:
            return
        if isinstance(relation, View):
            path = relation.path or self.catalogs.path
            self.add(s.Query(relation.query), self.catalogs.seen_from(path))
        elif relation.dataframe is not None:
            raise CatalogError(
                f"a plan cannot contain table `{relation.name}`, which is a DataFrame",
                at=self.at,
                hint="create the table with a connector",
            )
        self.found[relation.identifier] = relation

    def add_functions(self, words: set[str]) -> None:
        """Functions that are mentioned, of which only the names of their code can be stored."""
        catalogs = self.catalogs
        for held in (catalogs.functions, catalogs.temporary_functions, catalogs.system_functions):
            for key, function in held.items():
                if key.name in words:
                    self.functions.append(self._created(key, function))

    def _created(self, key: Identifier, function: UserFunction) -> s.CreateFunction:
        if function.identifier is None:
            raise CatalogError(
                f"a plan cannot contain function `{function.name}`, which exists only in this "
                "session",
                at=self.at,
                hint=f"CREATE FUNCTION {function.name} AS 'module.function' LANGUAGE PYTHON",
            )
        parts = (function.name,) if function.system else (*key.path, function.name)
        temporary = function.temporary and not function.system
        return s.CreateFunction(
            s.Name(parts),
            function.identifier,
            "PYTHON",
            temporary or function.system,
            function.system,
        )

    def texts(self) -> list[str]:
        return [created.statement for created in self._relations()]

    def objects(self) -> Iterator[StoredObject]:
        relations = list(self._relations())
        paths = {o.path for o in relations} | {self.catalogs.path}
        paths |= {identifier.path for identifier in self.found}
        yield from _places(paths)
        for function in self.functions:
            yield StoredObject(self.catalogs.path, to_sql(function))
        yield from relations

    def _relations(self) -> Iterator[StoredObject]:
        for relation in self.found.values():
            if isinstance(relation, Table):
                yield StoredObject(relation.identifier.path, to_sql(create_table(relation)))
            else:
                path = relation.path or self.catalogs.path
                yield StoredObject(path, to_sql(create_view(relation)))


def _places(paths: set[tuple[str, str]]) -> Iterator[StoredObject]:
    """Catalogs and databases."""
    start = Catalogs().path
    for catalog in sorted({catalog for catalog, _ in paths} - {start[0]}):
        options = (s.Option("type", "generic_in_memory"),)
        created = s.CreateCatalog(s.Name((catalog,)), None, options, if_not_exists=True)
        yield StoredObject(start, to_sql(created))
    for path in sorted(paths - {start}):
        yield StoredObject(start, to_sql(s.CreateDatabase(s.Name(path), if_not_exists=True)))


# --- back again --------------------------------------------------------------------------------


def statement_of(plan: StoredPlan, name: str) -> tuple[s.Insert | s.StatementSet, s.Script]:
    script = parse_script(plan.statement, name)
    [statement] = script.statements
    assert isinstance(statement, s.Insert | s.StatementSet)
    return statement, script


def definitions_of(plan: StoredPlan, name: str) -> Iterator[tuple[tuple[str, str], s.Script]]:
    """What creates the objects of a plan, each with the path that must be current."""
    for created in plan.objects:
        yield created.path, parse_script(created.statement, name)


def temporal_functions_of(plan: StoredPlan) -> Iterator[TemporalFunction]:
    for values in plan.temporal_functions:
        function = TemporalFunction(**values)
        yield replace(function, primary_key=tuple(function.primary_key))
