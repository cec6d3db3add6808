"""EXISTS and IN in WHERE, which are joins: found, and taken out of the SELECT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Literal

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.plan.scalars.conditions import flattened


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A part of WHERE that asks whether a sub-query has a row for the row at hand."""

    node: exp.Expression
    query: exp.Select
    compared: tuple[exp.Expression, ...]  # with what the sub-query selects
    how: Literal["semi", "anti"]


def take_sub_queries(select: exp.Select) -> tuple[exp.Select, tuple[SubQuery, ...]]:
    """The SELECT without the parts of WHERE that are EXISTS, NOT EXISTS or IN, and these parts."""
    where = select.args.get("where")
    parts = flattened(where.this) if where is not None else []
    found = {index: sub for index, part in enumerate(parts) if (sub := _sub_query(part))}
    if not found:
        return select, ()
    plain = select.copy()
    rest = [part.copy() for index, part in enumerate(parts) if index not in found]
    plain.set("where", exp.Where(this=reduce(_and, rest)) if rest else None)
    return plain, tuple(found.values())


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)


def _sub_query(part: exp.Expression) -> SubQuery | None:
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
    return SubQuery(part, query, compared, "anti" if negated else "semi")


_NOT_PLAIN = ("with_", "joins", "group", "having", "distinct", "order", "limit", "offset")
