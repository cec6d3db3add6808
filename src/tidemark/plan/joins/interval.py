"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.ts BETWEEN R.ts - ... AND R.ts + ...`."""

from __future__ import annotations

from tidemark.durations import parse_duration
from tidemark.plan.context import Context
from tidemark.plan.joins.bound import BoundJoin
from tidemark.plan.joins.conditions import Condition
from tidemark.plan.joins.interval_bounds import Interval
from tidemark.plan.joins.keys import nullable_scope
from tidemark.plan.joins.sides import JoinSides
from tidemark.plan.nodes import Edge, IntervalJoin, Node
from tidemark.plan.relation import Relation

HALF_WIDTH = "half-width"
_WIDE_MS = 24 * 3_600_000


def applies(join: BoundJoin) -> bool:
    """Whether times are bounded from both sides, and no row is retracted."""
    changes = join.left.node.edge.changes or join.right.node.edge.changes
    return Condition.of(join).interval is not None and not changes


def plan(join: BoundJoin, context: Context) -> Relation:
    """The pairs of rows whose times are within bounds of each other."""
    left, right, how = join.left, join.right, join.how
    matched = Condition.of(join)
    interval = matched.interval
    assert interval is not None
    _give_advice(interval, matched, left.node.edge, right.node.edge, context)
    bound = _joined(join, interval, matched, context)
    if how in ("semi", "anti"):
        return Relation(bound, left.scope)
    how = join.padded_as or how
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


# --- hints and warnings ------------------------------------------------------------------------


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
            f"the interval join over {names} keeps rows for {kept / 1000:,.10g} s because of its "
            "bounds; 'table.exec.state.ttl' does not shorten this (same in Flink)"
        )
    if not matched.left:
        context.warn(
            f"the interval join over {names} has no equality: all its rows go to one key group"
        )


# --- the join ----------------------------------------------------------------------------------


def _joined(join: BoundJoin, interval: Interval, matched: Condition, context: Context) -> Node:
    left, right, how = join.left.node, join.right.node, join.how
    sides = JoinSides.of(left, right, (matched.left, matched.right), matched.rest, how)
    processing_time = left.edge.columns[interval.left].time == "processing"
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
        padded_as=join.padded_as,
        condition=sides.condition,
        slack_ms=_slack(context.interval_slack, interval),
        drops_late=context.interval_drops_late
        and (how, processing_time, any(matched.nulls_equal)) == ("inner", False, False),
    )
    return sides.finished(joined_rows)


def _slack(setting: str | None, interval: Interval) -> int:
    """How much longer rows are kept: `table.exec.interval-join.min-cleanup-interval`."""
    if setting is None:
        return 0
    if setting.lower() == HALF_WIDTH:
        return max(interval.upper - interval.lower, 0) // 2
    return parse_duration(setting)
