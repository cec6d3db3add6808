"""What aggregates are of no rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from tidemark import types as t
from tidemark.catalog.tables import UserFunction
from tidemark.plan.expressions import Literal
from tidemark.plan.nodes import AggregateCall

# The classes of Python whose values are constants of a type. Collections are not.
_CLASSES: Final = (
    (t.Boolean, (bool,)),
    (t.INTEGERS, (int,)),
    ((t.Float, t.Double), (int, float)),
    (t.Decimal, (int, Decimal)),
    (t.CHARACTERS, (str,)),
)


def result_of_none(call: AggregateCall) -> Literal:
    """NULL, but for COUNT, and for Python functions that have a value before any row."""
    if call.function == "COUNT" and call.user is None:
        return Literal(0, call.type)
    value = None if call.user is None else _value_of_none(call.user, call.type)
    return Literal(value, call.type if value is not None else call.type.with_nullable(True))


def _value_of_none(function: UserFunction, type_: t.DataType) -> Any:
    """The value of a new accumulator, if the function has one, and it is a constant of its type."""
    if function.vectorized:
        return None
    accumulating: Any = function.implementation
    try:
        value = accumulating.get_value(accumulating.create_accumulator())
    except Exception:
        return None  # an average, say, of no values
    fits = any(isinstance(type_, one) and type(value) in classes for one, classes in _CLASSES)
    return value if fits else None
