"""Frames as the Arrow batches that connectors and readers get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
        (name, loose_arrow(_in_numbers(type_))) for name, type_ in zip(names, types, strict=True)
    ]
    return pa.schema([*fields, *[(KIND, pa.string())] * kinds])


def _in_numbers(type_: t.DataType) -> t.DataType:
    match type_:
        case t.YearMonthInterval():
            return t.Int()
        case t.Array(element=element):
            return t.Array(_in_numbers(element))
        case t.Multiset(element=element):
            return t.Multiset(_in_numbers(element))
        case t.Map(key=key, value=value):
            return t.Map(_in_numbers(key), _in_numbers(value))
        case t.Row(fields=fields):
            return t.Row(tuple(replace(field, type=_in_numbers(field.type)) for field in fields))
    return type_


def as_arrow(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    import polars as pl
    import pyarrow as pa

    if not schema.names:
        return pa.table({})
    table = frame.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(schema)
