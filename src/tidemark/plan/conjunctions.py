"""Conditions that must all hold, as one and one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from tidemark import functions
from tidemark import types as t
from tidemark.plan.expressions import Call, Expression


def both(one: Expression, other: Expression) -> Expression:
    """The conjunction of two conditions."""
    return Call(functions.BUILT_IN["AND"], (one, other), t.Boolean())


def conjunction(conditions: Sequence[Expression]) -> Expression | None:
    """All conditions as one; None if there is none."""
    return reduce(both, conditions) if conditions else None


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, Call) and condition.function.name == "AND":
        for each in condition.args:
            yield from conjuncts(each)
    else:
        yield condition
