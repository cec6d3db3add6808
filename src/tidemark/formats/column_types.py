"""The columns of values: their types in Arrow and Polars, with safe names inside rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.functions.arrow_types import loose_arrow

NESTED = (t.Array, t.Map, t.Multiset, t.Row)


def series(values: Sequence[Any], type_: t.DataType, name: str) -> pl.Series:
    """A column of values as Arrow takes them: rows as tuples, maps as lists of pairs."""
    # Arrow would load pandas, which takes as long as a small query.
    if isinstance(type_, t.Time):
        return (pl.Series(name, values, pl.Int64) * 1000).cast(pl.Time)
    if not isinstance(type_, NESTED):
        return pl.Series(name, values, dtype(type_))
    return _of_arrow(pa.array(values, loose_arrow(type_))).alias(name)


@cache
def dtype(type_: t.DataType) -> pl.DataType:
    return _of_arrow(pa.nulls(0, loose_arrow(type_))).dtype


def _of_arrow(array: pa.Array) -> pl.Series:
    column = pl.from_arrow(array)
    assert isinstance(column, pl.Series)
    return column


def schema(fields: Sequence[t.Field]) -> dict[str, pl.DataType]:
    return {field.name: dtype(field.type) for field in fields}
