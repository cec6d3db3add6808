"""Arrays as sets: what two of them share, and what only the first one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.collections import compared
from tidemark.columns.lists import elements_of, listed

_How = Literal["semi", "anti"]


def _chosen(how: _How) -> Callable[..., pl.Series]:
    """The first of each element of the first array that the second one has, or has not."""

    def compute(first: pl.Series, second: pl.Series) -> pl.Series:
        wanted, others = (elements_of(each).unique(maintain_order=True) for each in (first, second))
        on = wanted.columns
        found = wanted.join(others, on=on, how=how, nulls_equal=True, maintain_order="left")
        return listed(found, first.is_not_null() & second.is_not_null(), first.dtype)

    return compute


def _written(how: _How) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        compared(call)
        return call.active.batches(_chosen(how), call.args, call.result)

    return write


COLUMNS: dict[str, WriteColumn] = {
    "ARRAY_EXCEPT": _written("anti"),
    "ARRAY_INTERSECT": _written("semi"),
}
