"""The aggregate functions by Flink's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidemark.kernels.aggregates import numbers, percentiles, users, values
from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope

FUNCTIONS: Mapping[str, Callable[[AggregateScope], Aggregate]] = {
    "COUNT": numbers.count,
    "SUM": numbers.total,
    "AVG": numbers.mean,
    "VAR_POP": numbers.variance(sample=False),
    "VAR_SAMP": numbers.variance(sample=True),
    "STDDEV_POP": numbers.variance(sample=False, root=True),
    "STDDEV_SAMP": numbers.variance(sample=True, root=True),
    "MIN": values.extreme(Merge.LEAST),
    "MAX": values.extreme(Merge.GREATEST),
    "FIRST_VALUE": values.end(Merge.FIRST),
    "LAST_VALUE": values.end(Merge.LAST),
    "LISTAGG": values.joined_strings,
    "ARRAY_AGG": values.array,
    "COLLECT": values.bag,
    "PERCENTILE": percentiles.percentile,
}


def aggregate_of(scope: AggregateScope) -> Aggregate:
    """The accumulator and result of a call; user-defined functions take precedence."""
    if scope.call.implementation is not None:
        return users.aggregate(scope)
    return FUNCTIONS[scope.call.function](scope)
