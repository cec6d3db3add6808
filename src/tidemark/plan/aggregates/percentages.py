"""The percentages of PERCENTILE(value, percentage): a literal, or an array of literals."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan.expressions import Call, Cast, Expression, Literal


def percentages_of(given: Expression, written: exp.Expression) -> tuple[float, ...]:
    """The numbers. Raises PlanError if they are not known, or not from 0 to 1 (same in Flink)."""
    found = _numbers(given)
    if not found or not all(0 <= one <= 1 for one in found):
        raise PlanError(
            "the percentage of PERCENTILE must be a literal from 0 to 1, or an array of those",
            at=span_of(written),
            hint="write PERCENTILE(x, 0.5) or PERCENTILE(x, ARRAY[0.25, 0.75])",
        )
    return found


def _numbers(given: Expression) -> tuple[float, ...]:
    """Empty if it is something else."""
    match given:
        case Cast(operand=operand, implicit=True) | Cast(operand=operand, type=t.Double()):
            return _numbers(operand)
        case Literal(value=bool()):
            return ()
        case Literal(value=int() | float() | Decimal() as value):
            return (float(value),)
        case Call(function=function, args=args) if function.name == "ARRAY":
            each = [_numbers(arg) for arg in args]
            return sum(each, ()) if all(len(one) == 1 for one in each) else ()
    return ()
