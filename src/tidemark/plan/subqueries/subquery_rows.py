"""The rows of a subquery that may belong to an outer row, as values and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.plan.aggregates.calls import aggregate_of, is_grouped
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Literal, Ref, references, replaced
from tidemark.plan.joins.bound import Conjunct
from tidemark.plan.nodes import GroupAggregate, Node, Project
from tidemark.plan.scalars import literals


@dataclass(frozen=True, slots=True)
class SubqueryRows:
    """The rows of a subquery that may belong to some row of the query around it.

    The `values` that it selects and the conditions `on` which a row belongs to an outer one are
    over the outer columns, followed by those of the rows. If it aggregates all of its rows, it has
    a row even for none: with the value `of_none`, if that is not NULL.
    """

    node: Node
    values: tuple[Expression, ...]
    names: tuple[str, ...]
    on: tuple[Conjunct, ...] = ()
    is_total: bool = False
    of_none: Expression | None = None

    def is_by_key(self, width: int) -> bool:
        """Whether equal values say which rows belong to an outer one, whose columns are only in
        them. `width` is how many these are.
        """
        own = all(place >= width for value in self.values for place in references(value))
        return own and all(one.pair is not None for one in self.on)


def is_total(select: exp.Select, context: Context) -> bool:
    """Whether it has one row, made of all the rows below it."""
    others = any(select.args.get(key) for key in ("group", "having", "limit", "offset"))
    return is_grouped(select, context.catalogs) and not others


def of_none(
    select: exp.Select, node: Node, outer: Sequence[Expression], context: Context
) -> Expression | None:
    """What the first column of an aggregation is if there are no rows; None if that is NULL, as all
    results but COUNT are then. The keys of `node`, its plan, are the `outer` values.
    """
    if not isinstance(node, Project) or not isinstance(node.input, GroupAggregate):
        return None
    selected = aggregate_of(select.expressions[0].unalias(), context.catalogs)
    if selected is not None and selected.name not in _COUNTS:
        return None
    aggregate = node.input

    def result(part: Expression) -> Expression | None:
        if not isinstance(part, Ref):
            return None
        if part.index < len(aggregate.keys):
            return outer[part.index]
        call = aggregate.calls[part.index - len(aggregate.keys)]
        if call.function == "COUNT":
            return Literal(0, t.BigInt(nullable=False))
        return literals.null(part.type.with_nullable(True))

    value = replaced(node.expressions[0], result)
    if isinstance(value, Literal) and value.value is None:
        return None
    return value


_COUNTS: Final = ("COUNT", "APPROX_COUNT_DISTINCT")
