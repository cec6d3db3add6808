"""`+ - * / %` and unary minus over numbers, times and intervals."""

from __future__ import annotations

import operator
from collections.abc import Callable

import polars as pl

from tidemark import types as t
from tidemark.columns import decimals, moments, wide
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.numbers import to_number
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.repeating import divisor
from tidemark.columns.types import polars_type
from tidemark.kernels import whole_numbers

_DATETIMES = (t.Date, t.Time, *t.TIMESTAMPS)
_OPERATIONS: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
# 10 ** 38 and another 7 * 10 ** 37 still fit into 128 bits.
_SAFE_DIGITS = 37


def _compute(call: ColumnCall) -> pl.Expr:
    """The sum, difference or product of two numbers or intervals, or a time and an interval."""
    if any(isinstance(argument.type, _DATETIMES) for argument in call.arguments):
        return _moved(call)
    operation = _OPERATIONS[call.name]
    match call.result:
        case t.Decimal():
            return _decimals(call, call.result)
        case t.DayTimeInterval():
            return operation(*(_micros(call, place) for place in (0, 1))).cast(pl.Duration("us"))
        case t.YearMonthInterval():
            left, right = (arg.cast(pl.Int32) for arg in call.args)
            return operation(left, right)
    kind = polars_type(call.result)
    return operation(*(arg.cast(kind) for arg in call.args))


def _micros(call: ColumnCall, place: int) -> pl.Expr:
    return call.args[place].cast(pl.Int64)


def _moved(call: ColumnCall) -> pl.Expr:
    time, length = (0, 1) if isinstance(call.type(0), _DATETIMES) else (1, 0)
    interval = call.args[length]
    if isinstance(call.type(length), t.YearMonthInterval):
        if isinstance(call.type(time), t.Time):
            return pl.when(interval.is_not_null()).then(call.args[time])
        months = interval if call.name == "+" else -interval
        return moments.plus_months(call.args[time], months)
    micros = interval.cast(pl.Int64)
    return moments.plus_micros(
        call.args[time], call.type(time), micros if call.name == "+" else -micros
    )


# --- decimals ----------------------------------------------------------------------------------


def _decimals(call: ColumnCall, result: t.Decimal) -> pl.Expr:
    left, right = (_decimal_type(call, place) for place in (0, 1))
    if call.name == "*":
        exact, scale = left.precision + right.precision, left.scale + right.scale
    else:
        scale = max(left.scale, right.scale)
        exact = 1 + max(left.precision - left.scale, right.precision - right.scale) + scale
    if exact > _SAFE_DIGITS:
        return _wide_decimals(call, exact, result)
    parts = _digits(call, (0, 0) if call.name == "*" else (scale - left.scale, scale - right.scale))
    digits = _OPERATIONS[call.name](*parts)
    return decimals.decimal_of(decimals.moved(digits, result.scale - scale), result)


def _wide_decimals(call: ColumnCall, exact: int, result: t.Decimal) -> pl.Expr:
    if exact + 1 < wide.MOST_DIGITS:
        return call.active.batches(wide.computed(call.name, result), call.args, result)
    if call.name == "*":
        return call.active.batches(wide.products(result), call.args, result)
    kinds = " and ".join(argument.type.text() for argument in call.arguments)
    raise NotInColumns(f"{call.name} of {kinds}")


def _decimal_type(call: ColumnCall, place: int) -> t.Decimal:
    type_ = call.type(place)
    assert isinstance(type_, t.Decimal)
    return type_


def _digits(call: ColumnCall, more: tuple[int, int]) -> tuple[pl.Expr, pl.Expr]:
    left, right = (
        decimals.moved(whole_numbers.digits_of(arg), places)
        for arg, places in zip(call.args, more, strict=True)
    )
    return left, right


# --- quotients and remainders ------------------------------------------------------------------


def _quotient(call: ColumnCall) -> pl.Expr:
    left, right = call.args
    match call.result:
        case t.Float() | t.Double():
            kind = polars_type(call.result)
            return (left.cast(pl.Float64) / divisor(right.cast(pl.Float64))).cast(kind)
        case t.Decimal():
            return _decimal_quotient(call, call.result)
    _refuse_zero(call)
    kind = polars_type(call.result)
    return _truncated(left.cast(kind), right.cast(kind))


