"""Finds EXISTS and IN in WHERE, which become joins, and takes them out of the SELECT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.plan.scalars.conditions import flattened, without


@dataclass(frozen=True, slots=True)
class Subquery:
    """A condition in WHERE that tests whether a subquery has a row for the current row."""

    node: exp.Expression
    query: exp.Select
    compared: tuple[exp.Expression, ...]  # with what the subquery selects
    how: Literal["semi", "anti"]


def take_subqueries(select: exp.Select) -> tuple[exp.Select, tuple[Subquery, ...]]:
    """The SELECT without the EXISTS, NOT EXISTS and IN of its WHERE, and these conditions."""
    where = select.args.get("where")
    parts = flattened(where.this) if where is not None else []
    found = tuple(sub for part in parts if (sub := _subquery(part)) is not None)
    if where is None or not found:
        return select, ()
    rest = without(where.this, [sub.node for sub in found])
    plain = select.copy()
    plain.set("where", None if rest is None else exp.Where(this=rest))
    return plain, found


def _subquery(part: exp.Expression) -> Subquery | None:
    inner = part.this if isinstance(part, exp.Not | exp.Paren) else part
    negated = isinstance(part, exp.Not)
    if isinstance(inner, exp.Exists):
        query, compared = inner.this, tuple[exp.Expression, ...]()
    elif isinstance(inner, exp.In) and inner.args.get("query") is not None:
        query, compared = inner.args["query"], (nodes.OuterValue(this=inner.this),)
    else:
        return None
    query = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(query, exp.Select) or any(query.args.get(key) for key in _NOT_PLAIN):
        return None
    return Subquery(part, query, compared, "anti" if negated else "semi")


_NOT_PLAIN = ("with_", "joins", "group", "having", "distinct", "order", "limit", "offset")
