"""Finds subqueries in place of values, and puts the numbers of their values there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.subqueries.conditions import COMPARISONS


@dataclass(frozen=True, slots=True)
class ValueSubquery:
    """A scalar subquery, or EXISTS, IN or a comparison with ANY or ALL in place of a BOOLEAN. If it
    `filters`, a row for which it is NULL is dropped anyway; if `only_true` matters, NULL is as good
    as FALSE.
    """

    node: exp.Expression
    filters: bool
    only_true: bool


def take_values(
    written: Sequence[exp.Expression], first: int = 0, *, tests: bool = False
) -> tuple[list[exp.Expression], list[ValueSubquery]]:
    """The expressions with `nodes.SubqueryValue` for each subquery, numbered from `first`, and the
    subqueries. If they are `tests`, only rows for which they are true remain.
    """
    found: list[ValueSubquery] = []
    taken = []
    for expression in written:
        plain = expression.copy()
        strict = _strict(plain) if tests else set()
        only_true = set(_only_true(plain, tests=tests))
        for node in list(values_in(plain)):
            found.append(ValueSubquery(node, id(node) in strict, id(node) in only_true))
            number = nodes.SubqueryValue(this=first + len(found) - 1)
            if node is plain:
                plain = number
            else:
                node.replace(number)
        taken.append(plain)
    return taken, found


def has_values(written: exp.Expression) -> bool:
    """Whether there are subqueries in place of values."""
    return any(True for _ in values_in(written))


def values_in(node: exp.Expression) -> Iterator[exp.Expression]:
    """The outermost subqueries."""
    if _is_value(node):
        yield node
        return
    for child in node.iter_expressions():
        yield from values_in(child)


def _is_value(node: exp.Expression) -> bool:
    return isinstance(node, exp.Query | exp.Any | exp.All) or is_test(node)


def is_test(node: exp.Expression) -> bool:
    """Whether it is EXISTS, IN, or a comparison with ANY or ALL."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    quantified = isinstance(node, tuple(COMPARISONS)) and isinstance(
        node.expression, exp.Any | exp.All
    )
    return quantified or isinstance(node, exp.Exists)


def _only_true(node: exp.Expression, *, tests: bool) -> Iterator[int]:
    """The tests in conditions of which only matters whether they are true."""
    if is_test(node):
        if tests:
            yield id(node)
        return
    if isinstance(node, exp.Query):
        return
    searched = isinstance(node, exp.Case) and node.this is None
    for child in node.iter_expressions():
        if isinstance(child, exp.If):
            yield from _only_true(child.this, tests=searched)
            yield from _only_true(child.args["true"], tests=False)
        else:
            passes = tests and isinstance(node, exp.Paren | exp.And | exp.Or)
            yield from _only_true(child, tests=passes)


def _strict(condition: exp.Expression) -> set[int]:
    """The scalar subqueries of a condition that is not true if they are NULL."""
    found: set[int] = set()
    for part in flattened(condition):
        pending = [part.this, part.expression] if isinstance(part, tuple(COMPARISONS)) else []
        while pending:
            node = pending.pop()
            if isinstance(node, exp.Query):
                found.add(id(node))
            elif isinstance(node, _STRICT):
                pending += node.iter_expressions()
    return found


_STRICT: Final = (exp.Paren, exp.Neg, nodes.Plus, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Cast)
