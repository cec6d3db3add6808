"""Aggregate functions of the user's, in Python.

What they keep is nothing that could be merged, sent or stored without knowing it. So the
arguments themselves are kept, rows that are taken back are gone, and the function sees what is
left whenever a result is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from tidemark.errors import TidemarkError
from tidemark.kernels.aggregates.scope import Aggregate, Scope


class Accumulating(Protocol):
    """A function that takes one row after the other, by the names Flink gives its parts. Flink's
    `merge` and `retract` are not needed: no accumulator is kept."""

    def create_accumulator(self) -> Any: ...

    def accumulate(self, accumulator: Any, *arguments: Any) -> None: ...

    def get_value(self, accumulator: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class RowByRow:
    """An accumulating function as one of whole groups."""

    function: Accumulating

    def __call__(self, rows: pl.DataFrame) -> Any:
        accumulator = self.function.create_accumulator()
        for arguments in rows.iter_rows():
            self.function.accumulate(accumulator, *arguments)
        return self.function.get_value(accumulator)


@dataclass(frozen=True, slots=True)
class Vectorized:
    """A function of Arrow arrays, one per argument, as one of whole groups."""

    function: Callable[..., Any]

    def __call__(self, rows: pl.DataFrame) -> Any:
        value = self.function(*(column.to_arrow() for column in rows))
        # What Arrow computes is a scalar of its own.
        return value.as_py() if hasattr(value, "as_py") else value


def aggregate(scope: Scope) -> Aggregate:
    """The user's function over the arguments of each group, nulls too, in order of arrival."""
    implementation, dtype = scope.call.implementation, scope.call.dtype
    assert implementation is not None

    def of_groups(groups: pl.Series) -> pl.Series:
        results = [implementation(group.struct.unnest()) for group in groups]
        try:
            return pl.Series(groups.name, results, dtype)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as problem:
            raise TidemarkError(
                f"aggregate function `{scope.call.function}` gave a value that is not of its "
                "result type",
                notes={"result type in the workers": dtype, "why": problem},
                hint="return such values, or declare another type: returns=...",
            ) from problem

    arguments = pl.struct(scope.call.arguments)
    kept, values = scope.values(arguments, "arguments", nulls=True)
    return Aggregate((kept,), values.map_batches(of_groups, return_dtype=dtype))
