"""Numbers rounded, and what else keeps their type."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark import types as t
from tidemark.columns import decimals, printed
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type
from tidemark.kernels import whole_numbers

_APPROXIMATE = (t.Float, t.Double)


def _to_places(
    divide: Callable[[pl.Expr, pl.Expr], pl.Expr], call: ColumnCall, places: int
) -> pl.Expr:
    """A DECIMAL with so many places after the point, in the type of the result."""
    source, result = call.type(0), call.result
    assert isinstance(source, t.Decimal) and isinstance(result, t.Decimal)
    digits = whole_numbers.digits_of(call.args[0])
    if places < source.scale:
        digits = divide(digits, whole_numbers.whole(10 ** (source.scale - places)))
        digits = digits * whole_numbers.whole(10 ** (result.scale - places))
    return decimals.decimal_of(digits, result)


def _round(call: ColumnCall) -> pl.Expr:
    """Half away from zero."""
    return _with_places(call, cut=False)


def _truncate(call: ColumnCall) -> pl.Expr:
    return _with_places(call, cut=True)


def _with_places(call: ColumnCall, *, cut: bool) -> pl.Expr:
    places = call.constant(1, "a number of places") if len(call.args) > 1 else 0
    divide = whole_numbers.quotient if cut else whole_numbers.rounded_quotient
    match call.type(0):
        case t.Decimal(scale=scale) if scale - places <= t.MAX_DECIMAL_PRECISION and places >= -18:
            return _to_places(divide, call, places)
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt() if places >= 0:
            return call.args[0]
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt() if places >= -18:
            return _without_digits(divide, call, -places)
        case t.Double() if 0 <= places <= printed.MOST_PLACES:
            return printed.to_places(call.args[0], places, cut=cut)
    raise NotInColumns(f"{call.name} of {call.type(0).text()} to {places} places")


def _without_digits(
    divide: Callable[[pl.Expr, pl.Expr], pl.Expr], call: ColumnCall, places: int
) -> pl.Expr:
    """An integer whose last digits are zeros. Rounded up it may overflow its type, as in Flink."""
    unit = whole_numbers.whole(10**places)
    rounded = divide(call.args[0].cast(whole_numbers.WHOLE), unit) * unit
    return rounded.cast(polars_type(call.type(0)), wrap_numerical=True)


def _whole(call: ColumnCall, divide: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> pl.Expr:
    type_ = call.type(0)
    if isinstance(type_, t.INTEGERS):
        return call.args[0]
    assert isinstance(type_, t.Decimal) and isinstance(call.result, t.Decimal)
    digits = whole_numbers.digits_of(call.args[0])
    return decimals.decimal_of(divide(digits, whole_numbers.whole(10**type_.scale)), call.result)


def floor(call: ColumnCall) -> pl.Expr:
    if isinstance(call.type(0), _APPROXIMATE):
        return call.args[0].floor()
    return _whole(call, lambda digits, unit: digits // unit)


def ceil(call: ColumnCall) -> pl.Expr:
    if isinstance(call.type(0), _APPROXIMATE):
        return call.args[0].ceil()
    zero = whole_numbers.whole(0)
    return _whole(call, lambda digits, unit: zero - (zero - digits) // unit)


def _abs(call: ColumnCall) -> pl.Expr:
    if isinstance(call.result, t.Decimal):
        return decimals.decimal_of(whole_numbers.digits_of(call.args[0]).abs(), call.result)
    return call.args[0].abs()


def _sign(call: ColumnCall) -> pl.Expr:
    value, kind = call.args[0], polars_type(call.result)
    if isinstance(call.result, _APPROXIMATE):
        return value.sign()
    number = value.cast(pl.Float64)
    sign = (number > 0).cast(pl.Int8) - (number < 0).cast(pl.Int8)
    return sign.cast(kind, strict=False)


COLUMNS: dict[str, WriteColumn] = {
    "ROUND": _round,
    "TRUNCATE": _truncate,
    "ABS": _abs,
    "SIGN": _sign,
}
