"""`L [LEFT] JOIN LATERAL SNAPSHOT(input => TABLE t, ...) AS s ON L.k = s.k`."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.dialect.keywords import SNAPSHOT
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Call, Cast, Expression, Literal
from tidemark.plan.joins import regular
from tidemark.plan.joins.bound import BoundJoin
from tidemark.plan.joins.conditions import Condition
from tidemark.plan.joins.sides import JoinSides
from tidemark.plan.joins.temporal import JoinType
from tidemark.plan.nodes import Node, PointInTime, SnapshotJoin
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.scope import Scope
from tidemark.plan.table_arguments import Arguments, arguments_of, column_of, input_of
from tidemark.plan.time_travel import constant_value

_TIME, _UNTIL, _IDLE, _TTL = (
    "on_time",
    "load_completed_time",
    "load_completed_idle_timeout",
    "state_ttl",
)
_ARGUMENTS: Final = ("input", _TIME, _UNTIL, _IDLE, _TTL)


def is_snapshot(relation: exp.Expression, context: Context) -> bool:
    """Whether it is SNAPSHOT(...), and no user's function has that name."""
    call = _called(relation)
    if not isinstance(call, nodes.TableFunction) or call.name.upper() != SNAPSHOT:
        return False
    if call.args.get("qualifier") or call.name.lower() in context.catalogs.temporal_functions:
        return False
    return context.catalogs.function(Name((call.name,))) is None


def refuse_alone(relation: exp.Expression) -> PlanError:
    """The error for SNAPSHOT that is not on the right of a join."""
    return PlanError(
        "SNAPSHOT is only allowed on the right of a join, after LATERAL",
        at=span_of(relation),
        hint="write FROM l JOIN LATERAL SNAPSHOT(input => TABLE t, on_time => DESCRIPTOR(ts)) AS s "
        "ON l.k = s.k",
    )


def bind_snapshot_join(
    left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> Relation:
    """The left rows, each with the rows that the table has when it arrives. In batch mode these are
    its final rows: it is a regular join.
    """
    call = _called(join.this)
    assert isinstance(call, nodes.TableFunction)
    if not isinstance(join.this, exp.Lateral):
        raise refuse_alone(join.this)
    arguments = arguments_of(call, _ARGUMENTS)
    rows = input_of(call, arguments, context, "which keeps rows by the keys of the join")
    bound = BoundJoin.of(left, join, where, context, right=aliased(rows, join.this, ()))
    until, idle_ms = _point_in_time(arguments, context), _milliseconds(arguments, _IDLE, context)
    ttl_ms = _milliseconds(arguments, _TTL, context)
    matched = _matched(bound)
    if context.batch:
        return regular.plan(bound, context)
    time = _time(call, arguments, rows)
    return _planned(bound, matched, time, until, idle_ms, ttl_ms)


def _called(relation: exp.Expression) -> exp.Expression:
    inner = relation.this if isinstance(relation, exp.Lateral) else relation
    assert isinstance(inner, exp.Expression)
    return inner


def _matched(join: BoundJoin) -> Condition:
    if join.how not in ("inner", "left"):
        raise unsupported.OUTER_SNAPSHOT_JOIN.error(span_of(join.at), join.how.upper())
    if join.left.node.edge.changes:
        raise PlanError(
            "the left side of a join with LATERAL SNAPSHOT must be append-only (same in Flink)",
            at=span_of(join.at),
            notes={"why": "a row that is retracted later would be joined with other rows"},
        )
    return Condition.of(join)


def _planned(
    join: BoundJoin,
    matched: Condition,
    time: int,
    until: PointInTime | None,
    idle_ms: int | None,
    ttl_ms: int | None,
) -> Relation:
    left, right, rest = join.left, join.right, (*matched.times, *matched.rest)
    how: JoinType = "left" if join.how == "left" else "inner"
    keys = matched.left, matched.right
    sides = JoinSides.of(left.node, right.node, keys, rest, how)
    joined = SnapshotJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=matched.nulls_equal,
        how=how,
        condition=sides.condition,
        right_time=time,
        load_until=until,
        load_idle_ms=idle_ms,
        hinted_ms=ttl_ms,
    )
    rows, visible = sides.finished(joined), (left.scope + right.scope).visible
    columns = zip(visible, rows.edge.columns, strict=True)
    return Relation(rows, Scope(replace(each, column=column) for each, column in columns))


# --- arguments ---------------------------------------------------------------------------------


def _time(call: nodes.TableFunction, arguments: Arguments, rows: Node) -> int:
    """The event time by which changes of the table are applied."""
    names = rows.edge.names
    times = [column.name for column in rows.edge.columns if column.time == "event"]
    column = column_of(arguments, _TIME, times[0] if times else "ts")
    if column is None:
        raise PlanError(
            f"SNAPSHOT requires the argument `{_TIME}` in a stream (same in Flink)",
            at=span_of(call),
            hint=f"write {_TIME} => DESCRIPTOR({times[0]})"
            if times
            else "declare a WATERMARK for a column of the table, and name that column",
        )
    if column.name not in names:
        raise PlanError(
            f"column `{column.name}` not found in the table",
            at=span_of(column),
            notes={"columns": ", ".join(names)},
            hint=did_you_mean(column.name, names),
        )
    place = names.index(column.name)
    if column.name not in times:
        raise PlanError(
            f"`{column.name}` is not an event time "
            f"(it is a plain {rows.edge.columns[place].type.text()})",
            at=span_of(column),
            hint="declare a WATERMARK for the column",
        )
    return place


def _point_in_time(arguments: Arguments, context: Context) -> PointInTime | None:
    written = arguments.get(_UNTIL)
    if written is None:
        return None
    bound = context.binder(Scope()).bind(written)
    match bound:
        case Cast(operand=operand, type=t.TimestampLtz()):
            bound = operand
        case Call(function=function, args=args) if function.name == "TO_TIMESTAMP_LTZ":
            return PointInTime(epoch_ms=_epoch_ms(args, written))
    value = constant_value(bound)
    if not isinstance(value, dt.datetime):
        raise _not_constant(_UNTIL, written, "TIMESTAMP '2026-07-01 00:00:00'")
    return PointInTime(clock=value)


def _epoch_ms(args: tuple[Expression, ...], written: exp.Expression) -> int:
    """The value of TO_TIMESTAMP_LTZ of a number and a precision."""
    plain = [one.operand if isinstance(one, Cast) else one for one in args]
    values = [one.value for one in plain if isinstance(one, Literal) and isinstance(one.value, int)]
    if len(values) != len(args) or values[1:] not in ([], [0], [3]):
        raise _not_constant(_UNTIL, written, "TO_TIMESTAMP_LTZ(1782864000000, 3)")
    return values[0] * (1000 if values[1:] == [0] else 1)


def _milliseconds(arguments: Arguments, key: str, context: Context) -> int | None:
    written = arguments.get(key)
    if written is None:
        return None
    bound = context.binder(Scope()).bind(written)
    if not isinstance(bound, Literal) or not isinstance(bound.type, t.DayTimeInterval):
        raise _not_constant(key, written, "INTERVAL '10' SECOND")
    if bound.value < 0:
        raise PlanError(
            f"the argument `{key}` must not be negative (same in Flink)", at=span_of(written)
        )
    return int(bound.value)


def _not_constant(key: str, written: exp.Expression, example: str) -> PlanError:
    kind = "point in time" if key == _UNTIL else "interval of days to seconds"
    return PlanError(
        f"the argument `{key}` must be a constant {kind}",
        at=span_of(written),
        hint=f"write {key} => {example}",
    )
