"""What the end of a query says about the order and the number of its rows."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp

from tidemark.dialect import nodes

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


def is_position(node: exp.Expression) -> bool:
    """Whether a part of ORDER BY is the number of a column."""
    return isinstance(node, exp.Literal) and not node.is_string


def with_aliases(node: exp.Expression, select: exp.Expression) -> exp.Expression:
    """An expression of ORDER BY, in which aliases of the SELECT list stand for their values."""
    values = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}

    def value(part: Any) -> Any:
        path = nodes.name_path(part) if isinstance(part, exp.Column) else None
        if path is None or len(path) != 1 or path[0].name not in values:
            return part
        return values[path[0].name].copy()

    found: exp.Expression = node.transform(value)
    return found
