"""OVER in a SELECT with GROUP BY: the rows that it goes over are the groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.plan.over.select import windows_within
from tidemark.plan.select_list import name_of

_OUTER = ("distinct", "windows", "order", "limit", "offset")


def above_groups(select: exp.Select) -> exp.Select:
    """The same query in two: a SELECT with GROUP BY for all that OVER and the SELECT list need of
    the groups, and one over its rows.
    """
    inner = select.copy()
    needed = _Needed()
    items = [
        _named(needed.replaced(item.this if isinstance(item, exp.Alias) else item), item, place)
        for place, item in enumerate(inner.expressions)
    ]
    windows = [needed.window(window) for window in inner.args.get("windows") or ()]
    outer = exp.Select(expressions=items, windows=windows)
    for part in _OUTER:
        if part != "windows":
            outer.set(part, inner.args.get(part))
        inner.set(part, None)
    inner.set("expressions", needed.items)
    outer.set("from_", exp.From(this=exp.Subquery(this=inner)))
    return outer


def _named(value: exp.Expression, item: exp.Expression, place: int) -> exp.Expression:
    name = item.alias if isinstance(item, exp.Alias) else name_of(item, place)
    return exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=True))


@dataclass(slots=True)
class _Needed:
    """The expressions over the groups, each with a name."""

    items: list[exp.Expression] = field(default_factory=list)

    def replaced(self, node: exp.Expression) -> exp.Expression:
        """The expression over the rows of the inner SELECT."""
        if isinstance(node, exp.Window):
            return self.window(node)
        if not any(True for _ in windows_within(node)):
            return self._column(node)
        for child in list(node.iter_expressions()):
            child.replace(self.replaced(child))
        return node

    def window(self, window: exp.Window) -> exp.Window:
        """A window, named or with what is called over it. Frames and options are constants."""
        for ordered in window.args["order"].expressions if window.args.get("order") else ():
            ordered.this.replace(self._column(ordered.this))
        for key in list(window.args.get("partition_by") or ()):
            key.replace(self._column(key))
        if not isinstance(window.this, exp.Identifier):
            self._arguments(window.this)
        return window

    def _arguments(self, call: exp.Expression) -> None:
        if isinstance(call, exp.Filter):
            condition = call.expression.this
            condition.replace(self._column(condition))
            call = call.this
        if isinstance(call, exp.RespectNulls):
            call = call.this
        for argument in list(call.expressions):
            if isinstance(argument, exp.Distinct):
                self._arguments(argument)
            elif not isinstance(argument, exp.Star | exp.Literal | exp.Neg):
                argument.replace(self._column(argument))

    def _column(self, node: exp.Expression) -> exp.Expression:
        name = f"$group{len(self.items)}"
        identifier = exp.Identifier(this=name, quoted=True)
        self.items.append(exp.Alias(this=node.copy(), alias=identifier))
        column = exp.Column(this=identifier.copy())
        column.meta.update(node.meta)
        return column
