"""Frames as the Arrow batches that connectors and readers get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions.arrow_types import loose_arrow
from tidemark.kernels.columns import KIND

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def schema_of(names: Sequence[str], types: Sequence[t.DataType], *, kinds: bool) -> pa.Schema:
    """The columns of an edge; months are numbers, as Spark sends them."""
    import pyarrow as pa

    fields = [
        (name, pa.int32() if isinstance(type_, t.YearMonthInterval) else loose_arrow(type_))
        for name, type_ in zip(names, types, strict=True)
    ]
    return pa.schema([*fields, *[(KIND, pa.string())] * kinds])


def as_arrow(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    import polars as pl
    import pyarrow as pa

    if not schema.names:
        return pa.table({})
    table = frame.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(schema)
