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
    """An expression of ORDER BY, in which names of the SELECT list stand for their values: aliases,
    and names of columns, `k` for `t.k` even if other tables have a `k`.
    """
    items = [(_name(item), value_of(item)) for item in select.expressions]
    names = [name for name, _ in items]
    values = {name: value for name, value in items if names.count(name) == 1}
    stars = [item for item in select.expressions if item.is_star]

    def of_output(part: Any) -> Any:
        path = nodes.name_path(part) if isinstance(part, exp.Column) else None
        if path is None or len(path) != 1:
            return part
        if path[0].name in values:
            return values[path[0].name].copy()
        if not stars or path[0].name in names:
            return part
        return nodes.OfStars(this=part.copy(), expressions=[star.copy() for star in stars])

    found: exp.Expression = node.transform(of_output)
    return found


def value_of(item: exp.Expression) -> exp.Expression:
    """What an item of the SELECT list is, without its alias and parentheses."""
    while isinstance(item, exp.Alias | exp.Paren):
        item = item.this
    return item


def _name(item: exp.Expression) -> str:
    """The name of an item of the SELECT list; empty if it has none of its own."""
    if isinstance(item, exp.Alias):
        return item.alias
    path = nodes.name_path(value_of(item))
    return path[-1].name if path and not item.is_star else ""
