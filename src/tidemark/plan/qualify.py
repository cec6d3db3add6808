"""QUALIFY: a condition on window functions, which is WHERE of a query around the SELECT."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.plan.order_clauses import without

HIDDEN: Final = "$qualify"  # what the condition needs and the SELECT list does not have


def around(select: exp.Select) -> exp.Select:
    """The same rows by a query around the SELECT, with what its condition needs as more columns."""
    inner = without(select, "qualify")
    condition = select.args["qualify"].this.copy()
    columns = _Columns(inner)
    condition = condition.transform(columns.outside)
    inner.set("expressions", [*inner.expressions, *columns.hidden])
    return exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=inner)),
        where=exp.Where(this=condition),
    )


class _Columns:
    """The columns of a SELECT, and those that are added to it."""

    def __init__(self, select: exp.Expression) -> None:
        items = select.expressions
        self.aliased = {item.alias: item.this for item in items if isinstance(item, exp.Alias)}
        paths = [nodes.name_path(item) for item in items if not isinstance(item, exp.Alias)]
        self.plain = {path[-1].name for path in paths if path is not None}
        self.has_star = any(
            isinstance(item, exp.Star) or isinstance(getattr(item, "this", None), exp.Star)
            for item in items
        )
        self.hidden: list[exp.Expression] = []

    def outside(self, part: exp.Expression) -> exp.Expression:
        """A part of the condition for the query around."""
        if isinstance(part, exp.Window):
            return self._column_of(part)
        if isinstance(part, exp.Column) and not self._is_visible(part):
            return self._column_of(part)
        return part

    def _is_visible(self, column: exp.Column) -> bool:
        path = nodes.name_path(column)
        if path is None or len(path) > 1:
            return False
        name = path[0].name
        return name in self.aliased or name in self.plain or self.has_star

    def _column_of(self, value: exp.Expression) -> exp.Expression:
        known = next((name for name, other in self.aliased.items() if other == value), None)
        if known is None:
            known = f"{HIDDEN}{len(self.hidden)}"
            name = exp.to_identifier(known, quoted=True)
            self.hidden.append(exp.Alias(this=value.copy(), alias=name))
            self.aliased[known] = value
        return exp.Column(this=exp.to_identifier(known, quoted=True))
