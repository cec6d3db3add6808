"""The relations of FROM: tables, views, WITH names, subqueries, VALUES, UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemark.catalog.tables import Table, View
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import NOWHERE, Name
from tidemark.errors import PlanError, Span, SqlError
from tidemark.plan import late_rows, unsupported
from tidemark.plan.bind.changelogs import bind_changelog_function, is_changelog_function
from tidemark.plan.bind.collections import bind_collection, is_collection, join_collection
from tidemark.plan.bind.joins import bind_join
from tidemark.plan.bind.lateral import bind_lateral, is_lateral
from tidemark.plan.bind.on_subqueries import bind_join_with_subqueries, has_subqueries
from tidemark.plan.context import Context
from tidemark.plan.features import refuse_relation
from tidemark.plan.hints import check_hints, options_of, refuse_options, with_options
from tidemark.plan.joins import snapshot
from tidemark.plan.matches.bind import bind_match_recognize
from tidemark.plan.nodes import Node
from tidemark.plan.relation import (
    ONE_EMPTY_ROW,
    Relation,
    aliased,
    check_distinct,
    renamed_to,
)
from tidemark.plan.scalars.conditions import without
from tidemark.plan.tables import bind_table
from tidemark.plan.time_travel import refuse_time_travel, travelled
from tidemark.plan.windows import functions as window_functions


def bind_from(select: exp.Select, context: Context) -> tuple[Relation, exp.Expression | None]:
    """The rows that WHERE and SELECT see, and the part of WHERE that the joins do not meet."""
    start, where = select.args.get("from_"), select.args.get("where")
    condition = where.this if where is not None else None
    joins = select.args.get("joins") or []
    if start is None:
        return ONE_EMPTY_ROW, condition
    relation = _joined(start.this, joins, condition, context)
    return relation, None if condition is None else without(condition, relation.met)


def _joined(
    first: exp.Expression,
    joins: Sequence[exp.Join],
    where: exp.Expression | None,
    context: Context,
) -> Relation:
    """The rows of relations joined from left to right."""
    if isinstance(first, nodes.JoinGroup):
        return _joined(first.this, [*first.args["joins"], *joins], where, context)
    relation = bind_relation(first, context)
    met: list[exp.Expression] = []
    for join in joins:
        if snapshot.is_snapshot(join.this, context):
            relation = snapshot.bind_snapshot_join(relation, join, where, context)
        elif is_collection(join.this, context) and not _is_constant(join):
            relation = join_collection(relation, join, context)
        elif is_lateral(join.this):
            relation = bind_lateral(relation, join, context)
        elif has_subqueries(join):
            relation = bind_join_with_subqueries(relation, join, where, context)
        else:
            relation = bind_join(relation, join, where, context)
        met += relation.met
    return replace(relation, met=tuple(met))


def _is_constant(join: exp.Join) -> bool:
    """Whether a collection refers to no left row, which RIGHT and FULL JOIN do not allow."""
    return join.args.get("side") in ("RIGHT", "FULL") and join.this.find(exp.Column) is None


def bind_relation(node: exp.Expression, context: Context) -> Relation:
    refuse_relation(node)
    match node:
        case exp.Table():
            bound, name = _bind_name(node, context)
            return aliased(bound, node, name)
        case exp.Subquery():
            refuse_time_travel(node)
            return aliased(_named_values(context.bind_query(node.this), node), node, ())
        case exp.Lateral(this=exp.Subquery() as subquery):
            return aliased(context.bind_query(subquery.this), node, ())
        case nodes.JoinGroup():
            return _joined(node.this, node.args["joins"], None, context)
        case nodes.TableFunction() if window_functions.is_window_function(node):
            return window_functions.bind_window_function(node, context)
        case exp.Lateral() | nodes.TableFunction() if is_changelog_function(node, context):
            return bind_changelog_function(node, context)
        case exp.Lateral() | nodes.TableFunction() if snapshot.is_snapshot(node, context):
            raise snapshot.refuse_alone(node)
        case exp.Unnest() | exp.Lateral() | nodes.TableFunction():
            return bind_collection(ONE_EMPTY_ROW, node, False, context)
        case nodes.MatchRecognize():
            return bind_match_recognize(node, context)
    raise unsupported.RELATION.error(span_of(node))


def _named_values(bound: Node, node: exp.Subquery) -> Node:
    """The rows of `(VALUES (1), (2)) AS t`, whose only column is called `t`, too."""
    alias, query = node.args.get("alias"), node.this
    while isinstance(query, exp.Subquery) and query.args.get("alias") is None:
        query = query.this
    if alias is None or alias.args.get("columns") or not isinstance(query, exp.Values):
        return bound
    return renamed_to(bound, [alias.name], None) if len(bound.edge.columns) == 1 else bound


# --- names -------------------------------------------------------------------------------------


def _bind_name(node: exp.Table, context: Context) -> tuple[Node, tuple[str, ...]]:
    """The plan of a name, and the path that its columns may be qualified with."""
    written = [p for p in (node.args.get("catalog"), node.args.get("db"), node.this) if p]
    parts, at = tuple(part.name for part in written), _together(written)
    hints = node.args.get("hints") or ()
    check_hints(hints)
    if len(parts) == 1 and parts[0] in context.common:
        refuse_time_travel(node)
        refuse_options(hints, "a common table expression")
        return context.common[parts[0]], parts
    name = Name(parts, at or NOWHERE)
    parent = late_rows.relation_of(name, context.catalogs)
    if parent is not None:
        refuse_time_travel(node)
        refuse_options(hints, "a late-rows table")
        rows = _bind_relation(parent, context, at)
        path = (*parent.identifier.path, parts[-1])
        return late_rows.bind_late_rows(rows, parent.name, at, context.others()), path
    relation = context.catalogs.relation(name)
    path = (*relation.identifier.path, relation.name)
    if isinstance(relation, View):
        refuse_time_travel(node)
        refuse_options(hints, "a view")
        return bind_view(relation, context, at), path
    table = with_options(relation, options_of(hints))
    return bind_table(travelled(table, node, context), context), path


def _bind_relation(relation: Table | View, context: Context, at: Span | None) -> Node:
    if isinstance(relation, View):
        return bind_view(relation, context, at)
    return bind_table(relation, context)


def _together(parts: Sequence[exp.Expression]) -> Span | None:
    """The span from the first part to the last."""
    spans = [span for part in parts if (span := span_of(part)) is not None]
    return spans[0] | spans[-1] if spans else None


def bind_view(view: View, context: Context, at: Span | None = None) -> Node:
    """The rows of a view. Errors point into the SQL text that declared it."""
    if view.identifier in context.views:
        raise PlanError(f"view `{view.name}` refers to itself", at=at)
    try:
        bound = context.inside(view).bind_query(view.query)
        if view.columns:
            return renamed_to(bound, view.columns, span_of(view.query))
        check_distinct(bound.edge.names, span_of(view.query))
        return bound
    except SqlError as error:
        raise (error.located_in(view.source) if view.source else error) from None
