"""Joins with subqueries in ON. Those of an inner join test its pairs. In an outer join they are
values of the rows of one side, which the condition compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.plan import unsupported
from tidemark.plan.bind.joins import bind_join
from tidemark.plan.bind.subquery_values import with_values
from tidemark.plan.context import Context
from tidemark.plan.expressions import shifted
from tidemark.plan.joins.bound import Unjoined
from tidemark.plan.nodes import Filter
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.conditions import flattened, without
from tidemark.plan.scope import Scope
from tidemark.plan.subqueries.conditions import condition_of
from tidemark.plan.subqueries.outer_values import outer_places
from tidemark.plan.subqueries.values import has_values, values_in


def has_subqueries(join: exp.Join) -> bool:
    """Whether there are subqueries in its ON."""
    on = join.args.get("on")
    return on is not None and has_values(on)


def bind_join_with_subqueries(
    left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> Relation:
    """The rows of `left` joined with a further relation of FROM."""
    if join.args.get("side"):
        return bind_join(left, join, where, context, _Sides(context).with_values)
    on = join.args["on"]
    tests = [part for part in flattened(on) if has_values(part)]
    plain = join.copy()
    plain.set("on", without(on, tests) or exp.true())
    joined = bind_join(left, plain, where, context)
    for test in tests:
        joined = replace(_tested(joined, test, context), met=joined.met)
    return joined


def _tested(pairs: Relation, test: exp.Expression, context: Context) -> Relation:
    condition = condition_of(test)
    if condition is not None:
        return context.bind_condition(pairs, condition)
    pairs, [plain] = with_values(pairs, [test], context, tests=True)
    holds = context.binder(pairs.scope).condition(plain, "ON")
    return replace(pairs, node=Filter(pairs.node, holds))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Gives both sides of an outer join columns for the values of subqueries."""

    context: Context

    def with_values(self, given: Unjoined) -> Unjoined:
        condition = given.condition
        assert condition is not None
        found = list(dict.fromkeys(values_in(condition)))
        of_right = [one for one in found if self._is_of_right(one, given)]
        of_left = [one for one in found if one not in of_right]
        left, lefts = with_values(given.left, of_left, self.context)
        right, rights = with_values(given.right, of_right, self.context)
        numbers = dict(zip(of_left, lefts, strict=True))
        before, width = len(left.scope.values), len(left.scope.visible)
        for one, number in zip(of_right, rights, strict=True):
            number.set("this", number.this + before)
            numbers[one] = number
        values = (*left.scope.values, *(shifted(one, width) for one in right.scope.values))
        scope = Scope((left.scope + right.scope).visible, values)
        return Unjoined(left, right, _replaced(condition, numbers), scope)

    def _is_of_right(self, node: exp.Expression, given: Unjoined) -> bool:
        """Whether a subquery refers to the right side, and to that one only."""
        places = outer_places(node, given.scope, self.context)
        right = {place for place in places if place >= len(given.left.scope.visible)}
        if right and right != places:
            raise unsupported.SUBQUERY_OF_BOTH_SIDES.error(span_of(node))
        return bool(right)


def _replaced(
    condition: exp.Expression, numbers: dict[exp.Expression, exp.Expression]
) -> exp.Expression:
    condition = condition.copy()
    for node in list(values_in(condition)):
        if node is condition:
            return numbers[node].copy()
        node.replace(numbers[node].copy())
    return condition
