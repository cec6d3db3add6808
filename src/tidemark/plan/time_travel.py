"""`FOR SYSTEM_TIME AS OF` a point in time: a table as it was then."""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import replace

from sqlglot import exp

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.dialect import span_of
from tidemark.dialect.statements import NOWHERE, Option
from tidemark.errors import PlanError, SqlError
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Call, Cast, Expression, Literal
from tidemark.plan.features import is_time_travel
from tidemark.plan.scope import Scope


def travelled(table: Table, relation: exp.Expression, context: Context) -> Table:
    """The table with the time at which it is read, if that is asked for."""
    if not is_time_travel(relation):
        return table
    option = context.traits(table, "read").time_travel
    if option is None:
        raise unsupported.TIME_TRAVEL.error(span_of(relation))
    time = _constant(relation.args["as_of"], context)
    # It is a time of clocks in the session's zone, as in Flink. The connector knows the zone.
    given = Option(option, time.isoformat(" "), NOWHERE)
    others = tuple(one for one in table.options if one.key != option)
    return replace(table, options=(*others, given))


def refuse_time_travel(relation: exp.Expression) -> None:
    """The error for anything but a table (same in Flink)."""
    if is_time_travel(relation):
        raise PlanError(
            "only a table can be read as it was at a point in time, not a view or a subquery",
            at=span_of(relation),
            notes={"why": "nothing else keeps versions (same in Flink)"},
        )


def _constant(time: exp.Expression, context: Context) -> dt.datetime:
    try:
        found = constant_value(context.binder(Scope(())).bind(time))
    except SqlError as problem:
        raise _not_constant(time) from problem
    if not isinstance(found, dt.datetime):
        raise _not_constant(time)
    return found


def constant_value(expression: Expression) -> object:
    """The value of a TIMESTAMP, and of one with an interval added or taken away."""
    match expression:
        case Literal(value=value, type=t.Timestamp() | t.DayTimeInterval() | t.YearMonthInterval()):
            return value
        case Cast(operand=operand, type=t.Timestamp(), implicit=True):
            return constant_value(operand)
        case Call(function=function, args=(left, right)) if function.name in ("+", "-"):
            return _moved(left, right, 1 if function.name == "+" else -1)
    return None


def _moved(left: Expression, right: Expression, sign: int) -> object:
    if not isinstance(left.type, t.Timestamp):
        left, right = right, left
    time, interval = constant_value(left), constant_value(right)
    if not isinstance(time, dt.datetime) or not isinstance(interval, int):
        return None
    if isinstance(right.type, t.DayTimeInterval):
        return time + sign * dt.timedelta(milliseconds=interval)
    months = time.year * 12 + time.month - 1 + sign * interval
    year, month = divmod(months, 12)
    day = min(time.day, calendar.monthrange(year, month + 1)[1])
    return time.replace(year=year, month=month + 1, day=day)


def _not_constant(time: exp.Expression) -> PlanError:
    return PlanError(
        "FOR SYSTEM_TIME AS OF requires a TIMESTAMP that is known while planning",
        at=span_of(time),
        hint="write TIMESTAMP '2024-05-01 12:00:00', maybe plus or minus an INTERVAL",
    )
