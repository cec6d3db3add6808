"""Numbers of different types as one: what Spark makes of them when it compares them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import polars as pl

from tidemark import types as t
from tidemark.columns import decimals, printed
from tidemark.columns.refusals import NotInColumns
from tidemark.kernels import whole_numbers

_BITS = {t.TinyInt: 8, t.SmallInt: 16, t.Int: 32, t.BigInt: 64}
_INTEGERS = {t.TinyInt: pl.Int8, t.SmallInt: pl.Int16, t.Int: pl.Int32, t.BigInt: pl.Int64}
# A DECIMAL with fewer digits is exactly a DOUBLE divided by a power of ten that is one too.
_EXACT_DIGITS, _EXACT_SCALE = 15, 22
_MOST = t.MAX_DECIMAL_PRECISION
# Flink rounds decimals before it tests whether they are equal, but not to find the smaller one.
_ROUNDED = frozenset({"=", "<>", "NULLIF"})


def unified(args: Sequence[pl.Expr], types: Sequence[t.DataType], name: str) -> list[pl.Expr]:
    """The numbers as values of one type; `name` is the function that needs it."""
    common = reduce(_common, types)
    if isinstance(common, t.Decimal) and common.precision > _MOST:
        if name in _ROUNDED:
            common = t.Decimal(_MOST, _MOST - (common.precision - common.scale))
            return [to_number(arg, type_, common) for arg, type_ in zip(args, types, strict=True)]
        if len(args) > 2:
            raise NotInColumns(f"{name} of decimals with {common.precision} digits")
        return [_bounded(arg, type_, common.scale) for arg, type_ in zip(args, types, strict=True)]
    return [to_number(arg, type_, common) for arg, type_ in zip(args, types, strict=True)]


def _bounded(value: pl.Expr, source: t.DataType, scale: int) -> pl.Expr:
    """The digits of one of two numbers that are compared, the other one of this scale at least
    where this one is not. A number that has too many is beyond all of the other type.
    """
    type_ = t.as_decimal(source)
    digits = whole_numbers.digits_of(_to_decimal(value, source, type_))
    if type_.scale == scale:
        return digits
    most = 10 ** (_MOST - scale + type_.scale)
    return decimals.moved(digits.clip(-most, most), scale - type_.scale)


def _common(a: t.DataType, b: t.DataType) -> t.DataType:
    """Unlike Flink's common type, this may have more than 38 digits; and a FLOAT stays one beside
    integers.
    """
    for approximate in (t.Double, t.Float):
        if isinstance(a, approximate) or isinstance(b, approximate):
            exact = isinstance(a, t.Decimal) or isinstance(b, t.Decimal)
            return t.Double() if exact else approximate()
    if isinstance(a, t.Decimal) or isinstance(b, t.Decimal):
        x, y = t.as_decimal(a), t.as_decimal(b)
        scale = max(x.scale, y.scale)
        return t.Decimal(max(x.precision - x.scale, y.precision - y.scale) + scale, scale)
    return max(a, b, key=lambda type_: t.INTEGERS.index(type(type_)))


def to_number(value: pl.Expr, source: t.DataType, target: t.DataType) -> pl.Expr:
    """A number or truth value as another number, as Spark does outside its ANSI mode: integers wrap
    around, DOUBLE stops at the limits, and a DECIMAL that does not fit is NULL.
    """
    if source.same_as(target):
        return value
    match target:
        case t.Decimal():
            return _to_decimal(value, source, target)
        case t.Float() | t.Double():
            return _to_approximate(value, source, target)
    return _to_integer(value, source, target)


def _to_decimal(value: pl.Expr, source: t.DataType, target: t.Decimal) -> pl.Expr:
    match source:
        case t.Decimal():
            return decimals.rescaled(value, source, target)
        case t.Float() | t.Double():
            return printed.of_double(value.cast(pl.Float64), target)
        case t.Boolean():
            value = value.cast(pl.Int32)
    return value.cast(pl.Decimal(target.precision, target.scale), strict=False)


def _to_approximate(value: pl.Expr, source: t.DataType, target: t.DataType) -> pl.Expr:
    kind = pl.Float32() if isinstance(target, t.Float) else pl.Float64()
    if not isinstance(source, t.Decimal):
        return value.cast(kind)
    exact = source.precision <= _EXACT_DIGITS and source.scale <= _EXACT_SCALE
    if exact and isinstance(target, t.Double):
        return value.cast(kind)
    # Reading the digits rounds once, to the nearest number.
    return value.cast(pl.String).cast(kind)


def _to_integer(value: pl.Expr, source: t.DataType, target: t.DataType) -> pl.Expr:
    kind = _INTEGERS[type(target)]
    match source:
        case t.Boolean():
            return value.cast(kind)
        case t.Decimal(scale=scale):
            digits = whole_numbers.digits_of(value)
            cut = (
                whole_numbers.quotient(digits, whole_numbers.whole(10**scale)) if scale else digits
            )
            return cut.cast(kind, wrap_numerical=True)
        case t.Float() | t.Double():
            return _clipped(value.cast(pl.Float64), target).cast(kind, wrap_numerical=True)
    return value.cast(kind, wrap_numerical=True)


def _clipped(value: pl.Expr, target: t.DataType) -> pl.Expr:
    """As Java narrows: NaN is zero, and what is too large is the limit, of an INT at least."""
    wide = pl.Int64() if isinstance(target, t.BigInt) else pl.Int32()
    bits = 64 if isinstance(target, t.BigInt) else 32
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return (
        pl.when(value.is_nan())
        .then(pl.lit(0, dtype=wide))
        .when(value >= float(2 ** (bits - 1)))
        .then(pl.lit(most, dtype=wide))
        .when(value <= float(least))
        .then(pl.lit(least, dtype=wide))
        .otherwise(value.cast(wide, strict=False))
    )
