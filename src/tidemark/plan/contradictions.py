"""Conditions that no row meets together, such as `w > 1 AND w < 0`.

Two conditions are compared at a time, each of which says something about one expression. Values are
not counted: that no integer is between 1 and 2 is not known, as in Flink.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from tidemark import types as t
from tidemark.plan.constants import comparable_value
from tidemark.plan.expressions import Call, Expression, may_differ

# An expression, what is said of it, and the constants that it is compared with.
Fact = tuple[Expression, str, tuple[Any, ...]]

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_UP, _DOWN = (">", ">="), ("<", "<=")


def contradict(conditions: Sequence[Expression]) -> bool:
    """Whether two of the conditions exclude each other."""
    facts = [fact for one in conditions if not may_differ(one) for fact in _facts(one)]
    return any(_exclude(one, other) for one, other in combinations(facts, 2))


def differs_from_itself(condition: Expression) -> bool:
    """Whether it is `x <> x`, `x < x` or `x > x`. NaN is not equal to itself."""
    match condition:
        case Call(function=function, args=(one, other)) if function.name in ("<>", "<", ">"):
            approximate = isinstance(one.type, t.Float | t.Double)
            return one == other and not approximate and not may_differ(one)
    return False


def _facts(condition: Expression) -> Iterator[Fact]:
    yield condition, "HOLDS", ()
    if not isinstance(condition, Call):
        return
    name, args = condition.function.name, condition.args
    if name == "NOT":
        yield args[0], "FAILS", ()
        yield from _negated(args[0])
    elif name == "IS NULL":
        yield args[0], "IS NULL", ()
    elif name == "BETWEEN":
        yield from _compared(args[0], ">=", args[1])
        yield from _compared(args[0], "<=", args[2])
    elif name == "IN":
        values = tuple(map(comparable_value, args[1:]))
        if None not in values:
            yield args[0], "IN", values
    elif name in COMPARISONS:
        yield from _compared(args[0], name, args[1])
        yield from _compared(args[1], _TURNED[name], args[0])


def _negated(condition: Expression) -> Iterator[Fact]:
    """What holds if the condition is FALSE. Every comparison with NaN is."""
    if not isinstance(condition, Call):
        return
    name, args = condition.function.name, condition.args
    if name == "IS NULL":
        yield args[0], "IS NOT NULL", ()
    elif name in COMPARISONS and not isinstance(args[0].type, t.Float | t.Double):
        yield from _compared(args[0], _OPPOSITE[name], args[1])


def _compared(value: Expression, name: str, other: Expression) -> Iterator[Fact]:
    constant = comparable_value(other)
    if constant is not None:
        yield value, name, (constant,)


def _exclude(one: Fact, other: Fact) -> bool:
    if one[0] != other[0]:
        return False
    try:
        return _excludes(one[1], one[2], other) or _excludes(other[1], other[2], one)
    except TypeError:  # constants of different families, which are compared by casts
        return False


def _excludes(name: str, values: tuple[Any, ...], other: Fact) -> bool:
    _, others_name, others = other
    if name == "HOLDS":
        return others_name == "FAILS"
    if name == "IS NULL":
        return others_name not in ("IS NULL", "HOLDS", "FAILS")
    if others_name not in COMPARISONS:
        excludes = name in ("=", "IN") and others_name == "IN"
        return excludes and not set(values) & set(others)
    if name in ("=", "IN"):
        return not any(COMPARISONS[others_name](value, others[0]) for value in values)
    if name in _UP and others_name in _DOWN:
        touching = name == ">=" and others_name == "<="
        return bool(values[0] > others[0] or (values[0] == others[0] and not touching))
    return False
