"""Frames as the Arrow batches that connectors and readers get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.columns import KIND

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def schema_of(names: Sequence[str], types: Sequence[t.DataType], *, kinds: bool) -> pa.Schema:
    """The columns of an edge; months are numbers, as Spark sends them."""
    import pyarrow as pa

    fields = [
        (name, pa.int32() if isinstance(type_, t.YearMonthInterval) else to_arrow(_loose(type_)))
        for name, type_ in zip(names, types, strict=True)
    ]
    return pa.schema([*fields, *[(KIND, pa.string())] * kinds])


def _loose(type_: t.DataType) -> t.DataType:
    """The type with safe names, and parts that may be NULL."""
    match type_:
        case t.Array(element=element):
            return t.Array(_loose(element))
        case t.Map(key=key, value=value):
            return t.Map(_loose(key), _loose(value))
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            return t.Row(
                tuple(
                    replace(field, name=name, type=_loose(field.type))
                    for name, field in zip(names, fields, strict=True)
                )
            )
    return type_.with_nullable(True)


def as_arrow(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    import polars as pl
    import pyarrow as pa

    if not schema.names:
        return pa.table({})
    table = frame.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(schema)
