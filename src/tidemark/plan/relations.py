"""What stands in FROM: tables, views, WITH names, sub-queries, VALUES, UNNEST."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark import types as t
from tidemark.catalog.tables import Table, View
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import NOWHERE, Name, Option
from tidemark.errors import NotSupported, PlanError, SqlError
from tidemark.plan import queries
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Column, Edge, Node, Unnest, Values
from tidemark.plan.scope import Scope
from tidemark.plan.tables import bind_table


@dataclass(frozen=True, slots=True)
class Relation:
    """A plan and the names its columns may be called by."""

    node: Node
    scope: Scope


ONE_EMPTY_ROW = Relation(Values(((),), Edge(())), Scope())


def bind_from(select: exp.Select, context: Context) -> Relation:
    """The rows that WHERE and SELECT see."""
    start = select.args.get("from_")
    if start is None:
        return ONE_EMPTY_ROW
    relation = bind_relation(start.this, context)
    for join in select.args.get("joins") or ():
        relation = _cross_unnest(relation, join, context)
    return relation


def bind_relation(node: exp.Expression, context: Context) -> Relation:
    match node:
        case exp.Table():
            bound, name = _bind_name(node, context)
            return _aliased(bound, node, name)
        case exp.Subquery():
            return _aliased(queries.bind_query(node.this, context), node, None)
        case exp.Unnest():
            return _unnest(ONE_EMPTY_ROW, node, False, context)
    raise NotSupported("this cannot stand in FROM yet", at=span_of(node))


# --- names -------------------------------------------------------------------------------------


def _bind_name(node: exp.Table, context: Context) -> tuple[Node, str]:
    parts = tuple(p.name for p in (node.args.get("catalog"), node.args.get("db"), node.this) if p)
    if len(parts) == 1 and parts[0] in context.common:
        return _bind_common(parts[0], context), parts[0]
    relation = context.catalogs.relation(Name(parts, span_of(node) or NOWHERE))
    if isinstance(relation, View):
        return _bind_view(relation, context, node), relation.name
    return bind_table(_with_hints(relation, node), context), relation.name


def _bind_common(name: str, context: Context) -> Node:
    common = context.common[name]
    bound = queries.bind_query(common.query, replace(context, common=common.seen))
    return _renamed(bound, common.columns, common.query)


def _bind_view(view: View, context: Context, node: exp.Table) -> Node:
    name = str(view.identifier)
    if name in context.views:
        raise PlanError(f"view `{view.name}` uses itself", at=span_of(node))
    try:
        bound = queries.bind_query(view.query, context.inside_view(name))
        return _renamed(bound, view.columns, view.query)
    except SqlError as error:
        raise (error.located_in(view.source) if view.source else error) from None


def _with_hints(table: Table, node: exp.Table) -> Table:
    """`/*+ OPTIONS('k' = 'v') */` behind the name goes before the table's own options."""
    given: list[Option] = []
    for hint in node.args.get("hints") or ():
        if hint.name != "OPTIONS":
            continue
        for option in hint.expressions:
            if not isinstance(option, nodes.HintOption):
                raise PlanError("OPTIONS takes 'key' = 'value' pairs", at=span_of(hint))
            given.append(Option(option.name, option.args["value"], NOWHERE))
    return with_options(table, tuple(given))


def with_options(table: Table, given: tuple[Option, ...]) -> Table:
    changed = {option.key for option in given}
    kept = tuple(option for option in table.options if option.key not in changed)
    return replace(table, options=(*kept, *given)) if given else table


# --- aliases -----------------------------------------------------------------------------------


def _aliased(bound: Node, node: exp.Expression, name: str | None) -> Relation:
    alias = node.args.get("alias")
    if alias is None:
        return Relation(bound, Scope.of(bound.edge, name))
    columns = tuple(column.name for column in alias.args.get("columns") or ())
    renamed = _renamed(bound, columns, node)
    return Relation(renamed, Scope.of(renamed.edge, alias.name or name))


def _renamed(bound: Node, names: tuple[str, ...], node: exp.Expression) -> Node:
    """The same rows under other column names, if any are given."""
    if not names:
        return bound
    columns = bound.edge.columns
    if len(names) != len(columns):
        raise PlanError(
            f"{len(names)} column names are given for {len(columns)} columns",
            at=span_of(node),
            notes={"columns": ", ".join(bound.edge.names)},
        )
    scope = Scope.of(bound.edge)
    expressions = tuple(scope.ref(index) for index in range(len(columns)))
    return queries.project(bound, expressions, names)


# --- UNNEST ------------------------------------------------------------------------------------


def _cross_unnest(left: Relation, join: exp.Join, context: Context) -> Relation:
    assert isinstance(join.this, exp.Unnest)
    condition = join.args.get("on")
    if condition is not None and not (isinstance(condition, exp.Boolean) and condition.this):
        raise NotSupported("a join condition with UNNEST other than TRUE", at=span_of(condition))
    side = join.args.get("side") or ""
    if side not in ("", "LEFT"):
        raise PlanError(f"{side} JOIN UNNEST has no rows of its own to keep", at=span_of(join))
    return _unnest(left, join.this, side == "LEFT", context)


def _unnest(left: Relation, node: exp.Unnest, outer: bool, context: Context) -> Relation:
    if len(node.expressions) != 1:
        raise PlanError("UNNEST takes one collection", at=span_of(node))
    collection = context.binder(left.scope).bind(node.expressions[0])
    ordinality = bool(node.args.get("ordinality"))
    elements = _element_columns(collection, node, ordinality)
    if outer:
        elements = [replace(c, type=c.type.with_nullable(True)) for c in elements]
    alias = node.args.get("alias")
    named = [c.name for c in (alias.args.get("columns") or ())] if alias is not None else []
    if named and len(named) != len(elements):
        raise PlanError(
            f"{len(named)} column names are given for {len(elements)} columns", at=span_of(node)
        )
    added = tuple(
        replace(c, name=n) for c, n in zip(elements, named or _names(elements), strict=True)
    )
    below = left.node.edge
    edge = Edge((*below.columns, *added), below.changelog, (), below.bounded)
    scope = left.scope + Scope.of(Edge(added), alias.name if alias is not None else None)
    return Relation(Unnest(left.node, collection, edge, outer, ordinality), scope)


def _names(columns: list[Column]) -> list[str]:
    return [column.name for column in columns]


def _element_columns(collection: Expression, node: exp.Unnest, ordinality: bool) -> list[Column]:
    columns = []
    match collection.type:
        case t.Array(element=t.Row() as row) | t.Multiset(element=t.Row() as row):
            columns = [
                Column(f.name, f.type.with_nullable(f.type.nullable or row.nullable))
                for f in row.fields
            ]
        case t.Array(element=element) | t.Multiset(element=element):
            columns = [Column("EXPR$0", element)]
        case t.Map(key=key, value=value):
            columns = [Column("KEY", key), Column("VALUE", value)]
        case other:
            raise PlanError(
                f"UNNEST takes an ARRAY, MAP or MULTISET, not {other.text()}", at=span_of(node)
            )
    if ordinality:
        columns.append(Column("ORDINALITY", t.Int(nullable=False)))
    return columns
