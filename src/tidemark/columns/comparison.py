"""Comparisons and tests, with SQL's unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.casts import cast
from tidemark.columns.literals import literal
from tidemark.columns.numbers import unified
from tidemark.columns.refusals import NotInColumns
from tidemark.functions.nans import may_be_nan, may_both_be_nan

_TIMES = (t.Date, t.Time, *t.TIMESTAMPS)

Test = Callable[[pl.Expr, pl.Expr], pl.Expr]


def _sides(call: ColumnCall, *places: int) -> list[pl.Expr]:
    """The arguments as values of one type, which Polars compares as Spark does."""
    types = [call.type(place) for place in places]
    args = [call.args[place] for place in places]
    if any(isinstance(type_, t.Null) for type_ in types):
        known = [type_ for type_ in types if not isinstance(type_, t.Null)]
        common = known[0] if known else t.Boolean()
        types, args = (
            [common] * len(types),
            [
                arg
                if arg_type is not None and not isinstance(arg_type, t.Null)
                else literal(None, common)
                for arg, arg_type in zip(args, types, strict=True)
            ],
        )
    for type_ in types:
        if _has_map(type_):
            raise NotInColumns(f"{call.name} of {type_.text()}")
    if isinstance(types[0], t.NUMERICS):
        return unified(args, types, call.name)
    return _timed(call, args, types)


def _timed(call: ColumnCall, args: list[pl.Expr], types: list[t.DataType]) -> list[pl.Expr]:
    """A string that is compared with a time is one; if it is not valid, nothing equals it."""
    time = next((type_ for type_ in types if isinstance(type_, _TIMES)), None)
    if time is None:
        return args
    return [
        cast(arg, type_, time, call.active, safe=True) if isinstance(type_, t.CHARACTERS) else arg
        for arg, type_ in zip(args, types, strict=True)
    ]


def _has_map(type_: t.DataType) -> bool:
    """Whether it holds entries, whose order has no meaning."""
    match type_:
        case t.Map() | t.Multiset():
            return True
        case t.Array(element=element):
            return _has_map(element)
        case t.Row(fields=fields):
            return any(_has_map(field.type) for field in fields)
    return False


def _ordered(test: Test, largest: int) -> WriteColumn:
    """`largest`: which argument Polars compares so if it is NaN, its largest number."""
    return lambda call: _in_order(call, test, largest, (0, 1))


def _in_order(call: ColumnCall, test: Test, largest: int, places: tuple[int, int]) -> pl.Expr:
    sides = _sides(call, *places)
    found = test(*sides)
    if not may_be_nan(call, places[largest], places[1 - largest]):
        return found
    return found & _is_number(sides[largest], sides[1 - largest])


def _is_number(value: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Whether a value that is compared with another one is not NaN; true if the other is NULL."""
    return value.is_not_nan() | other.is_null()


def equal(call: ColumnCall) -> pl.Expr:
    """Whether the two arguments are equal; in arrays and rows, NULL equals NULL."""
    left, right = _sides(call, 0, 1)
    same = _equal(call)(left, right)
    return same & _is_number(left, right) if may_both_be_nan(call, 0, 1) else same


def _equal(call: ColumnCall) -> Test:
    if not isinstance(call.type(0), t.Row):
        return operator.eq
    # Polars panics at `==` of rows of which `when` has chosen some.
    return lambda left, right: pl.when(left.is_not_null() & right.is_not_null()).then(
        left.eq_missing(right)
    )


def _between(call: ColumnCall) -> pl.Expr:
    from_low = _in_order(call, operator.ge, 0, (0, 1))
    return from_low & _in_order(call, operator.le, 1, (0, 2))


def _in(call: ColumnCall) -> pl.Expr:
    value, *members = _sides(call, *range(len(call.args)))
    same = _equal(call)
    found = [same(value, member) for member in members]
    for place, member in enumerate(members):
        if may_both_be_nan(call, 0, place + 1):
            found[place] &= _is_number(value, member)
    return reduce(operator.or_, found)


def _same(call: ColumnCall) -> pl.Expr:
    left, right = _sides(call, 0, 1)
    same = left.eq_missing(right)
    return same & ~left.is_nan().fill_null(False) if may_both_be_nan(call, 0, 1) else same


def _not(call: ColumnCall) -> pl.Expr:
    return ~call.args[0].cast(pl.Boolean)


COLUMNS: dict[str, WriteColumn] = {
    "=": equal,
    "<>": lambda call: ~equal(call),
    "<": _ordered(operator.lt, 1),
    "<=": _ordered(operator.le, 1),
    ">": _ordered(operator.gt, 0),
    ">=": _ordered(operator.ge, 0),
    "IS NOT DISTINCT FROM": _same,
    "IS DISTINCT FROM": lambda call: ~_same(call),
    "BETWEEN": _between,
    "IN": _in,
    "NOT": _not,
    "IS NULL": lambda call: call.args[0].is_null(),
    "IS UNKNOWN": lambda call: call.args[0].is_null(),
    "IS TRUE": lambda call: call.args[0].cast(pl.Boolean).fill_null(False),
    "IS FALSE": lambda call: ~call.args[0].cast(pl.Boolean).fill_null(True),
}
