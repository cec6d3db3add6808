"""Subqueries in place of values: each row is joined with the one row that has the value.

As Flink does it: a scalar subquery is a left join with what it selects for the row, of which there
must not be more than one; EXISTS is a left join with the distinct keys of the subquery, IN with
its distinct values and their numbers, a comparison with ANY or ALL with its extreme values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemark import functions
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.functions.rewriting import SINGLE_VALUE
from tidemark.plan import unsupported
from tidemark.plan.bind.subquery_keys import Keyed, joined_with
from tidemark.plan.bind.subquery_tests import COUNT, compared, with_test
from tidemark.plan.context import Context
from tidemark.plan.expressions import Call, Case, Expression
from tidemark.plan.nodes import AggregateCall, GroupAggregate, How, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope
from tidemark.plan.subqueries.conditions import COMPARISONS, SubqueryCondition, condition_of
from tidemark.plan.subqueries.rows import bind_rows
from tidemark.plan.subqueries.subquery_rows import SubqueryRows
from tidemark.plan.subqueries.values import ValueSubquery, has_values, take_values


def with_values(
    relation: Relation,
    written: Sequence[exp.Expression],
    context: Context,
    *,
    tests: bool = False,
) -> tuple[Relation, list[exp.Expression]]:
    """The rows with columns for the subqueries in expressions over them, and the expressions with
    the numbers of these values, which the scope knows. Tests drop rows for which they are not true.
    """
    if not any(map(has_values, written)):
        return relation, list(written)
    relation = _with_some_column(relation)
    values = relation.scope.values
    plain, found = take_values(written, len(values), tests=tests)
    for one in found:
        relation, value = _with_value(relation, one, context)
        values = (*values, value)
        relation = replace(relation, scope=Scope(relation.scope.visible, values))
    return relation, plain


def _with_some_column(relation: Relation) -> Relation:
    """The rows, with a column that no name means if they have none: without FROM. A join needs one
    of each side.
    """
    if relation.node.edge.columns:
        return relation
    node = project(relation.node, [literals.boolean(True)], ["$row"])
    return Relation(node, Scope.hidden(node.edge))


def _with_value(
    left: Relation, found: ValueSubquery, context: Context
) -> tuple[Relation, Expression]:
    if isinstance(found.node, exp.Any | exp.All):
        raise unsupported.SUBQUERY.error(span_of(found.node))
    test = condition_of(found.node)
    if test is None:
        rows = bind_rows(found.node, left, context, by_key=True)
        return _scalar(left, rows, found.node, context, filters=found.filters)
    rows = bind_rows(test.query, left, context, by_key=True)
    if rows.is_total and (rows.on or not test.compared):
        return _of_total(left, rows, test, context)
    return with_test(left, rows, test, context, only_true=found.only_true)


def _of_total(
    left: Relation, rows: SubqueryRows, test: SubqueryCondition, context: Context
) -> tuple[Relation, Expression]:
    """A test of the one row that all rows of a subquery become, even if there are none."""
    if not test.compared:
        return left, literals.boolean(True)
    if len(test.compared) > 1:
        raise unsupported.CORRELATED_TOTAL.error(span_of(test.node))
    [mine] = compared(left, test, rows, context)
    joined, value = _scalar(left, rows, test.node, context, filters=False)
    operator = COMPARISONS.get(type(test.node), "=")
    return joined, context.binder(joined.scope).operator(operator, [mine, value], test.node)


# --- one value ---------------------------------------------------------------------------------


def _scalar(
    left: Relation, rows: SubqueryRows, at: exp.Expression, context: Context, *, filters: bool
) -> tuple[Relation, Expression]:
    if len(rows.values) != 1:
        raise PlanError(
            f"a scalar subquery must select one column, not {len(rows.values)}",
            at=span_of(at),
            notes={"selected": ", ".join(rows.names)},
        )
    keyed = Keyed.of(rows, rows.values, left, at)
    keys, width = len(keyed.outer), len(left.scope.visible)
    right = keyed.node if rows.is_total else _single(keyed.node, keys, context)
    if rows.of_none is not None and rows.values[0].type.nullable:
        right = _marked(right)
    how: How = "inner" if filters and rows.of_none is None else "left"
    joined = joined_with(left, right, keyed.equal(left, right, context), how, at, context)
    value: Expression = joined.scope.ref(width + keys)
    if rows.of_none is not None:
        last = joined.scope.ref(width + len(right.edge.columns) - 1)
        unmatched = apply(functions.BUILT_IN["IS NULL"], [last], at)
        value = Case(((unmatched, rows.of_none),), value, value.type)
    return joined, value


def _marked(node: Node) -> Node:
    """The rows with TRUE, which tells a row whose value is NULL from none."""
    return project(node, [*node.edge.refs, literals.boolean(True)], [*node.edge.names, "$some"])


def _single(node: Node, keys: int, context: Context) -> Node:
    """The only value of each key, which comes after the keys; several are an error."""
    type_ = node.edge.columns[keys].type.with_nullable(True)
    calls = (AggregateCall("FIRST_VALUE", (keys,), type_), AggregateCall("COUNT", (), COUNT))
    grouped = GroupAggregate(node, tuple(range(keys)), calls, context.batch)
    checked = Call(SINGLE_VALUE, grouped.edge.refs[keys:], type_)
    return project(grouped, [*grouped.edge.refs[:keys], checked], node.edge.names)
