"""Keep-last deduplication: `ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) ... WHERE rn = 1`.

Over an append-only stream this is how a versioned table is declared as a view: its key is the
partition's and its time attribute the one it is ordered by, both inferred.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.dialect import nodes, span_of
from tidemark.errors import NotSupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Ref
from tidemark.plan.features import refuse_what_cannot_run
from tidemark.plan.nodes import Filter, KeepLast, Node
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.relations import bind_from
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import Scope
from tidemark.plan.select_list import project_select


@dataclass(frozen=True, slots=True)
class Deduplication:
    """The pattern as found in a SELECT: the inner query, its window, and the rest of WHERE."""

    subquery: exp.Subquery
    window: exp.Window
    rest: exp.Expression | None


def recognise(select: exp.Select) -> Deduplication | None:
    """The deduplication that the SELECT asks for, if it is one."""
    start, where = select.args.get("from_"), select.args.get("where")
    if start is None or where is None or select.args.get("joins"):
        return None
    subquery = start.this
    if not isinstance(subquery, exp.Subquery) or not isinstance(subquery.this, exp.Select):
        return None
    numbered = _row_number(subquery.this)
    if numbered is None:
        return None
    conjuncts = flattened(where.this)
    first = next((c for c in conjuncts if _is_first(c, numbered.alias)), None)
    if first is None:
        return None
    rest: exp.Expression | None = None
    for conjunct in conjuncts:
        if conjunct is not first:
            rest = conjunct if rest is None else exp.And(this=rest, expression=conjunct)
    return Deduplication(subquery, numbered.this, rest)


def _row_number(inner: exp.Select) -> exp.Alias | None:
    found = [
        item
        for item in inner.expressions
        if isinstance(item, exp.Alias)
        and isinstance(item.this, exp.Window)
        and item.this.this.name.upper() == "ROW_NUMBER"
    ]
    return found[0] if len(found) == 1 else None


def _is_first(condition: exp.Expression, name: str) -> bool:
    """`rn = 1`, `1 = rn` or `rn <= 1`, with the name qualified or not."""
    if not isinstance(condition, exp.EQ | exp.LTE):
        return False
    sides = [condition.this, condition.expression]
    if isinstance(condition, exp.EQ) and isinstance(sides[0], exp.Literal):
        sides.reverse()
    column, one = sides
    return (
        isinstance(column, exp.Column)
        and column.name == name
        and isinstance(one, exp.Literal)
        and not one.is_string
        and one.this == "1"
    )


def bind(found: Deduplication, context: Context) -> Relation:
    """What the outer SELECT sees: the inner columns, of each key the newest row only."""
    inner = found.subquery.this
    relation = bind_from(inner, context)
    binder = context.binder(relation.scope)
    node = relation.node
    where = inner.args.get("where")
    if where is not None:
        node = Filter(node, binder.condition(where.this, "WHERE"))
    node = _keep_last(found.window, relation.scope, node, context)
    plain = _without_window(inner)
    refuse_what_cannot_run(plain)
    rows = project_select(plain, replace(relation, node=node), context)
    return aliased(rows, found.subquery, ())


def _keep_last(window: exp.Window, scope: Scope, node: Node, context: Context) -> KeepLast:
    binder = context.binder(scope)
    if node.edge.changelog is not Changelog.APPEND:
        raise NotSupported("deduplication of a changelog", at=span_of(window))
    keys = [binder.bind(key) for key in window.args.get("partition_by") or ()]
    order = window.args.get("order")
    if not keys or order is None or len(order.expressions) != 1:
        raise NotSupported(
            "ROW_NUMBER() cannot be run yet without PARTITION BY and one ORDER BY column",
            at=span_of(window),
        )
    columns = [key.index for key in keys if isinstance(key, Ref)]
    if len(columns) != len(keys):
        raise NotSupported(
            "PARTITION BY an expression cannot be run yet",
            at=span_of(window),
            hint="compute the column in a sub-query below",
        )
    time = _descending_time(order.expressions[0], scope, node, context)
    return KeepLast(node, tuple(columns), time)


def _descending_time(ordered: exp.Ordered, scope: Scope, node: Node, context: Context) -> int:
    bound = context.binder(scope).bind(ordered.this)
    time = node.edge.columns[bound.index].time if isinstance(bound, Ref) else None
    if time is None:
        raise NotSupported(
            "ROW_NUMBER() cannot be run yet when ordered by something else than a time attribute",
            at=span_of(ordered),
            notes={"why": "Top-N is not there yet"},
        )
    if not ordered.args.get("desc"):
        raise NotSupported(
            "keeping the first row of each key cannot be run yet", at=span_of(ordered)
        )
    assert isinstance(bound, Ref)
    return bound.index


def _without_window(inner: exp.Select) -> exp.Select:
    """The inner SELECT with 1 for the row number, which is what all rows that are left have."""
    plain = inner.copy()
    numbered = _row_number(plain)
    assert numbered is not None
    one = exp.Cast(this=exp.Literal.number(1), to=nodes.TypeNode(type=t.BigInt(nullable=False)))
    numbered.set("this", one)
    return plain
