"""Conditions of WHERE and ON, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from tidemark.dialect.nodes import RowConstructor


def flattened(condition: exp.Expression) -> list[exp.Expression]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, exp.Paren):
        return flattened(condition.this)
    if isinstance(condition, exp.And):
        return [*flattened(condition.this), *flattened(condition.expression)]
    return _equal_fields(condition) or [condition]


def _equal_fields(condition: exp.Expression) -> list[exp.Expression]:
    """`a = c` and `b = d`, for which `(a, b) = (c, d)` is short."""
    if not isinstance(condition, exp.EQ):
        return []
    one, other = condition.this, condition.expression
    if not (isinstance(one, RowConstructor) and isinstance(other, RowConstructor)):
        return []
    if len(one.expressions) != len(other.expressions):
        return []
    pairs = zip(one.expressions, other.expressions, strict=True)
    return [exp.EQ(this=mine.copy(), expression=theirs.copy()) for mine, theirs in pairs]


def is_true(condition: exp.Expression) -> bool:
    """Whether it is the constant TRUE."""
    return isinstance(condition, exp.Boolean) and bool(condition.this)


def without(condition: exp.Expression, met: Sequence[exp.Expression]) -> exp.Expression | None:
    """What is left of a condition if some of its parts need no test; None if nothing is."""
    if not met:
        return condition
    rest = [part for part in flattened(condition) if part not in met]
    return reduce(_and, [part.copy() for part in rest]) if rest else None


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)
