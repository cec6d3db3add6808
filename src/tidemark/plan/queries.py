"""Queries: WITH, SELECT, UNION ALL and VALUES become plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan import qualify, relations, unsupported
from tidemark.plan.aggregates import select as aggregates
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.bind import ranks
from tidemark.plan.bind.joins import bind_subquery
from tidemark.plan.context import Context
from tidemark.plan.features import refuse_what_cannot_run
from tidemark.plan.joins.subqueries import take_subqueries
from tidemark.plan.nodes import Column, Filter, Node, UnionAll, Values, project
from tidemark.plan.nodes.union_all import merged
from tidemark.plan.order_clauses import is_ordered
from tidemark.plan.ordering import bind_ordered
from tidemark.plan.over import above_groups, bind_over, has_over
from tidemark.plan.relation import renamed
from tidemark.plan.scalars.conversions import common_type, convert
from tidemark.plan.scope import Scope
from tidemark.plan.select_list import project_select


def bind_query(node: exp.Expression, context: Context) -> Node:
    """The plan of a query. Its edge has the query's columns."""
    context = _with_names(node, context)
    match node:
        case exp.Expression() if is_ordered(node):
            return bind_ordered(node, context, bind_query)
        case exp.Select() if node.args.get("qualify") is not None:
            return _bind_qualified(node, context)
        case exp.Select():
            return _bind_select(node, context)
        case exp.Union():
            return _bind_union(node, context)
        case exp.Values():
            return _bind_values(node, context)
        case exp.Subquery():
            return bind_query(node.this, context)
        case _:
            name = type(node).__name__.upper()
            raise unsupported.SET_OPERATION.error(span_of(node), name)


def bind_result(node: exp.Expression, context: Context) -> Node:
    """The plan of a query whose columns others refer to: they have distinct names.

    A name that comes again gets a number, as in Flink: `a`, `a0`, `a1`.
    """
    bound = bind_query(node, context)
    refs = [Scope.of(bound.edge).ref(index) for index in range(len(bound.edge.columns))]
    return project(bound, refs, _distinct_names(bound.edge.names))


def _with_names(node: exp.Expression, context: Context) -> Context:
    with_ = node.args.get("with_")
    if with_ is None:
        return context
    for cte in with_.expressions:
        alias = cte.args["alias"]
        columns = alias.args.get("columns") or ()
        bound = renamed(context.bind_query(cte.this), columns, cte)
        context = context.naming(alias.name, bound)
    return context


# --- SELECT ------------------------------------------------------------------------------------


def _bind_select(select: exp.Select, context: Context) -> Node:
    relations.check_hints(select.args.get("hints") or ())
    select, subqueries = take_subqueries(select)
    if has_over(select) and aggregates.is_grouped(select, context.catalogs):
        select = above_groups(select)
    refuse_what_cannot_run(select)
    numbered = ranks.find(select, context.catalogs)
    if numbered is not None:
        relation, condition = ranks.bind(numbered, context), numbered.rest
    else:
        relation, condition = relations.bind_from(select, context)
    for subquery in subqueries:
        relation = bind_subquery(relation, subquery, context)
    if condition is not None:
        bound = context.binder(relation.scope).condition(condition, "WHERE")
        relation = replace(relation, node=Filter(relation.node, bound))
    if aggregates.is_grouped(select, context.catalogs):
        rows = aggregates.bind_grouped(select, relation, context)
    elif has_over(select):
        rows = bind_over(select, relation, context)
    else:
        rows = project_select(select, relation, context)
    if select.args.get("distinct") is None:
        return rows
    return distinct(rows, at_end=context.batch)


def _bind_qualified(select: exp.Select, context: Context) -> Node:
    rows = bind_query(qualify.around(select), context)
    names = rows.edge.names
    shown = [place for place, name in enumerate(names) if not name.startswith(qualify.HIDDEN)]
    return project(rows, [rows.edge.ref(place) for place in shown], [names[i] for i in shown])


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


# --- UNION ALL and VALUES ----------------------------------------------------------------------


def _bind_union(node: exp.Union, context: Context) -> Node:
    """A chain of UNION ALL is one node; all its branches share their types."""
    branches = _branches(node)
    united = _united(branches, context)
    return distinct(united, at_end=context.batch) if node.args.get("distinct") else united


def _united(branches: list[exp.Expression], context: Context) -> Node:
    bound = [context.bind_query(branch) for branch in branches]
    columns = bound[0].edge.columns
    for branch, written in zip(bound[1:], branches[1:], strict=True):
        columns = _merged_columns(columns, branch.edge.columns, written)
    types = tuple(column.type for column in columns)
    flat: list[Node] = []
    for side in bound:
        adapted = _as_types(side, types)
        flat.extend(adapted.branches if isinstance(adapted, UnionAll) else (adapted,))
    return UnionAll(tuple(flat))


def _branches(node: exp.Union) -> list[exp.Expression]:
    """The operands from left to right. A UNION to the left of a UNION ALL is one of them."""
    first = node.this
    chained = isinstance(first, exp.Union) and first.args.get("with_") is None
    chained = chained and not is_ordered(first)
    chained = chained and bool(node.args.get("distinct") or not first.args.get("distinct"))
    return [*(_branches(first) if chained else [first]), node.expression]


def _merged_columns(
    left: tuple[Column, ...], right: tuple[Column, ...], written: exp.Expression
) -> tuple[Column, ...]:
    if len(left) != len(right):
        raise PlanError(
            f"UNION ALL requires the same number of columns, found {len(left)} and {len(right)}",
            at=span_of(written),
            notes={
                "left": ", ".join(column.name for column in left),
                "right": ", ".join(column.name for column in right),
            },
        )
    return tuple(_merged_column(a, b, written) for a, b in zip(left, right, strict=True))


def _merged_column(left: Column, right: Column, written: exp.Expression) -> Column:
    if t.common_type([left.type, right.type]) is None:
        raise PlanError(
            f"UNION ALL: column `{left.name}` is {left.type.text()} on the left and "
            f"{right.type.text()} on the right",
            at=span_of(written),
        )
    return merged(left, right)


def _as_types(node: Node, types: tuple[t.DataType, ...]) -> Node:
    if all(a.same_as(b) for a, b in zip(node.edge.types, types, strict=True)):
        return node
    scope = Scope.of(node.edge)
    expressions = [convert(scope.ref(index), type_) for index, type_ in enumerate(types)]
    return project(node, expressions, node.edge.names)


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
