"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.ts BETWEEN R.ts - ... AND R.ts + ...`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.durations import parse_duration
from tidemark.errors import NotSupported, PlanError
from tidemark.plan import relations
from tidemark.plan.conditions import flattened
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, over
from tidemark.plan.interval_bounds import Bound, Bounds, Interval, joined
from tidemark.plan.join_keys import key_pair, nullable_scope, with_keys
from tidemark.plan.nodes import Column, Edge, Filter, IntervalJoin, Node
from tidemark.plan.pair_conditions import both, prepared
from tidemark.plan.projection import project
from tidemark.plan.scalars import Binder
from tidemark.plan.scope import Scope

How = Literal["inner", "left", "right", "full", "semi", "anti"]

HALF_WIDTH = "half-width"
_WIDE_MS = 24 * 3_600_000


def bind_interval_join(
    left: relations.Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> relations.Relation:
    """The pairs of rows whose times lie within bounds of each other."""
    how = _HOW.get((join.args.get("side") or "INNER").upper())
    if join.args.get("using") or how is None or join.args.get("method"):
        raise _regular(join)
    right = relations.bind_relation(join.this, context)
    matched = _Condition.of(join, where if how == "inner" else None, left, right, context)
    interval = joined(matched.bounds)
    if interval is None:
        raise _regular(join, matched.bounds)
    _check_inserts(left.node, right.node, join)
    _give_advice(interval, matched, left.node.edge, right.node.edge, context)
    bound = _joined(left.node, right.node, interval, matched, how, context)
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return relations.Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


_HOW: dict[str, How] = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}


def _regular(join: exp.Join, bounds: list[Bound] | None = None) -> NotSupported:
    if bounds:
        hint = "add the other bound: times are bounded from below and from above"
    else:
        hint = (
            "bound the times: ... AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts "
            "makes it an interval join"
        )
    return NotSupported(
        "a join cannot be run yet",
        at=span_of(join) if join.args.get("on") is not None else span_of(join.this),
        notes={
            "why": "without bounds on how far the time attributes of its sides may be apart it "
            "keeps all rows for ever, and the operator for that is not there yet"
        },
        hint=hint,
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
        join: exp.Join,
        where: exp.Expression | None,
        left: relations.Relation,
        right: relations.Relation,
        context: Context,
    ) -> _Condition:
        binder = context.binder(left.scope + right.scope)
        width = len(left.node.edge.columns)
        reader = Bounds(left.node.edge, right.node.edge)
        keys: list[tuple[Expression, Expression, bool]] = []
        bounds: list[Bound] = []
        rest: list[tuple[Expression, exp.Expression]] = []
        on = join.args.get("on")
        for part in flattened(on) if on is not None else ():
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


def _check_inserts(left: Node, right: Node, join: exp.Join) -> None:
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
    widths = len(left.edge.columns), len(right.edge.columns)
    condition = None
    if matched.rest and how != "inner":
        tested = prepared(left, right, matched.rest)
        left, right, condition = tested.left, tested.right, tested.condition
    before = len(left.edge.columns)
    left, left_keys = with_keys(left, matched.left)
    right, right_keys = with_keys(right, matched.right)
    offset = len(left.edge.columns)
    if condition is not None:
        grown = offset - before
        condition = over(
            condition, lambda r: replace(r, index=r.index + grown if r.index >= before else r.index)
        )
    edge = _edge(left.edge, right.edge, how)
    joined_rows: Node = IntervalJoin(
        left=left,
        right=right,
        left_keys=left_keys,
        right_keys=right_keys,
        nulls_equal=matched.nulls_equal,
        left_time=interval.left,
        right_time=interval.right,
        lower_ms=interval.lower,
        upper_ms=interval.upper,
        how=how,
        condition=condition,
        slack_ms=_slack(context.interval_slack, interval),
        edge=edge,
    )
    kept = [*range(widths[0])]
    if how not in ("semi", "anti"):
        kept += range(offset, offset + widths[1])
    scope = Scope.of(edge)
    joined_rows = project(joined_rows, [scope.ref(i) for i in kept], [edge.names[i] for i in kept])
    if matched.rest and how == "inner":
        tests = [test for test, _ in matched.rest]
        joined_rows = Filter(joined_rows, reduce(both, tests), joined_rows.edge)
    return joined_rows


def _edge(left: Edge, right: Edge, how: How) -> Edge:
    bounded = left.bounded and right.bounded
    if how in ("semi", "anti"):
        return Edge(left.columns, Changelog.APPEND, (), bounded)
    return Edge(
        (
            *(_padded(column, how in ("right", "full")) for column in left.columns),
            *(_padded(column, how in ("left", "full")) for column in right.columns),
        ),
        Changelog.APPEND,
        (),
        bounded,
    )


def _padded(column: Column, padded: bool) -> Column:
    return replace(column, type=column.type.with_nullable(True)) if padded else column


def _slack(setting: str | None, interval: Interval) -> int:
    """How much longer rows are kept: `table.exec.interval-join.min-cleanup-interval`."""
    if setting is None:
        return 0
    if setting.lower() == HALF_WIDTH:
        return max(interval.upper - interval.lower, 0) // 2
    return parse_duration(setting)
