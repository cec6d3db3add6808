"""ORDER BY, LIMIT and OFFSET at the end of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final

from sqlglot import exp

from tidemark.catalog.options import RUNTIME_MODE
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan.bind.ranks.computed import with_columns
from tidemark.plan.bind.ranks.first_rows import first_rows
from tidemark.plan.bind.ranks.numbered import nulls_last
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, Project, SortByTime, WindowOrder, project
from tidemark.plan.order_clauses import ORDER_CLAUSES, is_position, value_of, with_aliases, without
from tidemark.plan.scope import Scope

_HIDDEN: Final = "$order"

Bind = Callable[[exp.Expression, Context], Node]


def bind_ordered(query: exp.Expression, context: Context, bind: Bind) -> Node:
    """The plan of a query with what is at its end; `bind` returns the plan of the rest."""
    plain = without(query, *ORDER_CLAUSES)
    order = query.args.get("order")
    written: Sequence[exp.Ordered] = order.expressions if order is not None else ()
    selects = isinstance(plain, exp.Select) and plain.args.get("distinct") is None
    hidden = [one for one in written if selects and not is_position(one.this)]
    for number, one in enumerate(hidden):
        value = with_aliases(one.this, plain)
        plain.append("expressions", exp.alias_(value, f"{_HIDDEN}{number}", quoted=True))
    rows = bind(plain, context)
    shown = len(rows.edge.columns) - len(hidden)
    selected = [] if selects else _selected(plain)
    rows, places = _places(rows, written, hidden, shown, selected, context)
    by = tuple(
        WindowOrder(place, bool(one.args.get("desc")), nulls_last(one))
        for place, one in zip(places, written, strict=True)
    )
    ordered = _ordered(rows, by, query, context)
    return project(ordered, ordered.edge.refs[:shown], ordered.edge.names[:shown])


# --- what rows are ordered by --------------------------------------------------------------------


def _places(
    rows: Node,
    written: Sequence[exp.Ordered],
    hidden: Sequence[exp.Ordered],
    shown: int,
    selected: Sequence[exp.Expression],
    context: Context,
) -> tuple[Node, list[int]]:
    """The rows, and the columns that they are ordered by. Of rows without repetitions, only what is
    `selected` can be among these.
    """
    binder = context.binder(Scope.of(rows.edge))
    values: list[Expression] = []
    for one in written:
        if is_position(one.this):
            values.append(rows.edge.ref(_position(one.this, shown)))
        elif hidden:
            place = next(number for number, other in enumerate(hidden) if other is one)
            values.append(rows.edge.ref(_first_like(rows, shown + place)))
        elif value_of(one.this) in selected:
            values.append(rows.edge.ref(selected.index(value_of(one.this))))
        else:
            values.append(binder.bind(one.this))
    return with_columns(rows, values)


def _selected(select: exp.Expression) -> list[exp.Expression]:
    """The values of SELECT DISTINCT, by their places in the rows."""
    if not isinstance(select, exp.Select):
        return []
    until_star = takewhile(lambda item: not item.is_star, select.expressions)
    return [value_of(item) for item in until_star]


def _first_like(rows: Node, place: int) -> int:
    """The first column with the same value as another one."""
    if not isinstance(rows, Project):
        return place
    return rows.expressions.index(rows.expressions[place])


def _position(literal: exp.Expression, shown: int) -> int:
    number = int(literal.this) if literal.this.isdecimal() else 0
    if not 1 <= number <= shown:
        raise PlanError(
            f"ORDER BY {literal.this} is not the number of a column",
            at=span_of(literal),
            notes={"columns": f"1 to {shown}"},
        )
    return number - 1


# --- the operator --------------------------------------------------------------------------------


def _ordered(
    rows: Node, order: tuple[WindowOrder, ...], query: exp.Expression, context: Context
) -> Node:
    limit, offset = (_number(query.args.get(clause)) for clause in ("limit", "offset"))
    if limit is None and not context.batch:
        if offset is not None:
            raise _offset_without_limit(query)
        return _by_time(rows, order, query)
    low = 1 + (offset or 0)
    high = None if limit is None else low - 1 + limit
    return first_rows(rows, (), order, (low, high), context, ranked=False)


def _number(clause: exp.Expression | None) -> int | None:
    return None if clause is None else int(clause.expression.this)


def _offset_without_limit(query: exp.Expression) -> PlanError:
    return PlanError(
        "OFFSET on a stream requires LIMIT or FETCH",
        at=span_of(query.args["offset"]),
        notes={"why": "all rows after the first ones would have to be kept (same in Flink)"},
        hint="add LIMIT",
    )


def _by_time(rows: Node, order: tuple[WindowOrder, ...], query: exp.Expression) -> Node:
    """The rows of a stream in the order of their times."""
    at = span_of(query.args["order"])
    first = order[0]
    time = None if first.descending else rows.edge.columns[first.column].time
    if time is None:
        raise PlanError(
            "a stream can only be sorted by a time attribute, ascending",
            at=at,
            notes={"why": "rows that belong before others may still come (same in Flink)"},
            hint=f"add LIMIT, or SET '{RUNTIME_MODE}' = 'batch'",
        )
    if rows.edge.changes:
        raise PlanError(
            "a stream can only be sorted if its rows are not updated or deleted",
            at=at,
            notes={"why": "what was emitted in order could not be taken back (same in Flink)"},
            hint="add LIMIT",
        )
    # In processing time, rows come in order.
    return rows if time == "processing" else SortByTime(rows, first.column, order[1:])
