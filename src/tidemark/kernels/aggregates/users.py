"""User-defined aggregate functions in Python.

Functions that accumulate are kept as their accumulators, as bytes (`folded.py`). For functions that
need all values of a group at once, and all with DISTINCT, the arguments are kept: retracted rows
are removed, and the function sees the rest whenever a result is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from tidemark.errors import TidemarkError
from tidemark.kernels.aggregates.accumulators import AT, SIGN, Accumulator, Merge
from tidemark.kernels.aggregates.folded import Accumulating, Folded
from tidemark.kernels.aggregates.numbers import ROWS
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope
from tidemark.kernels.columns import SEQUENCE


@dataclass(frozen=True, slots=True)
class RowByRow:
    """An accumulating function as a function of whole groups."""

    function: Accumulating

    def __call__(self, rows: pl.DataFrame) -> Any:
        accumulator = self.function.create_accumulator()
        for arguments in rows.iter_rows():
            self.function.accumulate(accumulator, *arguments)
        return self.function.get_value(accumulator)


@dataclass(frozen=True, slots=True)
class Vectorized:
    """A function of Arrow arrays, one per argument, as a function of whole groups."""

    function: Callable[..., Any]

    def __call__(self, rows: pl.DataFrame) -> Any:
        value = self.function(*(column.to_arrow() for column in rows))
        # Arrow's results are scalars of its own.
        return value.as_py() if hasattr(value, "as_py") else value


def aggregate(scope: AggregateScope) -> Aggregate:
    """The user's function over the rows of each group, including NULLs, in order of arrival."""
    implementation = scope.call.implementation
    if isinstance(implementation, RowByRow) and not scope.call.distinct:
        return _folded(scope, implementation.function)
    assert implementation is not None

    def of_values(values: pl.Series) -> Any:
        return implementation(values.struct.unnest())

    kept, values = scope.values(pl.struct(_arguments(scope)), "arguments", nulls=True)
    return Aggregate((kept,), _result(scope, values, of_values))


def _folded(scope: AggregateScope, function: Accumulating) -> Aggregate:
    folded = Folded(function, scope.call.function, scope.by_arrival, scope.merges)

    def of_rows(rows: pl.Series) -> pl.Series:
        return pl.Series(rows.name, map(folded.lifted, rows), pl.Binary)

    adds = pl.col(SIGN) > 0 if scope.retracts else pl.lit(True)
    row = pl.struct(pl.col(SEQUENCE).alias(AT), adds.alias(SIGN), *_arguments(scope))
    lift = pl.when(scope.passes).then(row).map_batches(of_rows, return_dtype=pl.Binary())
    kept = Accumulator(f"_tm_accumulated {scope.call.output}", lift, Merge.FOLD, folded)
    return Aggregate((kept,), _result(scope, pl.col(kept.name), folded.value))


def _arguments(scope: AggregateScope) -> list[pl.Expr]:
    """The arguments under names of their own: the same column may be used several times."""
    return [pl.col(name).alias(f"{n}") for n, name in enumerate(scope.call.arguments)]


def _result(scope: AggregateScope, parts: pl.Expr, of_group: Callable[[Any], Any]) -> pl.Expr:
    """The function's result for each group. Nobody needs that of a group whose rows are all
    retracted, and the function need not have one.
    """
    rows = pl.col(ROWS) if scope.retracts else pl.lit(1, pl.Int64)

    def of_groups(groups: pl.Series) -> pl.Series:
        found = zip(groups.struct.field(_PART), groups.struct.field(ROWS), strict=True)
        results = [of_group(part) if count else None for part, count in found]
        return _of_the_result_type(scope, groups.name, results)

    groups = pl.struct(parts.alias(_PART), rows.alias(ROWS))
    return groups.map_batches(of_groups, return_dtype=scope.call.dtype)


_PART: Final = "_tm_part"


def _of_the_result_type(scope: AggregateScope, name: str, results: list[Any]) -> pl.Series:
    dtype = scope.call.dtype
    try:
        return pl.Series(name, results, dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as problem:
        raise TidemarkError(
            f"aggregate function `{scope.call.function}` returned a value that is not of its "
            "result type",
            notes={"result type in the workers": dtype, "why": problem},
            hint="return values of that type, or declare another one: returns=...",
        ) from problem
