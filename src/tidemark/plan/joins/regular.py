"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k`: joins without time bounds, or with too few."""

from __future__ import annotations

from dataclasses import replace

from tidemark.catalog.options import STATE_TTL
from tidemark.dialect.keywords import needs_quotes
from tidemark.plan.context import Context
from tidemark.plan.joins import window
from tidemark.plan.joins.bound import BoundJoin
from tidemark.plan.joins.conditions import Condition
from tidemark.plan.joins.interval_bounds import Bound, Interval
from tidemark.plan.joins.sides import JoinSides
from tidemark.plan.nodes import Node, RegularJoin
from tidemark.plan.relation import Relation
from tidemark.plan.scope import Scope
from tidemark.types import quote_name


def applies(join: BoundJoin) -> bool:
    return True


def plan(join: BoundJoin, context: Context) -> Relation:
    """The pairs of rows with equal keys, as long as neither has been retracted."""
    window.warn_if_almost(join, context)
    left, right, how = join.left, join.right, join.how
    matched = Condition.of(join)
    why = _why(matched, matched.interval)
    ttls = join.hinted_ms()
    bound = _joined(join, matched, why, ttls, context)
    if not bound.edge.bounded and not context.state_ttl_ms:
        _give_advice(matched, left, right, ttls, context)
    one_sided = how in ("semi", "anti")
    visible = left.scope.visible if one_sided else (left.scope + right.scope).visible
    named = zip(visible, bound.edge.columns, strict=True)
    return Relation(bound, Scope(replace(v, column=column) for v, column in named))


def _joined(
    join: BoundJoin,
    matched: Condition,
    why: str,
    hinted_ms: tuple[int | None, int | None],
    context: Context,
) -> Node:
    rest = (*matched.times, *matched.rest)
    known = tuple(one.part for one in join.where)
    sides = JoinSides.of(
        join.left.node, join.right.node, (matched.left, matched.right), rest, join.how, known
    )
    joined = RegularJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=matched.nulls_equal,
        how=join.how,
        padded_as=join.padded_as,
        number=join.number,
        condition=sides.condition,
        why=why,
        at_end=context.batch,
        hinted_ms=hinted_ms,
    )
    return sides.finished(joined)


# --- warnings --------------------------------------------------------------------------------


def _why(matched: Condition, interval: Interval | None) -> str:
    """Why it is not an interval join, if it looks like one; otherwise empty."""
    if interval is not None:
        return "over a changelog, time bounds do not expire rows"
    return "times are bounded on one side only" if matched.bounds else ""


def _give_advice(
    matched: Condition,
    left: Relation,
    right: Relation,
    hinted_ms: tuple[int | None, int | None],
    context: Context,
) -> None:
    forever = [side for side, ttl in zip(("left", "right"), hinted_ms, strict=True) if ttl is None]
    if not forever:
        return  # hints say so
    kept = "both sides" if len(forever) == 2 else f"the {forever[0]} side"
    hint = ""
    if not (left.node.edge.changes or right.node.edge.changes):
        hint = ", or bound the times of both sides"
        if matched.bounds:
            missing = _other_bound(matched.bounds[0], left.scope, right.scope)
            hint = f", or add AND {missing} to make it an interval join"
    context.warn(
        f"this join keeps all rows of {kept} forever: SET '{STATE_TTL}' = '1 d' to expire rows "
        f"a day after they were written{hint}"
    )


def _other_bound(bound: Bound, left: Scope, right: Scope) -> str:
    """The missing time bound, as it could be written in the query."""
    mine, theirs = _name(left, bound.left), _name(right, bound.right)
    if bound.lower is not None:
        return f"{theirs} <= {mine} + INTERVAL '1' HOUR"
    return f"{theirs} >= {mine} - INTERVAL '1' HOUR"


def _name(scope: Scope, place: int) -> str:
    visible = scope.visible[place]
    parts = [*visible.table[-1:], visible.column.name]
    return ".".join(quote_name(part) if needs_quotes(part) else part for part in parts)
