"""PERCENTILE: the value below which a share of the values lies, between two of them."""

from __future__ import annotations

import polars as pl

from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope

_VALUE, _TIMES = "of", "times"


def percentile(scope: AggregateScope) -> Aggregate:
    """One for each percentage, as a list if the result is one. A second argument says how often a
    value counts; if it is not positive, the value does not count.
    """
    percentages = scope.call.percentages
    if len(scope.call.arguments) == 1:
        kept, values = scope.values(ordered=False)
        sizes, in_order = values.list.len().cast(pl.Int64), values.list.sort()
        found = [_of_each(in_order, sizes, one) for one in percentages]
    else:
        kept, values = scope.values(_repeated(scope), "repeated", ordered=False)
        found = [values.list.eval(_of_repeated(one)).list.first() for one in percentages]
    if not isinstance(scope.call.dtype, pl.List):
        return Aggregate((kept,), found[0].cast(pl.Float64))
    return Aggregate((kept,), pl.when(values.list.len() > 0).then(pl.concat_list(found)))


def _of_each(in_order: pl.Expr, sizes: pl.Expr, percentage: float) -> pl.Expr:
    """Of lists of values."""
    position = _position(sizes, percentage)
    lower, higher = (
        in_order.list.get(place.cast(pl.Int64) - 1, null_on_oob=True).cast(pl.Float64)
        for place in (position.floor(), position.ceil())
    )
    return pl.when(sizes > 0).then(_between(lower, higher, position))


def _repeated(scope: AggregateScope) -> pl.Expr:
    """A value and how often it counts; NULL if it does not."""
    value, times = (pl.col(name) for name in scope.call.arguments)
    counts = value.is_not_null() & (times > 0)
    both = value.cast(pl.Float64).alias(_VALUE), times.cast(pl.Int64).alias(_TIMES)
    return pl.when(counts).then(pl.struct(both))


def _of_repeated(percentage: float) -> pl.Expr:
    """Within a list of values that count several times."""
    value, times = (pl.element().struct.field(name) for name in (_VALUE, _TIMES))
    position = _position(times.sum(), percentage)
    # How many values there are up to each.
    up_to, in_order = times.sort_by(value).cum_sum(), value.sort()
    lower, higher = (
        in_order.filter(up_to >= place).first() for place in (position.floor(), position.ceil())
    )
    return _between(lower, higher, position)


def _position(size: pl.Expr, percentage: float) -> pl.Expr:
    """Where it is among so many values, from 1. Flink counts from 1, too, and rounds there."""
    return (size - 1) * percentage + 1


def _between(lower: pl.Expr, higher: pl.Expr, position: pl.Expr) -> pl.Expr:
    before, after = position - position.floor(), position.ceil() - position
    return pl.when(before == 0).then(lower).otherwise(lower * after + higher * before)
