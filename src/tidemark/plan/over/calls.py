"""The functions before OVER: aggregates, ranks and values of other rows."""

from __future__ import annotations

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.functions import over
from tidemark.functions.registry import Function
from tidemark.kernels.over.spec import RANKS, SHIFTS, OverFrame
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import Columns, aggregate_of, bind_call
from tidemark.plan.constants import integer_of
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import AggregateCall, OverFunction
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conversions import apply, convert


def bind_function(
    window: exp.Window, frame: OverFrame, binder: Binder, columns: Columns
) -> OverFunction:
    """What is called, with columns as arguments."""
    called = without_nulls_clause(window.this)
    only_over = over.lookup(called.name) if isinstance(called, exp.Anonymous) else None
    if only_over is not None:
        return _of_rows(only_over, called, window, binder, columns)
    if aggregate_of(called, binder.catalogs) is None:
        raise PlanError(
            "OVER requires an aggregate function, a rank, LAG or LEAD",
            at=span_of(called),
            hint="write SUM(...) OVER (...)",
        )
    # Flink's type says that a frame may be without rows wherever a distance bounds it.
    some = not frame.start and not frame.end
    return OverFunction(bind_call(called, binder, columns, some=some, retracts=False), frame)


def without_nulls_clause(called: exp.Expression) -> exp.Expression:
    """The call of a function before OVER, whose RESPECT NULLS says what LAG and LEAD do anyway."""
    if isinstance(called, exp.RespectNulls) and called.this.name.upper() in SHIFTS:
        call: exp.Expression = called.this
        return call
    if isinstance(called, exp.IgnoreNulls | exp.RespectNulls):
        raise unsupported.NULLS_CLAUSE.error(span_of(called))
    return called


def _of_rows(
    function: Function,
    called: exp.Expression,
    window: exp.Window,
    binder: Binder,
    columns: Columns,
) -> OverFunction:
    """A function that goes by the place of the row."""
    spec, order = window.args.get("spec"), window.args.get("order")
    if spec is not None:
        raise PlanError(
            f"ROWS and RANGE are not allowed with {function.name}",
            at=span_of(spec),
            hint=f"leave them out: {function.name} does not depend on a frame",
        )
    if order is None:
        raise PlanError(
            f"{function.name} requires ORDER BY in its window",
            at=span_of(window),
            hint="write OVER (PARTITION BY ... ORDER BY ...)",
        )
    if any(isinstance(argument, exp.Star | exp.Distinct) for argument in called.expressions):
        raise PlanError(f"{function.name} does not accept `*` or DISTINCT", at=span_of(called))
    applied = apply(function, binder.bind_all(called.expressions), called)
    name, distance, arguments = function.name, 1, applied.args
    if name in SHIFTS:
        name, distance, arguments = _shift(name, applied.args, called)
    elif name not in RANKS and arguments:
        distance, arguments = _constant(arguments[0], called.expressions[0], least=1), ()
    call = AggregateCall(name, tuple(columns.add(one) for one in arguments), applied.type)
    return OverFunction(call, OverFrame(), distance)


def _shift(
    name: str, args: tuple[Expression, ...], called: exp.Expression
) -> tuple[str, int, tuple[Expression, ...]]:
    """LAG and LEAD with their distance; a negative one looks in the other direction."""
    distance = 1 if len(args) < 2 else _constant(args[1], called.expressions[1])
    if distance < 0:
        name, distance = ("LEAD" if name == "LAG" else "LAG"), -distance
    return name, distance, (args[0], *(_default(args[0], one) for one in args[2:]))


def _default(value: Expression, default: Expression) -> Expression:
    """The default with the value's precision and scale. As in Flink, strings keep their length."""
    if isinstance(value.type, t.CHARACTERS) and isinstance(default.type, t.CHARACTERS):
        return default
    return convert(default, value.type)


def _constant(value: Expression, written: exp.Expression, least: int | None = None) -> int:
    found = integer_of(value)
    if found is None or (least is not None and found < least):
        what = "a constant integer" if least is None else "a constant, positive integer"
        raise PlanError(
            f"this must be {what}", at=span_of(written), hint="write a number, such as 2"
        )
    return found


def is_only_over(node: exp.Expression) -> bool:
    """Whether a function is called that requires OVER."""
    is_call = isinstance(node, exp.Anonymous) and not isinstance(node, nodes.QualifiedCall)
    return is_call and over.lookup(node.name) is not None
