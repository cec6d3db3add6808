"""Nested values as strings: equal values are equal strings, which Polars groups and hashes."""

from __future__ import annotations

import polars as pl
from polars.datatypes import DataTypeClass


def encoded(name: str, dtype: pl.DataType) -> pl.Expr:
    """The column as it is, or as strings if its values have parts."""
    if not dtype.is_nested():
        return pl.col(name)
    # Names of columns and fields are left out: each side of a join has names of its own.
    return pl.struct(_writable(pl.col(name), dtype).alias("")).struct.json_encode().alias(name)


def _writable(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The value without what Polars does not write as JSON: bytes, keys other than strings."""
    if dtype == pl.Binary():
        return value.bin.encode("hex")
    if isinstance(dtype, pl.Struct):
        fields = [
            _writable(value.struct.field(field.name), _instance(field.dtype)).alias(str(place))
            for place, field in enumerate(dtype.fields)
        ]
        # A row of NULLs is not a NULL.
        return pl.struct(value.is_null().alias("null"), *fields)
    if isinstance(dtype, pl.List | pl.Array):
        inner = _writable(pl.element(), _instance(dtype.inner))
        return value.list.eval(inner) if isinstance(dtype, pl.List) else value.arr.eval(inner)
    if isinstance(dtype, pl.Map):
        entries = pl.Struct({"key": dtype.key, "value": dtype.value})
        return _writable(value.map.entries(), pl.List(entries))
    return value


def _instance(dtype: pl.DataType | DataTypeClass) -> pl.DataType:
    return dtype() if isinstance(dtype, DataTypeClass) else dtype
