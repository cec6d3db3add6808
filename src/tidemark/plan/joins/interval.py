"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.ts BETWEEN R.ts - ... AND R.ts + ...`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Literal

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.durations import parse_duration
from tidemark.errors import NotSupported
from tidemark.plan.context import Context
from tidemark.plan.features import refuse
from tidemark.plan.joins import regular
from tidemark.plan.joins.conditions import Condition
from tidemark.plan.joins.interval_bounds import Interval, joined
from tidemark.plan.joins.keys import nullable_scope
from tidemark.plan.joins.sides import JoinSides
from tidemark.plan.nodes import Edge, How, IntervalJoin, Node
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import InnerFirst

HALF_WIDTH = "half-width"
_WIDE_MS = 24 * 3_600_000


def bind_join(
    left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> Relation:
    """The pairs of rows whose times lie within bounds of each other; without bounds, or where a
    side is a changelog, a regular join."""
    how = _HOW.get((join.args.get("side") or "INNER").upper())
    if join.args.get("using") or how is None or join.args.get("method"):
        raise regular.without_condition(join)
    right = context.bind_relation(join.this)
    parts = flattened(join.args["on"]) if join.args.get("on") is not None else []
    matched = Condition.of(parts, where if how == "inner" else None, left, right, context)
    at = join if join.args.get("on") is not None else join.this
    return _bound(left, right, matched, how, at, context)


def _bound(
    left: Relation,
    right: Relation,
    matched: Condition,
    how: How,
    at: exp.Expression,
    context: Context,
) -> Relation:
    interval = joined(matched.bounds)
    if interval is None or left.node.edge.changes or right.node.edge.changes:
        return regular.bind_regular_join(left, right, matched, interval, how, at, context)
    _give_advice(interval, matched, left.node.edge, right.node.edge, context)
    bound = _joined(left.node, right.node, interval, matched, how, context)
    if how in ("semi", "anti"):
        return Relation(bound, left.scope)
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


_HOW: dict[str, How] = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}


# --- EXISTS and IN -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A part of WHERE that asks whether a sub-query has a row for the row at hand."""

    node: exp.Expression
    query: exp.Select
    compared: tuple[exp.Expression, ...]  # with what the sub-query selects
    how: Literal["semi", "anti"]


def take_sub_queries(select: exp.Select) -> tuple[exp.Select, tuple[SubQuery, ...]]:
    """The SELECT without the parts of WHERE that are EXISTS, NOT EXISTS or IN, and these parts."""
    where = select.args.get("where")
    parts = flattened(where.this) if where is not None else []
    found = {index: sub for index, part in enumerate(parts) if (sub := _sub_query(part))}
    if not found:
        return select, ()
    plain = select.copy()
    rest = [part.copy() for index, part in enumerate(parts) if index not in found]
    plain.set("where", exp.Where(this=reduce(_and, rest)) if rest else None)
    return plain, tuple(found.values())


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)


def _sub_query(part: exp.Expression) -> SubQuery | None:
    inner = part.this if isinstance(part, exp.Not | exp.Paren) else part
    negated = isinstance(part, exp.Not)
    if isinstance(inner, exp.Exists):
        query, compared = inner.this, tuple[exp.Expression, ...]()
    elif isinstance(inner, exp.In) and inner.args.get("query") is not None:
        query, compared = inner.args["query"], (nodes.OuterValue(this=inner.this),)
    else:
        return None
    query = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(query, exp.Select) or any(query.args.get(key) for key in _NOT_PLAIN):
        return None
    return SubQuery(part, query, compared, "anti" if negated else "semi")


_NOT_PLAIN = ("with_", "joins", "group", "having", "distinct", "order", "limit", "offset")


def bind_sub_query(left: Relation, sub: SubQuery, context: Context) -> Relation:
    """The rows of `left` that have, or do not have, a row of the sub-query near them in time."""
    start, where = sub.query.args.get("from_"), sub.query.args.get("where")
    if start is None:
        refuse("a subquery without FROM", "there are no rows to compare with", sub.query)
    if sub.compared and sub.how == "anti":
        raise NotSupported(
            "NOT IN with a subquery is not supported yet",
            at=span_of(sub.node) or span_of(sub.compared[0]),
            notes={"why": "with NULLs among the values it is never true"},
            hint="use NOT EXISTS",
        )
    right = context.bind_relation(start.this)
    selected = sub.query.expressions[: len(sub.compared)]
    equal = [exp.EQ(this=a, expression=b) for a, b in zip(sub.compared, selected, strict=True)]
    parts = [*equal, *(flattened(where.this) if where is not None else [])]
    scope = InnerFirst(left.scope, right.scope)
    matched = Condition.of(parts, None, left, right, context, scope)
    at = sub.node if span_of(sub.node) is not None else sub.query
    return _bound(left, right, matched, sub.how, at, context)


# --- what can be said while planning ------------------------------------------------------------


def _give_advice(
    interval: Interval, matched: Condition, left: Edge, right: Edge, context: Context
) -> None:
    names = f"{left.columns[interval.left].name} and {right.columns[interval.right].name}"
    width = interval.upper - interval.lower
    if width < 0:
        context.warn(f"the bounds of {names} exclude each other, so no rows can match")
    if width > _WIDE_MS:
        seconds = width // 1000
        context.warn(
            f"the bounds of {names} are {width / 3_600_000:g} hours wide: at one row a second and "
            f"side the interval join keeps about {seconds:,} rows"
        )
    kept = max(interval.upper, -interval.lower, 0)
    if 0 < context.state_ttl_ms < kept:
        context.warn(
            f"the interval join over {names} keeps rows for {kept / 1000:,.10g} s, as its bounds "
            f"say: 'table.exec.state.ttl' does not shorten this (same in Flink)"
        )
    if not matched.left:
        context.warn(
            f"the interval join over {names} has no equality: all its rows go to one key group"
        )


# --- the join ----------------------------------------------------------------------------------


def _joined(
    left: Node,
    right: Node,
    interval: Interval,
    matched: Condition,
    how: How,
    context: Context,
) -> Node:
    sides = JoinSides.of(left, right, (matched.left, matched.right), matched.rest, how)
    by_clock = left.edge.columns[interval.left].time == "processing"
    joined_rows = IntervalJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=matched.nulls_equal,
        left_time=interval.left,
        right_time=interval.right,
        lower_ms=interval.lower,
        upper_ms=interval.upper,
        how=how,
        condition=sides.condition,
        slack_ms=_slack(context.interval_slack, interval),
        drops_late=context.interval_drops_late
        and (how, by_clock, any(matched.nulls_equal)) == ("inner", False, False),
    )
    return sides.finished(joined_rows)


def _slack(setting: str | None, interval: Interval) -> int:
    """How much longer rows are kept: `table.exec.interval-join.min-cleanup-interval`."""
    if setting is None:
        return 0
    if setting.lower() == HALF_WIDTH:
        return max(interval.upper - interval.lower, 0) // 2
    return parse_duration(setting)
