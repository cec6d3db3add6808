"""What the end of a query says about the order and the number of its rows."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

ORDER_CLAUSES: Final = ("order", "limit", "offset")


def is_ordered(query: exp.Expression) -> bool:
    """Whether something is said about the order or the number of a query's rows."""
    return any(query.args.get(clause) is not None for clause in ORDER_CLAUSES)


def without_order(query: exp.Expression) -> exp.Expression:
    """A query inside another one: the order of all its rows has no effect there, as in Flink."""
    if query.args.get("limit") is not None or query.args.get("offset") is not None:
        return query
    return without(query, "order") if query.args.get("order") is not None else query


def without(query: exp.Expression, *clauses: str) -> exp.Expression:
    """The query without some of its clauses."""
    plain = query.copy()
    for clause in clauses:
        plain.set(clause, None)
    return plain
