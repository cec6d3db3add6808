"""The columns of values: their types in Arrow and Polars, with safe names inside rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.spark_text import safe_names

NESTED = (t.Array, t.Map, t.Multiset, t.Row)


def arrow_type(type_: t.DataType) -> pa.DataType:
    return to_arrow(_nullable(type_))


def series(values: Sequence[Any], type_: t.DataType, name: str) -> pl.Series:
    """A column of values as Arrow takes them: rows as tuples, maps as lists of pairs."""
    column = pl.from_arrow(pa.array(values, arrow_type(type_)))
    assert isinstance(column, pl.Series)
    return column.alias(name)


@cache
def dtype(type_: t.DataType) -> pl.DataType:
    return series([], type_, "").dtype


def schema(fields: Sequence[t.Field]) -> dict[str, pl.DataType]:
    return {field.name: dtype(field.type) for field in fields}


def _nullable(type_: t.DataType) -> t.DataType:
    """The type with safe names, whose parts may be NULL: a format does not check that."""
    match type_:
        case t.Array(element=element):
            return t.Array(_nullable(element))
        case t.Map(key=key, value=value):
            return t.Map(_nullable(key), _nullable(value))
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            return t.Row(
                tuple(
                    replace(field, name=name, type=_nullable(field.type))
                    for name, field in zip(names, fields, strict=True)
                )
            )
        case _:
            return type_.with_nullable(True)
