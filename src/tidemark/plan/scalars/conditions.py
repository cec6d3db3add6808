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
    if isinstance(condition, exp.Or):
        return _factored(condition) or [condition]
    return _equal_fields(condition) or [condition]


def _factored(condition: exp.Or) -> list[exp.Expression]:
    """`a`, which may be the key of a join, and `b OR c` for `(a AND b) OR (a AND c)`."""
    ways = [flattened(way) for way in _ways(condition)]
    first, *others = ways
    common = [part for part in first if all(part in way for way in others)]
    if not common:
        return []
    rests = [[part for part in way if part not in common] for way in ways]
    if not all(rests):
        return common
    return [*common, reduce(_or, (_all_of(rest) for rest in rests))]


def _ways(condition: exp.Expression) -> list[exp.Expression]:
    """The conditions of which one is enough."""
    if isinstance(condition, exp.Paren):
        return _ways(condition.this)
    if isinstance(condition, exp.Or):
        return [*_ways(condition.this), *_ways(condition.expression)]
    return [condition]


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
    return _all_of(rest) if rest else None


def _all_of(parts: Sequence[exp.Expression]) -> exp.Expression:
    return reduce(_and, [part.copy() for part in parts])


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)


def _or(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.Or(this=one, expression=other)
