"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.ts BETWEEN R.ts - ... AND R.ts + ...`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import nodes, span_of
from tidemark.durations import parse_duration
from tidemark.errors import NotSupported, PlanError
from tidemark.plan import relations
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.joins import regular
from tidemark.plan.joins.interval_bounds import Bound, Bounds, Interval, joined
from tidemark.plan.joins.keys import key_pair, nullable_scope
from tidemark.plan.joins.sides import How, JoinSides
from tidemark.plan.nodes import Edge, IntervalJoin, Node
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import InnerFirst, Scope

HALF_WIDTH = "half-width"
_WIDE_MS = 24 * 3_600_000


def bind_interval_join(
    left: relations.Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> relations.Relation:
    """The pairs of rows whose times lie within bounds of each other."""
    how = _HOW.get((join.args.get("side") or "INNER").upper())
    if join.args.get("using") or how is None or join.args.get("method"):
        raise regular.unbounded(join)
    right = relations.bind_relation(join.this, context)
    parts = flattened(join.args["on"]) if join.args.get("on") is not None else []
    matched = _Condition.of(parts, where if how == "inner" else None, left, right, context)
    interval = joined(matched.bounds)
    if interval is None:
        if matched.bounds:
            raise regular.one_sided(matched.bounds, left.scope, right.scope)
        raise regular.unbounded(join)
    _check_inserts(left.node, right.node, join)
    _give_advice(interval, matched, left.node.edge, right.node.edge, context)
    bound = _joined(left.node, right.node, interval, matched, how, context)
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return relations.Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


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


def bind_sub_query(left: relations.Relation, sub: SubQuery, context: Context) -> relations.Relation:
    """The rows of `left` that have, or do not have, a row of the sub-query near them in time."""
    start, where = sub.query.args.get("from_"), sub.query.args.get("where")
    if start is None or where is None:
        raise _unbounded(sub)
    if sub.compared and sub.how == "anti":
        raise NotSupported(
            "NOT IN with a sub-query cannot be run yet",
            at=span_of(sub.node) or span_of(sub.compared[0]),
            notes={"why": "where nulls may be compared it is true of no row for certain"},
            hint="use NOT EXISTS",
        )
    right = relations.bind_relation(start.this, context)
    selected = sub.query.expressions[: len(sub.compared)]
    equal = [exp.EQ(this=a, expression=b) for a, b in zip(sub.compared, selected, strict=True)]
    scope = InnerFirst(left.scope, right.scope)
    matched = _Condition.of([*equal, *flattened(where.this)], None, left, right, context, scope)
    interval = joined(matched.bounds)
    if interval is None:
        if matched.bounds:
            raise regular.one_sided(matched.bounds, left.scope, right.scope)
        raise _unbounded(sub)
    _check_inserts(left.node, right.node, sub.node)
    _give_advice(interval, matched, left.node.edge, right.node.edge, context)
    bound = _joined(left.node, right.node, interval, matched, sub.how, context)
    return relations.Relation(bound, left.scope)


def _unbounded(sub: SubQuery) -> NotSupported:
    return NotSupported(
        "IN, EXISTS, ANY or ALL with a sub-query cannot be run yet",
        at=span_of(sub.node) or span_of(sub.query),
        notes={"why": "it keeps all rows for ever, and its operator is not there yet"},
        hint="bound the times of both queries: ... AND r.ts BETWEEN l.ts AND l.ts + INTERVAL ...",
    )


# --- the condition -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Condition:
    """What the condition asks for: equal keys, near times, and the rest."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    nulls_equal: tuple[bool, ...]
    bounds: list[Bound]
    rest: tuple[tuple[Expression, exp.Expression], ...]

    @classmethod
    def of(
        cls,
        parts: Sequence[exp.Expression],
        where: exp.Expression | None,
        left: relations.Relation,
        right: relations.Relation,
        context: Context,
        scope: Scope | None = None,
    ) -> _Condition:
        binder = context.binder(scope or left.scope + right.scope)
        width = len(left.node.edge.columns)
        reader = Bounds(left.node.edge, right.node.edge)
        keys: list[tuple[Expression, Expression, bool]] = []
        bounds: list[Bound] = []
        rest: list[tuple[Expression, exp.Expression]] = []
        for part in parts:
            bound = binder.condition(part, "ON")
            near = reader.read(bound, part)
            pair = None
            if near is not None:
                bounds.append(near)
            elif isinstance(part, exp.EQ | exp.NullSafeEQ):
                pair = key_pair(binder.bind(part.this), binder.bind(part.expression), width, part)
            if pair is not None:
                keys.append((*pair, isinstance(part, exp.NullSafeEQ)))
            elif near is None:
                rest.append((bound, part))
        for part, bound in _bindable(where, binder):
            # Those of WHERE are tested above the join too: here they only tell what may match.
            near = reader.read(bound, part)
            if near is not None:
                bounds.append(near)
            elif isinstance(part, exp.EQ):
                pair = key_pair(binder.bind(part.this), binder.bind(part.expression), width, part)
                keys += [(*pair, False)] if pair is not None else []
        return cls(
            tuple(key[0] for key in keys),
            tuple(key[1] for key in keys),
            tuple(key[2] for key in keys),
            bounds,
            tuple(rest),
        )


def _bindable(
    where: exp.Expression | None, binder: Binder
) -> Iterator[tuple[exp.Expression, Expression]]:
    """The parts of a WHERE that speak of these two tables only."""
    for part in flattened(where) if where is not None else ():
        try:
            yield part, binder.bind(part)
        except (PlanError, NotSupported):
            continue  # it is bound again where all tables are in sight


# --- what can be said while planning ------------------------------------------------------------


def _check_inserts(left: Node, right: Node, join: exp.Expression) -> None:
    for side, node in (("left", left), ("right", right)):
        if node.edge.changelog is not Changelog.APPEND:
            raise PlanError(
                f"an interval join takes append-only inputs, and its {side} side is a changelog "
                "with updates and deletes",
                at=span_of(join),
                notes={"changelog": node.edge.changelog.value},
                hint="join before the rows are updated, or use a temporal join",
            )


def _give_advice(
    interval: Interval, matched: _Condition, left: Edge, right: Edge, context: Context
) -> None:
    names = f"{left.columns[interval.left].name} and {right.columns[interval.right].name}"
    width = interval.upper - interval.lower
    if width < 0:
        context.warn(f"the bounds of {names} exclude each other: no two rows can match")
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
            f"say: 'table.exec.state.ttl' does not shorten that, in Flink neither"
        )
    if not matched.left:
        context.warn(
            f"the interval join over {names} has no equality: all its rows go to one bucket"
        )


# --- the join ----------------------------------------------------------------------------------


def _joined(
    left: Node,
    right: Node,
    interval: Interval,
    matched: _Condition,
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
        edge=sides.edge,
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