def _decimal_quotient(call: ColumnCall, result: t.Decimal) -> pl.Expr:
    _refuse_zero(call)
    left, right = (_decimal_type(call, place) for place in (0, 1))
    top, bottom = (whole_numbers.digits_of(arg) for arg in call.args)
    bottom = _not_zero(bottom)
    more = result.scale - left.scale + right.scale
    up, down = max(more, 0), max(-more, 0)
    # With more digits than these, 128 bits are too few, or Spark rounds twice, which may differ.
    of_top = t.MAX_DECIMAL_PRECISION - up
    of_bottom = min(t.MAX_DECIMAL_PRECISION - down, t.MAX_DECIMAL_PRECISION + 1 - result.scale)
    always = left.precision <= of_top and right.precision <= of_bottom
    narrow = pl.lit(True) if always else _has_digits(top, of_top) & _has_digits(bottom, of_bottom)
    digits = whole_numbers.rounded_quotient(
        pl.when(narrow).then(decimals.moved(top, up)), decimals.moved(bottom, down)
    )
    quotient = decimals.decimal_of(digits, result)
    if always:
        return quotient
    others = tuple(pl.when(~narrow).then(arg) for arg in call.args)
    return pl.coalesce(quotient, call.active.batches(wide.quotients(result), others, result))


def _has_digits(number: pl.Expr, most: int) -> pl.Expr:
    return number.abs() < whole_numbers.whole(10 ** max(most, 0))


def _remainder(call: ColumnCall) -> pl.Expr:
    if isinstance(call.result, t.Decimal):
        return _decimal_remainder(call, call.result)
    _refuse_zero(call)
    wider = max((call.type(0), call.type(1)), key=_width)
    left, right = (arg.cast(polars_type(wider)) for arg in call.args)
    rest = left - _truncated(left, right) * right
    return to_number(rest, wider, call.result)


def _decimal_remainder(call: ColumnCall, result: t.Decimal) -> pl.Expr:
    left, right = (_decimal_type(call, place) for place in (0, 1))
    scale = max(left.scale, right.scale)
    if max(kind.precision - kind.scale for kind in (left, right)) + scale > 38:
        raise NotInColumns(f"% of {left.text()} and {right.text()}")
    _refuse_zero(call)
    top, bottom = _digits(call, (scale - left.scale, scale - right.scale))
    bottom = _not_zero(bottom)
    rest = top - whole_numbers.quotient(top, bottom) * bottom
    return decimals.decimal_of(decimals.moved(rest, result.scale - scale), result)


def _width(type_: t.DataType) -> int:
    return t.INTEGERS.index(type(type_))


def _refuse_zero(call: ColumnCall) -> None:
    if not call.literal(1, 0):
        # NULL divided by zero is NULL.
        zero = call.args[0].is_not_null() & (call.args[1].cast(pl.Float64) == 0)
        call.active.fail(zero, "Division by zero")


def _not_zero(number: pl.Expr) -> pl.Expr:
    return pl.when(number != 0).then(number)


def _truncated(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    """The quotient of integers toward zero, where Polars rounds down."""
    right = _not_zero(right)
    down = left // right
    inexact = left != down * right
    return down + (inexact & ((left < 0) != (right < 0))).cast(pl.Int8)


def _negated(call: ColumnCall) -> pl.Expr:
    match call.result:
        case t.Decimal():
            return decimals.decimal_of(
                whole_numbers.whole(0) - whole_numbers.digits_of(call.args[0]), call.result
            )
        case t.DayTimeInterval():
            return (-call.args[0].cast(pl.Int64)).cast(pl.Duration("us"))
    return -call.args[0].cast(polars_type(call.result))


COLUMNS: dict[str, WriteColumn] = {
    "+": _compute,
    "-": _compute,
    "*": _compute,
    "/": _quotient,
    "%": _remainder,
    "NEG": _negated,
}
