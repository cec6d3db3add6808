"""Conditions between two rows, as Polars expressions that a kernel evaluates on pairs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions.nans import are_as_in_java
from tidemark.plan.expressions import Call, Case, Cast, Expression, Literal, Ref, walk

if TYPE_CHECKING:
    import polars as pl


def pair_condition(expression: Expression, names: Sequence[str]) -> pl.Expr:
    """A condition prepared by `plan.pair_conditions`, over columns with these names."""
    if all(_is_simple(part) for part in walk(expression)):
        return _simple(expression, names)
    return _as_columns(expression, names)


def _is_simple(part: Expression) -> bool:
    """Whether Polars computes a part as it is: not with a DECIMAL and values of other types, and no
    comparison with NaN.
    """
    if not isinstance(part, Call):
        return True
    types = [arg.type for arg in part.args]
    mixed = not all(type_.same_as(part.args[0].type) for type_ in types)
    decimal = any(isinstance(type_, t.Decimal) for type_ in (*types, part.type))
    plain = not decimal or not (mixed or isinstance(part.type, t.Decimal))
    if isinstance(part.type, t.Boolean) and are_as_in_java(*types):
        return False
    return plain and part.function.name in _OPERATIONS


def _as_columns(expression: Expression, names: Sequence[str]) -> pl.Expr:
    """The condition as anywhere else in a query."""
    from tidemark.columns.call import Active, Surroundings
    from tidemark.columns.writer import ColumnWriter

    # No operation of these conditions goes by the clock, and none fails.
    surroundings = Surroundings("UTC", dt.datetime.fromtimestamp(0, dt.UTC))
    written = ColumnWriter(tuple(names)).write(expression, Active(surroundings))
    assert not surroundings.checks, expression
    return written


def _simple(expression: Expression, names: Sequence[str]) -> pl.Expr:
    import polars as pl

    from tidemark.columns import polars_type

    match expression:
        case Ref(index=index):
            return pl.col(names[index])
        case Literal(value=value):
            return pl.lit(value)
        case Cast(operand=operand, type=type_):
            return _simple(operand, names).cast(polars_type(type_))
        case Case(branches=branches, default=default):
            written = _simple(default, names)
            for condition, value in reversed(branches):
                test = _simple(condition, names).fill_null(False)
                written = pl.when(test).then(_simple(value, names)).otherwise(written)
            return written
        case Call(function=function, args=args):
            return _OPERATIONS[function.name](*(_simple(arg, names) for arg in args))
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
    "IN": lambda a, *others: reduce(lambda b, c: b | c, (a == other for other in others)),
    "IS DISTINCT FROM": lambda a, b: a.ne_missing(b),
    "IS NOT DISTINCT FROM": lambda a, b: a.eq_missing(b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "NEG": lambda a: -a,
    "ABS": lambda a: a.abs(),
}
