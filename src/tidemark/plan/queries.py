"""Queries: WITH, SELECT, set operations and VALUES become plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan import qualify, relations
from tidemark.plan.aggregates import select as aggregates
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.bind import ranks
from tidemark.plan.bind.subqueries import bind_condition
from tidemark.plan.bind.subquery_values import with_values
from tidemark.plan.conjunctions import conjuncts
from tidemark.plan.context import Context
from tidemark.plan.hints import check_hints_of_select
from tidemark.plan.joins.lookup_hints import check_lookups
from tidemark.plan.nodes import Column, Filter, Node, Values, project
from tidemark.plan.order_clauses import is_ordered
from tidemark.plan.ordering import bind_ordered
from tidemark.plan.over import above_groups, bind_over, has_over
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.conversions import common_type, convert
from tidemark.plan.scope import Scope
from tidemark.plan.select_list import project_select
from tidemark.plan.set_operations import bind_set_operation
from tidemark.plan.state_ttls import StateTtls
from tidemark.plan.subqueries.conditions import take_conditions
from tidemark.plan.subqueries.values import has_values


def bind_query(node: exp.Expression, context: Context) -> Node:
    """The plan of a query. Its edge has the query's columns."""
    context = context.with_names(node)
    match node:
        case exp.Expression() if is_ordered(node):
            return bind_ordered(node, context, bind_query)
        case exp.Select() if node.args.get("qualify") is not None:
            return _bind_qualified(node, context)
        case exp.Select():
            return _bind_select(node, context)
        case exp.SetOperation():
            return bind_set_operation(node, context)
        case exp.Values():
            return _bind_values(node, context)
        case exp.Subquery():
            return bind_query(node.this, context)
    raise AssertionError(node)


def bind_result(node: exp.Expression, context: Context) -> Node:
    """The plan of a query whose columns others refer to: they have distinct names.

    A name that comes again gets a number, as in Flink: `a`, `a0`, `a1`.
    """
    bound = bind_query(node, context)
    refs = [Scope.of(bound.edge).ref(index) for index in range(len(bound.edge.columns))]
    return project(bound, refs, _distinct_names(bound.edge.names))


# --- SELECT ------------------------------------------------------------------------------------


def _bind_select(select: exp.Select, context: Context) -> Node:
    check_hints_of_select(select)
    check_lookups(select)
    hints = tuple(select.args.get("hints") or ())
    ttls = StateTtls.of(hints)
    context = replace(context, hints=hints, state_ttls=ttls, looks_up=False)
    rows = _selected(select, context)
    for name in ttls.without_effect:
        context.warn(
            f"STATE_TTL of `{name}` has no effect: it is for the sides of regular joins in FROM, "
            "and for GROUP BY and DISTINCT over one table (same in Flink)"
        )
    return rows


def _selected(select: exp.Select, context: Context) -> Node:
    if has_over(select) and is_grouped(select, context.catalogs):
        select = above_groups(select)
    select, conditions = take_conditions(select)
    numbered = ranks.find(select, context.catalogs)
    if numbered is not None:
        relation, condition = ranks.bind(numbered, context), numbered.rest
    else:
        relation, condition = relations.bind_from(select, context)
    if condition is not None and not has_values(condition):
        relation, condition = _filtered(relation, condition, context), None
    for one in conditions:
        relation = bind_condition(relation, one, context)
    if condition is not None:
        relation, [condition] = with_values(relation, [condition], context, tests=True)
        relation = _filtered(relation, condition, context)
    grouped = is_grouped(select, context.catalogs)
    if grouped:
        rows = aggregates.bind_grouped(select, relation, context)
    else:
        rows = _projected(select, relation, context)
    if select.args.get("distinct") is None:
        return rows
    ttl = None if grouped else context.state_ttls.of_table(relation.scope)
    return distinct(rows, at_end=context.batch, hinted_ms=ttl)


def _bind_qualified(select: exp.Select, context: Context) -> Node:
    rows = bind_query(qualify.around(select), context)
    names = rows.edge.names
    shown = [place for place, name in enumerate(names) if not name.startswith(qualify.HIDDEN)]
    return project(rows, [rows.edge.ref(place) for place in shown], [names[i] for i in shown])


def _filtered(relation: Relation, condition: exp.Expression, context: Context) -> Relation:
    bound = context.binder(relation.scope).condition(condition, "WHERE")
    rows = context.padding.without(relation.node, tuple(conjuncts(bound)))
    return replace(relation, node=Filter(rows, bound))


def _projected(select: exp.Select, relation: Relation, context: Context) -> Node:
    relation, items = with_values(relation, select.expressions, context)
    select = select.copy()
    select.set("expressions", items)
    bind = bind_over if has_over(select) else project_select
    return bind(select, relation, context)


def _distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        chosen, number = name, 0
        while chosen in seen or (chosen != name and chosen in taken):
            chosen, number = f"{name}{number}", number + 1
        seen.add(chosen)
        result.append(chosen)
    return tuple(result)


# --- VALUES ------------------------------------------------------------------------------------


def _bind_values(node: exp.Values, context: Context) -> Node:
    binder = context.binder(Scope())
    rows = [binder.bind_all(row.expressions) for row in node.expressions]
    for written, row in zip(node.expressions, rows, strict=True):
        if len(row) != len(rows[0]):
            raise PlanError(
                f"this row has {len(row)} values, but the first row has {len(rows[0])}",
                at=span_of(written),
            )
    types = [
        common_type(values, "the values of a column", node) for values in zip(*rows, strict=True)
    ]
    converted = tuple(
        tuple(convert(value, type_) for value, type_ in zip(row, types, strict=True))
        for row in rows
    )
    columns = tuple(Column(f"EXPR${i}", type_) for i, type_ in enumerate(types))
    return Values(converted, columns)
