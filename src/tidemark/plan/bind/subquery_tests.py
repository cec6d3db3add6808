"""EXISTS, IN and comparisons with ANY and ALL in place of a BOOLEAN, which may be NULL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan import unsupported
from tidemark.plan.bind.subquery_keys import Keyed, flagged, joined_with, known
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Expression, shifted
from tidemark.plan.joins.bound import Conjunct
from tidemark.plan.nodes import AggregateCall, Filter, GroupAggregate
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.subqueries.conditions import OPPOSITES, SubqueryCondition
from tidemark.plan.subqueries.subquery_rows import SubqueryRows

COUNT: Final = t.BigInt(nullable=False)
# The value that decides a comparison with some of all values; both for <>.
_DECIDING: Final = {"<": ("MAX",), "<=": ("MAX",), ">": ("MIN",), ">=": ("MIN",)}


def with_test(
    left: Relation,
    rows: SubqueryRows,
    test: SubqueryCondition,
    context: Context,
    *,
    only_true: bool,
) -> tuple[Relation, Expression]:
    """The rows with columns from which follows whether a test of a subquery holds, and that. If
    `only_true` matters, NULL is as good as FALSE.
    """
    if not test.compared:
        return _exists(left, rows, test.node, context)
    mine = compared(left, test, rows, context)
    keyed = Keyed.of(rows, rows.values, left, test.node)
    if test.operator != "=":
        [value] = mine
        return _quantified(left, keyed, value, test, context)
    joined, within = _in(left, keyed, mine, test, context, only_true=only_true)
    if test.how == "anti":
        within = context.binder(joined.scope).operator("NOT", [within], test.node)
    return joined, within


def _exists(
    left: Relation, rows: SubqueryRows, node: exp.Expression, context: Context
) -> tuple[Relation, Expression]:
    keyed = Keyed.of(rows, (), left, node)
    right = flagged(keyed.node, context)
    joined = joined_with(left, right, keyed.equal(left, right, context), "left", node, context)
    return joined, known(joined.scope.ref(len(left.scope.visible) + len(keyed.outer)), node)


def compared(
    left: Relation, test: SubqueryCondition, rows: SubqueryRows, context: Context
) -> Sequence[Expression]:
    """The outer values, of which there are as many as the subquery selects."""
    wanted = len(test.compared)
    if wanted != len(rows.values):
        raise PlanError(
            f"the subquery must select {wanted} column{'s'[: wanted > 1]}, not {len(rows.values)}",
            at=span_of(test.query),
            notes={"selected": ", ".join(rows.names)},
        )
    if wanted > 1 and test.operator != "=":
        raise PlanError(
            "rows can only be compared for equality with a subquery", at=span_of(test.node)
        )
    return context.binder(left.scope).bind_all(test.compared)


# --- IN ----------------------------------------------------------------------------------------


def _in(
    left: Relation,
    keyed: Keyed,
    mine: Sequence[Expression],
    test: SubqueryCondition,
    context: Context,
    *,
    only_true: bool,
) -> tuple[Relation, Expression]:
    joined, matched = _with_match(left, keyed, mine, test.node, context)
    if not any(value.type.nullable for value in (*mine, *keyed.values)):
        return joined, matched
    if len(mine) == 1:
        return _with_counts(joined, keyed, mine[0], matched, test.node, context)
    if not only_true or test.how == "anti":
        raise unsupported.ROWS_IN_VALUE.error(span_of(test.node))
    return joined, matched


def _with_match(
    left: Relation, keyed: Keyed, mine: Sequence[Expression], node: exp.Expression, context: Context
) -> tuple[Relation, Expression]:
    """Whether the values are among those of their key."""
    width, binder = len(left.scope.visible), context.binder(left.scope)
    values = keyed.node
    for value in keyed.values:
        values = Filter(values, known(value, node))
    right = flagged(values, context)
    same = [
        Conjunct.equality(one, shifted(theirs, width), node, binder, width)
        for one, theirs in zip(mine, keyed.values, strict=True)
    ]
    on = [*keyed.equal(left, right, context), *same]
    joined = joined_with(left, right, on, "left", node, context)
    return joined, known(joined.scope.ref(width + len(right.edge.columns) - 1), node)


def _with_counts(
    left: Relation,
    keyed: Keyed,
    mine: Expression,
    found: Expression,
    node: exp.Expression,
    context: Context,
) -> tuple[Relation, Expression]:
    """IN is NULL rather than false if a NULL might be the value: the one that is looked for, in
    some value, or one of the values.
    """
    joined, [rows, complete] = _with_aggregates(left, keyed, (), node, context)
    binder = context.binder(joined.scope)
    unknown = _may_be(binder, rows, complete, mine, node)
    branches = ((found, literals.boolean(True)), (unknown, literals.null(t.Boolean())))
    return joined, Case(branches, literals.boolean(False), t.Boolean())


# --- ANY and ALL -------------------------------------------------------------------------------


def _quantified(
    left: Relation, keyed: Keyed, mine: Expression, test: SubqueryCondition, context: Context
) -> tuple[Relation, Expression]:
    """A comparison with some value, which the smallest or the largest one decides; with all values
    it is false if the opposite one with some value is true.
    """
    node, operator = test.node, test.operator
    of_all = operator.startswith("NOT ")
    operator = operator.removeprefix("NOT ")
    if of_all:
        operator = OPPOSITES[operator]
    functions = _DECIDING.get(operator, ("MIN", "MAX"))
    joined, [rows, complete, *extremes] = _with_aggregates(left, keyed, functions, node, context)
    binder = context.binder(joined.scope)
    some = reduce(
        lambda one, other: binder.operator("OR", [one, other], node),
        (binder.operator(operator, [mine, extreme], node) for extreme in extremes),
    )
    is_true = binder.operator("IS TRUE", [some], node)
    unknown = _may_be(binder, rows, complete, mine, node)
    yes, no = literals.boolean(not of_all), literals.boolean(of_all)
    return joined, Case(((is_true, yes), (unknown, literals.null(t.Boolean()))), no, t.Boolean())


# --- what is unknown -----------------------------------------------------------------------------


def _with_aggregates(
    left: Relation,
    keyed: Keyed,
    functions: Sequence[str],
    node: exp.Expression,
    context: Context,
) -> tuple[Relation, list[Expression]]:
    """The rows with how many values there are for their keys, how many of them are not NULL, and
    the results of functions.
    """
    width, keys = len(left.scope.visible), len(keyed.outer)
    type_ = keyed.values[0].type.with_nullable(True)
    calls = (
        AggregateCall("COUNT", (), COUNT),
        AggregateCall("COUNT", (keys,), COUNT),
        *(AggregateCall(name, (keys,), type_) for name in functions),
    )
    counts = GroupAggregate(keyed.node, tuple(range(keys)), calls, context.batch)
    on = keyed.equal(left, counts, context)
    joined = joined_with(left, counts, on, "left", node, context)
    places = range(width + keys, width + keys + len(calls))
    return joined, [joined.scope.ref(place) for place in places]


def _may_be(
    binder: Binder, rows: Expression, known_rows: Expression, mine: Expression, node: exp.Expression
) -> Expression:
    """Whether there are values, and one that is compared is NULL."""
    some = binder.operator(">", [rows, literals.integer(0)], node)
    fewer = binder.operator("<", [known_rows, rows], node)
    is_null = binder.operator("IS NULL", [mine], node)
    return binder.operator("AND", [some, binder.operator("OR", [is_null, fewer], node)], node)
