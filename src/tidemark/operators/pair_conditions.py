"""Conditions between two rows, as Polars expressions that a kernel evaluates on pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from tidemark.plan.expressions import Call, Case, Cast, Expression, Literal, Ref

if TYPE_CHECKING:
    import polars as pl


def pair_condition(expression: Expression, names: Sequence[str]) -> pl.Expr:
    """A condition prepared by `plan.pair_conditions`, over columns with these names."""
    import polars as pl

    from tidemark.columns import polars_type

    match expression:
        case Ref(index=index):
            return pl.col(names[index])
        case Literal(value=value):
            return pl.lit(value)
        case Cast(operand=operand, type=type_):
            return pair_condition(operand, names).cast(polars_type(type_))
        case Case(branches=branches, default=default):
            written = pair_condition(default, names)
            for condition, value in reversed(branches):
                test = pair_condition(condition, names).fill_null(False)
                written = pl.when(test).then(pair_condition(value, names)).otherwise(written)
            return written
        case Call(function=function, args=args):
            return _OPERATIONS[function.name](*(pair_condition(arg, names) for arg in args))
    raise AssertionError(expression)


_OPERATIONS: dict[str, Callable[..., pl.Expr]] = {
    "AND": lambda *args: reduce(lambda a, b: a & b, args),
    "OR": lambda *args: reduce(lambda a, b: a | b, args),
    "NOT": lambda a: ~a,
    "IS NULL": lambda a: a.is_null(),
    "IS UNKNOWN": lambda a: a.is_null(),
    "IS TRUE": lambda a: a.fill_null(False),
    "IS FALSE": lambda a: (~a).fill_null(False),
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "BETWEEN": lambda a, low, high: (a >= low) & (a <= high),
    "IS DISTINCT FROM": lambda a, b: a.ne_missing(b),
    "IS NOT DISTINCT FROM": lambda a, b: a.eq_missing(b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "NEG": lambda a: -a,
    "ABS": lambda a: a.abs(),
}
