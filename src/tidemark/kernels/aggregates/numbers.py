"""Aggregates that need only sums: counts, totals, means, variances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from tidemark.kernels.aggregates import spreads
from tidemark.kernels.aggregates.accumulators import SIGN, Accumulator, Merge, Summary
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope
from tidemark.kernels.whole_numbers import WHOLE, digits_of, rounded_quotient, with_scale

ROWS: Final = "_tm_rows"  # Int64; the number of rows, minus retracted ones


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
    kept, count, summed = _sums(scope, _adding(scope.call.dtype))
    return Aggregate(kept, pl.when(count != 0).then(_narrowed(summed, scope.call.dtype)))


def mean(scope: AggregateScope) -> Aggregate:
    dtype = scope.call.dtype
    kept, count, summed = _sums(scope, pl.Float64() if dtype.is_float() else _adding(dtype))
    quotient = _quotient(summed, count, dtype)
    return Aggregate(kept, pl.when(count != 0).then(_narrowed(quotient, dtype)))


def variance(sample: bool, root: bool = False) -> Callable[[AggregateScope], Aggregate]:
    """Variance of the values (`sample`: estimated for the population they are taken from)."""

    def aggregate(scope: AggregateScope) -> Aggregate:
        kept, count, distances = _spread(scope)
        divisor = count - 1 if sample else count
        spread = distances / divisor
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
    scope: AggregateScope, dtype: pl.DataType
) -> tuple[tuple[Accumulator, ...], pl.Expr, pl.Expr]:
    """The number of values and their sum, computed in a type, and the accumulators they need."""
    counts, counted = _counted(scope)
    if scope.call.distinct and scope.summarizes and not (scope.retracts or scope.of_changes):
        counts, total = counts.with_summary(Summary.TOTAL, dtype)
        return (counts,), counted, total
    if scope.call.distinct and not scope.of_changes:
        _, values = scope.values(ordered=False)
        return (counts,), counted, values.list.eval(pl.element().cast(dtype)).list.sum()
    number = (scope.argument if scope.of_changes else scope.value).cast(dtype)
    totals = scope.keep(f"sum {dtype}", _added(scope, number), Merge.TOTAL)
    return (counts, totals), counted, pl.col(totals.name)


def _spread(scope: AggregateScope) -> tuple[tuple[Accumulator, ...], pl.Expr, pl.Expr]:
    """The number of values and the sum of the squares of how far they are from their mean."""
    dtype = pl.Float64()
    if scope.call.distinct and not scope.of_changes:
        counts, counted = _counted(scope)
        if scope.summarizes and not scope.retracts:
            counts, distances = counts.with_summary(Summary.SPREAD, dtype)
            return (counts,), counted, distances
        _, values = scope.values(ordered=False)
        return (counts,), counted, spreads.of_lists(values.list.eval(pl.element().cast(dtype)))
    one = pl.lit(1, pl.Int64)
    lift = (
        spreads.lifted(scope.argument, scope.change)
        if scope.of_changes
        else spreads.lifted(scope.value, scope.signed(one))
    )
    kept = scope.keep("spread", lift, Merge.SPREAD)
    moments = pl.col(kept.name)
    count = moments.struct.field(spreads.COUNT).fill_null(0)
    return (kept,), count, spreads.squared_distances(moments)


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
        found = pl.when(fits).then(number).cast(dtype, strict=False)
        digits = (number * 10.0**dtype.scale + 0.5).floor()
        rounded = with_scale(digits.cast(WHOLE, strict=False), dtype.scale)
        return pl.when(digits < 2.0**52).then(rounded).otherwise(found)
    if not dtype.is_integer():
        return number.cast(dtype)
    bits = 63 if dtype == pl.Int64() else 31
    exact = number.cast(pl.Int64(), strict=False)
    whole = pl.when(number >= 2.0**bits).then(2**bits - 1).otherwise(exact)
    return _narrowed(whole, dtype)


def _narrowed(number: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A number in the result's type; integers wrap around as in Java."""
    return number.cast(dtype, wrap_numerical=dtype.is_integer())
