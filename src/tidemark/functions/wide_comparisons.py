"""Comparisons of DECIMALs that no DECIMAL of 38 digits holds both of: Spark would drop digits."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import SparkCall

_MOST = t.MAX_DECIMAL_PRECISION


def is_wide(call: SparkCall, one: int = 0, other: int = 1) -> bool:
    """Whether two arguments are such numbers."""
    types = call.type(one), call.type(other)
    if not all(isinstance(type_, (t.Decimal, *t.INTEGERS)) for type_ in types):
        return False
    return _whole_digits(*types) + _scale(*types) > _MOST


def compared(call: SparkCall, symbol: str, one: int = 0, other: int = 1) -> str:
    """Exactly: first what is before the points, then what is after them."""
    scale = _scale(call.type(one), call.type(other))
    left, right = (_parts(call.args[place], call.type(place), scale) for place in (one, other))
    known = " AND ".join(f"{call.args[place]} IS NOT NULL" for place in (one, other))
    return f"CASE WHEN {known} THEN {left} {symbol} {right} END"


def same(call: SparkCall) -> str:
    """Whether both are equal, to the last digit, or NULL."""
    unknown = " AND ".join(f"{arg} IS NULL" for arg in call.args[:2])
    return f"(({unknown}) OR ({compared(call, '=')} <=> TRUE))"


def rounded(call: SparkCall) -> tuple[str, str]:
    """The two arguments as Flink takes them for `=`: with fewer digits after the point."""
    whole = _whole_digits(call.type(0), call.type(1))
    left, right = (f"CAST({arg} AS DECIMAL({_MOST}, {_MOST - whole}))" for arg in call.args[:2])
    return left, right


def _parts(value: str, type_: t.DataType, scale: int) -> str:
    exact = t.as_decimal(type_)
    value = f"CAST({value} AS DECIMAL({exact.precision}, {exact.scale}))"
    # Spark's remainder has the sign of what is divided, so the whole part is cut towards zero.
    whole = f"CAST(if({value} < 0, ceil({value}), floor({value})) AS DECIMAL({_MOST}, 0))"
    return f"struct({whole}, CAST({value} % 1 AS DECIMAL({_MOST}, {scale})))"


def _whole_digits(*types: t.DataType) -> int:
    return max(each.precision - each.scale for each in map(t.as_decimal, types))


def _scale(*types: t.DataType) -> int:
    return max(t.as_decimal(each).scale for each in types)
