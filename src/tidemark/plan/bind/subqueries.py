"""Subqueries as conditions: the rows of a relation that have, or do not have, a row of them."""

from __future__ import annotations

from dataclasses import replace

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.bind.joins import classified
from tidemark.plan.bind.subquery_tests import compared
from tidemark.plan.bind.subquery_values import with_values
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.joins.bound import BoundJoin, Conjunct
from tidemark.plan.nodes import Filter, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import Scope
from tidemark.plan.subqueries.conditions import SubqueryCondition
from tidemark.plan.subqueries.rows import bind_rows
from tidemark.plan.subqueries.subquery_rows import SubqueryRows


def bind_condition(left: Relation, condition: SubqueryCondition, context: Context) -> Relation:
    """The rows of `left` for which a condition on a subquery holds."""
    rows = bind_rows(condition.query, left, context)
    if _asks_of_none(condition, rows):
        left, [test] = with_values(left, [condition.node], context, tests=True)
        holds = context.binder(left.scope).condition(test, "WHERE")
        return replace(left, node=Filter(left.node, holds))
    on = (*_compared(left, condition, rows, context), *rows.on)
    node = rows.node if on else one_row(rows.node, context)
    at = condition.node if span_of(condition.node) is not None else condition.query
    right = Relation(node, Scope.of(node.edge))
    return classified(BoundJoin(left, right, condition.how, on, (), at), context)


def _asks_of_none(condition: SubqueryCondition, rows: SubqueryRows) -> bool:
    """Whether what all rows become matters where there are none: an aggregation without GROUP BY
    has a row for every outer row, even if nothing belongs to it.
    """
    if not rows.is_total:
        return False
    if not condition.compared:
        return True
    return bool(rows.on) and (condition.how == "anti" or rows.of_none is not None)


def one_row(node: Node, context: Context) -> Node:
    """One row, if there are any: it is enough to know that."""
    only = project(node, [literals.boolean(True)], ["$some"])
    return distinct(only, at_end=context.batch)


def _compared(
    left: Relation, condition: SubqueryCondition, rows: SubqueryRows, context: Context
) -> list[Conjunct]:
    """What the outer values must be to the values that the subquery selects."""
    if not condition.compared:
        return []
    pairs = zip(compared(left, condition, rows, context), rows.values, strict=True)
    return [_comparison(mine, theirs, condition, left, context) for mine, theirs in pairs]


def _comparison(
    mine: Expression,
    theirs: Expression,
    condition: SubqueryCondition,
    left: Relation,
    context: Context,
) -> Conjunct:
    binder, width, node = context.binder(left.scope), len(left.scope.visible), condition.node
    at = node if span_of(node) is not None else condition.query
    if condition.operator == "=":
        equal = Conjunct.equality(mine, theirs, at, binder, width)
        if condition.how == "semi" or not (mine.type.nullable or theirs.type.nullable):
            return equal
        # A NULL on either side might be equal, so it excludes the row too.
        nulls = [binder.operator("IS NULL", [side], at) for side in (mine, theirs)]
        unknown = binder.operator("OR", nulls, at)
        return Conjunct(binder.operator("OR", [unknown, equal.bound], at), at)
    negated = condition.operator.startswith("NOT ")
    compared = binder.operator(condition.operator.removeprefix("NOT "), [mine, theirs], at)
    if not negated:
        return Conjunct(convert(compared, t.Boolean()), at)
    # A comparison with ALL fails for a row for which it is not true.
    true = binder.operator("IS TRUE", [compared], at)
    return Conjunct(binder.operator("NOT", [true], at), at)
