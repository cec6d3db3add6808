"""Comparisons of FLOATs and DOUBLEs with NaN.

As in Java, NaN is neither smaller nor larger than a number, nor equal to any, NaN included. Beside
a DECIMAL, such as the literal 0.5, Flink takes it for the largest number, like Spark and Polars.
"""

from __future__ import annotations

from typing import Any, Protocol

from tidemark import types as t

APPROXIMATE = (t.Float, t.Double)


class AnyCall(Protocol):
    def type(self, index: int, /) -> t.DataType: ...

    def literal(self, index: int, /) -> Any: ...


def may_be_nan(call: AnyCall, one: int, other: int) -> bool:
    """Whether one argument may be a NaN that has to be compared with the other as Java does."""
    return are_as_in_java(call.type(one), call.type(other)) and (
        isinstance(call.type(one), APPROXIMATE) and call.literal(one) is None
    )


def may_both_be_nan(call: AnyCall, one: int, other: int) -> bool:
    return may_be_nan(call, one, other) and may_be_nan(call, other, one)


def are_as_in_java(*types: t.DataType) -> bool:
    """Whether values of these types are compared as Java compares its numbers."""
    approximate = any(isinstance(type_, APPROXIMATE) for type_ in types)
    return approximate and not any(isinstance(type_, t.Decimal) for type_ in types)
