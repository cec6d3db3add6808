"""Two projections in a row as one, where no expression would run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tidemark.plan.expressions import (
    Call,
    Case,
    Cast,
    Expression,
    FieldAccess,
    Literal,
    Ref,
    UserCall,
    walk,
)


def fused(outer: Sequence[Expression], inner: Sequence[Expression]) -> list[Expression] | None:
    """`outer`, which reads what `inner` makes, over the input of `inner`.

    None where an expression is wanted more than once: it may be dear, or random.
    """
    uses = Counter(
        part.index for expression in outer for part in walk(expression) if isinstance(part, Ref)
    )
    if any(count > 1 and not isinstance(inner[i], Ref | Literal) for i, count in uses.items()):
        return None
    return [_substituted(expression, inner) for expression in outer]


def _substituted(expression: Expression, values: Sequence[Expression]) -> Expression:
    """The expression with `values` in the place of its columns."""
    match expression:
        case Ref(index=index):
            return values[index]
        case Call(args=args) | UserCall(args=args):
            return replace(expression, args=tuple(_substituted(arg, values) for arg in args))
        case Cast(operand=operand) | FieldAccess(operand=operand):
            return replace(expression, operand=_substituted(operand, values))
        case Case(branches=branches, default=default):
            return replace(
                expression,
                branches=tuple(
                    (_substituted(condition, values), _substituted(value, values))
                    for condition, value in branches
                ),
                default=_substituted(default, values),
            )
        case _:
            return expression
