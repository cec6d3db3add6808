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
    """A scalar subquery, or EXISTS or IN in place of a BOOLEAN. If it `filters`, a row for which it
    is NULL is dropped anyway.
    """

    node: exp.Expression
    filters: bool


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
        for node in list(values_in(plain)):
            found.append(ValueSubquery(node, id(node) in strict))
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
    of_query = isinstance(node, exp.In) and node.args.get("query") is not None
    return of_query or isinstance(node, exp.Exists | exp.Query | exp.Any | exp.All)


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


_STRICT: Final = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Cast)
