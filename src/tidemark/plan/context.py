"""What is known while a query is being planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import AS_NEEDED, Materializing
from tidemark.catalog.tables import Identifier, Table, TableTraits, Use, View
from tidemark.plan.joins.outer import Padding
from tidemark.plan.nodes import Node
from tidemark.plan.order_clauses import without_order
from tidemark.plan.relation import Relation, renamed
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scope import Scope
from tidemark.plan.state_ttls import NO_STATE_TTLS, StateTtls
from tidemark.plan.subqueries.conditions import SubqueryCondition
from tidemark.plan.windows.emit import EmitRules


@dataclass(frozen=True, slots=True)
class Recursion:
    """Binds the queries and relations inside another; passed in, so that the modules for parts
    of a query do not depend on the whole.
    """

    query: Callable[[exp.Expression, Context], Node]
    relation: Callable[[exp.Expression, Context], Relation]
    from_clause: Callable[[exp.Select, Context], tuple[Relation, exp.Expression | None]]
    condition: Callable[[Relation, SubqueryCondition, Context], Relation]


@dataclass(frozen=True, slots=True)
class Context:
    """The catalog, the traits of tables, and the WITH names in scope."""

    catalogs: Catalogs
    traits: Callable[[Table, Use], TableTraits]
    within: Recursion
    common: Mapping[str, Node] = field(default_factory=dict)
    written: tuple[exp.Expression, ...] = ()  # what WITH says about them, outermost first
    views: tuple[Identifier, ...] = ()  # views being expanded, outermost first
    batch: bool = False  # whether all rows are there, so that groups only emit their last result
    writes: bool = True  # whether sinks will be written to, and must support the changes
    drops_nulls: bool = False  # what happens to a NULL in a NOT NULL column
    checks_fields: bool = False  # whether NOT NULL is checked of the fields of rows
    materializing: Materializing = AS_NEEDED  # when sinks get upserts by their key
    cdc_duplicates: bool = False  # whether changelogs may deliver changes more than once
    padding: Padding = field(default_factory=Padding)  # which joins stay outer
    interval_slack: str | None = None  # how much longer interval joins keep rows
    interval_drops_late: bool = False  # whether inner ones drop late rows
    temporal_drops_late: bool = False  # whether temporal joins drop late left rows
    state_ttl_ms: int = 0  # how long idle state is kept unless something else says so
    load_idle_ms: int | None = None  # after how much silence a processing-time join has loaded
    hints: tuple[exp.Expression, ...] = ()  # those of the SELECT that is being planned
    state_ttls: StateTtls = NO_STATE_TTLS  # what they say about state
    looks_up: bool = False  # whether a table is read by lookups
    warnings: list[str] = field(default_factory=list)
    # When windows emit results; called if there is one.
    emit: Callable[[], EmitRules] = EmitRules
    # The plans of the other INSERTs of the statement set; called if late rows are read.
    others: Callable[[], tuple[Node, ...]] = tuple

    def binder(self, scope: Scope) -> Binder:
        return Binder(scope, self.catalogs)

    def bind_query(self, query: exp.Expression) -> Node:
        """The plan of a query inside this one."""
        return self.within.query(without_order(query), self)

    def bind_relation(self, relation: exp.Expression) -> Relation:
        """The plan of what is in FROM or on the right of a join."""
        return self.within.relation(relation, self)

    def bind_from(self, select: exp.Select) -> tuple[Relation, exp.Expression | None]:
        """The rows of FROM, and the part of WHERE that its joins do not meet."""
        return self.within.from_clause(select, self)

    def bind_condition(self, left: Relation, condition: SubqueryCondition) -> Relation:
        """The rows for which a condition on a subquery holds."""
        return self.within.condition(left, condition, self)

    def naming(self, name: str, query: Node) -> Context:
        """The scope after `WITH name AS (query)`; an earlier such name is hidden."""
        return replace(self, common={**self.common, name: query})

    def with_names(self, query: exp.Expression) -> Context:
        """The scope of a query after its WITH."""
        context, with_ = self, query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            context = context._with_name(cte)
        return context

    def _with_name(self, cte: exp.Expression) -> Context:
        alias = cte.args["alias"]
        bound = renamed(self.bind_query(cte.this), alias.args.get("columns") or (), cte)
        return replace(self.naming(alias.name, bound), written=(*self.written, cte))

    def as_stream(self) -> Context:
        """The same scope, in which queries emit all of their changes, in a batch too."""
        if not self.batch:
            return self
        names = {cte.args["alias"].name for cte in self.written}
        others = {name: rows for name, rows in self.common.items() if name not in names}
        context = replace(self, batch=False, common=others, written=())
        for cte in self.written:
            context = context._with_name(cte)
        return context

    def inside(self, view: View) -> Context:
        """A view sees the names at its definition, but no WITH names around its use."""
        catalogs = self.catalogs.seen_from(view.path) if view.path else self.catalogs
        views = (*self.views, view.identifier)
        return replace(self, catalogs=catalogs, common={}, written=(), views=views)

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
