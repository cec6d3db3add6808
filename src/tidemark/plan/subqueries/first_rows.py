"""ORDER BY and LIMIT of a correlated subquery: the first rows for each outer row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from tidemark.plan.order_clauses import ORDER_CLAUSES, is_position, with_aliases, without

_RANK: Final = "$rank"


def takes_first(select: exp.Expression) -> bool:
    """Whether it has only the first rows in some order, or those after them."""
    limited = select.args.get("limit") or select.args.get("offset")
    return limited is not None and select.args.get("order") is not None


def first_of_each(select: exp.Select, keys: Sequence[exp.Expression]) -> exp.Select:
    """The first rows of all outer rows at once, by the `keys` that tell them apart. The last column
    is the number of the row.
    """
    order = select.args["order"].copy()
    for one in order.expressions:
        if is_position(one.this):
            item = select.expressions[int(one.this.this) - 1]
            one.set("this", item.unalias().copy())
        else:
            one.set("this", with_aliases(one.this, select))
    number = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[key.copy() for key in keys],
        order=order,
    )
    ranked = without(select, *ORDER_CLAUSES)
    ranked.append("expressions", exp.alias_(number, _RANK, quoted=True))
    rows = exp.From(this=exp.Subquery(this=ranked))
    return exp.Select(expressions=[exp.Star()], from_=rows, where=exp.Where(this=_range(select)))


def _range(select: exp.Select) -> exp.Expression:
    limit, offset = (select.args.get(clause) for clause in ("limit", "offset"))
    before = 0 if offset is None else int(offset.expression.this)
    number = exp.column(exp.to_identifier(_RANK, quoted=True))
    low = exp.Literal.number(before + 1)
    if limit is None:
        return exp.GTE(this=number, expression=low)
    last = exp.Literal.number(before + int(limit.expression.this))
    if before == 0:
        return exp.LTE(this=number, expression=last)
    return exp.Between(this=number, low=low, high=last)
