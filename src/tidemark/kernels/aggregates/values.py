"""Aggregates that need the values themselves: minimum, maximum, first, last, lists, multisets."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark.kernels.aggregates.accumulators import VALUE, Accumulator, Merge, Summary
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope


def extreme(how: Merge) -> Callable[[AggregateScope], Aggregate]:
    """The minimum or maximum; if rows can be retracted, all values must be kept."""

    def aggregate(scope: AggregateScope) -> Aggregate:
        if scope.of_extremes:
            given = scope.keep(f"current {how.value}", scope.value, Merge.GIVEN)
            return Aggregate((given,), pl.col(given.name).cast(scope.call.dtype))
        if scope.retracts:
            kept, values = scope.values(ordered=False)
            if scope.summarizes:
                return summarized(scope, kept, Summary(how.value))
            ends = values.list.min() if how is Merge.LEAST else values.list.max()
            return Aggregate((kept,), ends.cast(scope.call.dtype))
        kept = scope.keep(how.value, scope.value, how)
        return Aggregate((kept,), pl.col(kept.name).cast(scope.call.dtype))

    return aggregate


def summarized(scope: AggregateScope, kept: Accumulator, what: Summary) -> Aggregate:
    summary, result = kept.with_summary(what, scope.call.dtype)
    return Aggregate((summary,), result)


def end(how: Merge) -> Callable[[AggregateScope], Aggregate]:
    """The value that arrived first or last, ignoring NULLs."""

    def aggregate(scope: AggregateScope) -> Aggregate:
        if scope.retracts:
            kept, values = scope.values()
            if scope.summarizes and not scope.call.distinct:
                return summarized(scope, kept, Summary(how.value))
            found = values.list.first() if how is Merge.FIRST else values.list.last()
            return Aggregate((kept,), found.cast(scope.call.dtype))
        kept = scope.item(how)
        value = pl.col(kept.name).struct.field(VALUE)
        return Aggregate((kept,), value.cast(scope.call.dtype))

    return aggregate


def joined_strings(scope: AggregateScope) -> Aggregate:
    kept, values = scope.values()
    separator = "," if scope.call.separator is None else scope.call.separator
    text = values.list.eval(pl.element().cast(pl.String)).list.join(separator)
    return Aggregate((kept,), pl.when(values.list.len() > 0).then(text))


def array(scope: AggregateScope) -> Aggregate:
    kept, values = scope.values(nulls=True)
    return Aggregate((kept,), pl.when(values.list.len() > 0).then(values).cast(scope.call.dtype))


def bag(scope: AggregateScope) -> Aggregate:
    """How often each value occurs: a map, in the form that Polars has maps."""
    kept, values = scope.values()
    entry = pl.struct(
        pl.element().unique(maintain_order=True).alias("key"),
        pl.element().unique_counts().alias("value"),
    )
    return Aggregate((kept,), values.list.eval(entry).cast(scope.call.dtype))
