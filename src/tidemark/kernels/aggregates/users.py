"""Aggregate functions of the user's, in Python.

What they keep is nothing that could be merged, sent or stored without knowing it. So the
arguments themselves are kept, rows that are taken back are gone, and the function sees what is
left whenever a result is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from tidemark.kernels.aggregates.scope import Aggregate, Scope


class Accumulating(Protocol):
    """A function that takes one row after the other, by the names Flink gives its parts."""

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


def aggregate(scope: Scope) -> Aggregate:
    """The user's function over the arguments of each group, nulls too, in order of arrival."""
    implementation, dtype = scope.call.implementation, scope.call.dtype
    assert implementation is not None

    def of_groups(groups: pl.Series) -> pl.Series:
        results = [implementation(group.struct.unnest()) for group in groups]
        return pl.Series(groups.name, results, dtype)

    arguments = pl.struct(scope.call.arguments)
    kept, values = scope.values(arguments, "arguments", nulls=True)
    return Aggregate((kept,), values.map_batches(of_groups, return_dtype=dtype))
