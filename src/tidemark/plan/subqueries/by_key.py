"""The groups, distinct or first rows of all outer rows at once, told apart by keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from tidemark.catalog.catalogs import Catalogs
from tidemark.dialect import span_of
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.order_clauses import ORDER_CLAUSES
from tidemark.plan.subqueries.first_rows import first_of_each, takes_first


def with_keys(select: exp.Select, keys: Sequence[exp.Expression], catalogs: Catalogs) -> exp.Select:
    """The SELECT with further keys, which it also selects."""
    grouped = is_grouped(select, catalogs)
    select = select.copy()
    named = [exp.Alias(this=k.copy(), alias=f"$key{n}") for n, k in enumerate(keys)]
    select.set("expressions", [*select.expressions, *named])
    if grouped:
        group = select.args.get("group")
        written = group.expressions if group is not None else []
        for element in written:
            if isinstance(element, exp.GroupingSets | exp.Rollup | exp.Cube):
                raise unsupported.CORRELATED.error(span_of(element), "GROUPING SETS")
        select.set("group", exp.Group(expressions=[*written, *(k.copy() for k in keys)]))
    return first_of_each(select, keys) if takes_first(select) else select


def with_tests(select: exp.Select, tests: Sequence[exp.Expression]) -> exp.Select:
    """The SELECT with these conditions for its WHERE."""
    select = select.copy()
    copies = [part.copy() for part in tests]
    select.set("where", exp.Where(this=reduce(_and, copies)) if copies else None)
    return select


def is_known(key: exp.Expression) -> exp.Expression:
    """The condition that a key is not NULL."""
    return exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null()))


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)


def check_clauses(select: exp.Select, catalogs: Catalogs) -> None:
    """Raises an error for a clause that would be for all outer rows together."""
    grouped = is_grouped(select, catalogs) or select.args.get("distinct")
    allowed = ORDER_CLAUSES if takes_first(select) and not grouped else ()
    for key, clause in _CLAUSES.items():
        if select.args.get(key) and key not in allowed:
            at = span_of(select.args[key]) if key != "windows" else None
            raise unsupported.CORRELATED.error(at or span_of(select), clause)


_CLAUSES: Final = {
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
}
