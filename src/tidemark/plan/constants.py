"""Constants that are written as small computations: `1 + 1`, `CAST(2 AS BIGINT)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from tidemark import types as t
from tidemark.plan.expressions import Call, Cast, Expression, Literal

_ARITHMETIC: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
# Beyond it, sums of INT wrap around.
_LARGEST: Final = 2**31 - 1


def integer_of(expression: Expression) -> int | None:
    """The integer that it is, whatever the row; None if it is not constant, or not an INT."""
    match expression:
        case Literal(value=bool()):
            return None
        case Literal(value=int() as value, type=type_) if isinstance(type_, t.INTEGERS):
            return value
        case Cast(operand=operand, type=t.Int() | t.BigInt()):
            given = integer_of(operand)
            return given if given is not None and abs(given) <= _LARGEST else None
        case Call(function=function, args=(only,)) if function.name == "NEG":
            positive = integer_of(only)
            return None if positive is None else -positive
        case Call(function=function, args=(left, right)) if function.name in _ARITHMETIC:
            one, other = integer_of(left), integer_of(right)
            if one is None or other is None:
                return None
            result = _ARITHMETIC[function.name](one, other)
            return result if abs(result) <= _LARGEST else None
    return None


def comparable_value(expression: Expression) -> Any:
    """The value of a constant as Python compares it with others of its family; None if it is NULL,
    not constant or of another family.
    """
    integer = integer_of(expression)
    if integer is not None:
        return integer
    match expression:
        case Cast(operand=Literal() as operand, type=type_, implicit=True):
            numbers = isinstance(operand.type, t.NUMERICS) and isinstance(type_, t.NUMERICS)
            return operand.value if numbers or type(operand.type) is type(type_) else None
        case Literal(value=value, type=type_) if not isinstance(type_, t.INTERVALS):
            return Decimal(str(value)) if isinstance(value, float) else value
    return None
