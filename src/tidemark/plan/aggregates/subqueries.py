"""Subqueries in GROUP BY and inside aggregate functions: values of the rows that are grouped."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tidemark.catalog.catalogs import Catalogs
from tidemark.plan.aggregates.calls import calls_within
from tidemark.plan.bind.subquery_values import with_values
from tidemark.plan.context import Context
from tidemark.plan.relation import Relation
from tidemark.plan.subqueries.values import values_in


def with_values_of_rows(
    select: exp.Select, relation: Relation, context: Context
) -> tuple[exp.Select, Relation]:
    """The grouping SELECT with the numbers of these values, and the rows with columns for them. A
    subquery that GROUP BY has is the same value wherever it is written.
    """
    select = select.copy()
    group = select.args.get("group")
    keys = list(dict.fromkeys(values_in(group))) if group is not None else []
    found = [
        *keys,
        *(one for one in dict.fromkeys(_in_calls(select, context.catalogs)) if one not in keys),
    ]
    if not found:
        return select, relation
    relation, numbers = with_values(relation, found, context)
    number_of = dict(zip(found, numbers, strict=True))
    inside = [one for one in _in_calls(select, context.catalogs) if one in number_of]
    outside = [one for part in _parts(select) for one in values_in(part) if one in keys]
    of_group = list(values_in(group)) if group is not None else []
    for one in {id(one): one for one in (*of_group, *inside, *outside)}.values():
        one.replace(number_of[one].copy())
    return select, relation


def _in_calls(select: exp.Select, catalogs: Catalogs) -> Iterator[exp.Expression]:
    for part in _parts(select):
        for call in calls_within(part, catalogs):
            yield from values_in(call)


def _parts(select: exp.Select) -> list[exp.Expression]:
    """HAVING and what is selected."""
    having = select.args.get("having")
    return [*([having] if having is not None else []), *select.expressions]
