"""Aggregates that need only sums: counts, totals, means, variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from tidemark.kernels.aggregates.accumulators import SIGN, Accumulator, Merge, Summary
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope
from tidemark.kernels.whole_numbers import WHOLE, digits_of, rounded_quotient, with_scale

ROWS: Final = "_tm_rows"  # Int64; the number of rows, minus retracted ones


@dataclass(frozen=True, slots=True)
class Sums:
    """The number of values, their sum and the sum of their squares."""

    count: pl.Expr
    sum: pl.Expr
    squares: pl.Expr


def rows(retracts: bool) -> Accumulator:
    """The number of rows, minus retracted ones."""
    one = pl.col(SIGN) if retracts else pl.lit(1, pl.Int64)
    return Accumulator(ROWS, one, Merge.TOTAL)


def count(scope: AggregateScope) -> Aggregate:
    if not scope.call.arguments:
        if scope.call.filter is None:
            kept = rows(scope.retracts)
        else:
            kept = scope.keep("count", scope.signed(_one(scope.passes)), Merge.TOTAL)
        return Aggregate((kept,), pl.col(kept.name))
    kept, counted = _counted(scope)
    return Aggregate((kept,), counted)


def total(scope: AggregateScope) -> Aggregate:
    kept, sums = _sums(scope, _adding(scope.call.dtype), squares=False)
    return Aggregate(kept, pl.when(sums.count != 0).then(_narrowed(sums.sum, scope.call.dtype)))


def mean(scope: AggregateScope) -> Aggregate:
    dtype = scope.call.dtype
    kept, sums = _sums(scope, pl.Float64() if dtype.is_float() else _adding(dtype), squares=False)
    quotient = _quotient(sums.sum, sums.count, dtype)
    return Aggregate(kept, pl.when(sums.count != 0).then(_narrowed(quotient, dtype)))


def variance(sample: bool, root: bool = False) -> Callable[[AggregateScope], Aggregate]:
    """Variance of the values (`sample`: estimated for the population they are taken from)."""

    def aggregate(scope: AggregateScope) -> Aggregate:
        kept, sums = _sums(scope, pl.Float64(), squares=True)
        divisor = sums.count - 1 if sample else sums.count
        spread = (sums.squares - sums.sum * sums.sum / sums.count).clip(0) / divisor
        result = spread.sqrt() if root else spread
        return Aggregate(kept, pl.when(divisor > 0).then(_of_double(result, scope.call.dtype)))

    return aggregate


def _one(condition: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(pl.lit(1, pl.Int64)).otherwise(pl.lit(0, pl.Int64))


def _counted(scope: AggregateScope) -> tuple[Accumulator, pl.Expr]:
    if scope.call.distinct and not scope.of_changes:
        kept, values = scope.values(ordered=False)
        if scope.summarizes and not scope.retracts:
            return kept.with_summary(Summary.COUNT, pl.Int64())
        return kept, values.list.len().cast(pl.Int64)
    lift = scope.change if scope.of_changes else scope.signed(_one(scope.value.is_not_null()))
    kept = scope.keep("count", lift, Merge.TOTAL)
    return kept, pl.col(kept.name)


def _added(scope: AggregateScope, number: pl.Expr) -> pl.Expr:
    """What a row adds to a sum of numbers, which are computed from its argument."""
    if scope.of_changes:
        return pl.when(scope.change > 0).then(number).when(scope.change < 0).then(-number)
    return scope.signed(number)


def _sums(
    scope: AggregateScope, dtype: pl.DataType, squares: bool
) -> tuple[tuple[Accumulator, ...], Sums]:
    """The sums, computed in a type, and the accumulators they need."""
    counts, counted = _counted(scope)
    if scope.call.distinct and scope.summarizes and not (scope.retracts or scope.of_changes):
        counts, total = counts.with_summary(Summary.TOTAL, dtype)
        if not squares:
            return (counts,), Sums(counted, total, pl.lit(None))
        counts, squared = counts.with_summary(Summary.SQUARES, dtype)
        return (counts,), Sums(counted, total, squared)
    if scope.call.distinct and not scope.of_changes:
        _, values = scope.values(ordered=False)
        numbers = values.list.eval(pl.element().cast(dtype))
        squared = numbers.list.eval(pl.element() * pl.element())
        return (counts,), Sums(counted, numbers.list.sum(), squared.list.sum())
    number = (scope.argument if scope.of_changes else scope.value).cast(dtype)
    totals = scope.keep(f"sum {dtype}", _added(scope, number), Merge.TOTAL)
    kept, sums = [counts, totals], Sums(counted, pl.col(totals.name), pl.lit(None))
    if squares:
        powers = scope.keep(f"squares {dtype}", _added(scope, number * number), Merge.TOTAL)
        kept, sums = [*kept, powers], Sums(counted, sums.sum, pl.col(powers.name))
    return tuple(kept), sums


def _adding(dtype: pl.DataType) -> pl.DataType:
    """The type in which values are added up for a result type."""
    if dtype.is_integer():
        return pl.Int64()
    return pl.Decimal(38, dtype.scale) if isinstance(dtype, pl.Decimal) else dtype


def _quotient(number: pl.Expr, count: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_integer():
        # Toward zero, as Java divides.
        whole = number // count
        return whole + ((number < 0) & (whole * count != number)).cast(pl.Int64)
    if isinstance(dtype, pl.Decimal):
        digits = rounded_quotient(digits_of(number), count.cast(WHOLE))
        return with_scale(digits, dtype.scale)
    return number / count


def _of_double(number: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A positive DOUBLE in the result's type, as Java casts it: stopped at the limit of BIGINT or
    INT, of which shorter integers keep the last bits. A DECIMAL that does not fit is NULL.
    """
    if isinstance(dtype, pl.Decimal):
        # Polars fails at numbers that fit into 128 bits and have one digit too many.
        fits = number < 10.0 ** (dtype.precision - dtype.scale)
        return pl.when(fits).then(number).cast(dtype, strict=False)
    if not dtype.is_integer():
        return number.cast(dtype)
    bits = 63 if dtype == pl.Int64() else 31
    exact = number.cast(pl.Int64(), strict=False)
    whole = pl.when(number >= 2.0**bits).then(2**bits - 1).otherwise(exact)
    return _narrowed(whole, dtype)


def _narrowed(number: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A number in the result's type; integers wrap around as in Java."""
    return number.cast(dtype, wrap_numerical=dtype.is_integer())
