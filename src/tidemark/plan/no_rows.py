"""Relations of which the plan alone says that they have no rows, as far as Flink's planner sees it.

A stream has no aggregate of all rows before the first row. If there can be none, its only result is
that of no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidemark.plan.conjunctions import conjuncts
from tidemark.plan.constants import comparable_value
from tidemark.plan.contradictions import COMPARISONS, contradict, differs_from_itself
from tidemark.plan.expressions import Call, Expression, Literal
from tidemark.plan.nodes import (
    AggregateCall,
    AssignWatermark,
    Filter,
    GroupAggregate,
    Join,
    Node,
    Project,
    TopN,
    UnionAll,
    Unnest,
)

# Those that Flink computes while it plans.
_KNOWN_OF_NONE: Final = {"COUNT", "SUM", "$SUM0", "AVG", "MIN", "MAX"}


def is_known_of_none(calls: Sequence[AggregateCall]) -> bool:
    """Whether Flink's planner knows what all of these are of no rows."""
    return all(call.user is None and call.function in _KNOWN_OF_NONE for call in calls)


def has_no_rows(node: Node) -> bool:
    """Whether it has none, whatever its tables have. Some that have none are not found."""
    match node:
        case Filter(condition=condition) if never_holds(condition):
            return True
        case Filter() | Project() | AssignWatermark() | Unnest():
            return has_no_rows(node.input)
        case GroupAggregate(keys=keys):
            return bool(keys) and has_no_rows(node.input)
        case TopN(low=low, high=high):
            return high is not None and high < low
        case UnionAll():
            return all(map(has_no_rows, node.inputs))
        case Join():
            return _joins_no_rows(node)
    return False


def never_holds(condition: Expression) -> bool:
    """Whether a part that must hold is FALSE or NULL for all rows, or two exclude each other."""
    parts = tuple(conjuncts(condition))
    return any(map(_is_not_true, parts)) or contradict(parts)


def _joins_no_rows(join: Join) -> bool:
    left, right = has_no_rows(join.left), has_no_rows(join.right)
    match join.how:
        case "inner" | "semi":
            never = join.condition is not None and never_holds(join.condition)
            return left or right or never
        case "left" | "anti":
            return left
        case "right":
            return right
        case "full":
            return left and right


def _is_not_true(condition: Expression) -> bool:
    match condition:
        case Literal(value=value):
            return value is not True
        case Call(function=function, args=(Literal(value=value),)) if function.name == "NOT":
            return value is not False
        case Call(function=function, args=args) if function.name == "OR":
            return all(map(never_holds, args))
        case Call(function=function, args=(value,)) if function.name == "IS NULL":
            return not value.type.nullable
        case Call(function=function, args=args) if function.name in COMPARISONS:
            return _compares_nothing(condition) or differs_from_itself(condition)
    return False


def _compares_nothing(comparison: Call) -> bool:
    """Whether it compares with NULL, or two constants for which it is FALSE."""
    if any(isinstance(arg, Literal) and arg.value is None for arg in comparison.args):
        return True
    one, other = map(comparable_value, comparison.args)
    if one is None or other is None:
        return False
    try:
        return not COMPARISONS[comparison.function.name](one, other)
    except TypeError:  # of different families, which are compared by casts
        return False
