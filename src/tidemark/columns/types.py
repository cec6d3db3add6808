"""What each Flink type is in a column of Polars."""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.functions.spark_text import check_precision, safe_names

_PLAIN: dict[type[t.DataType], pl.DataType] = {
    t.Null: pl.Null(),
    t.Boolean: pl.Boolean(),
    t.TinyInt: pl.Int8(),
    t.SmallInt: pl.Int16(),
    t.Int: pl.Int32(),
    t.BigInt: pl.Int64(),
    t.Float: pl.Float32(),
    t.Double: pl.Float64(),
    t.Char: pl.String(),
    t.VarChar: pl.String(),
    t.KeywordType: pl.String(),
    t.Binary: pl.Binary(),
    t.VarBinary: pl.Binary(),
    t.Date: pl.Date(),
    t.Time: pl.Time(),
    t.Timestamp: pl.Datetime("us"),
    t.TimestampLtz: pl.Datetime("us", "UTC"),
    t.DayTimeInterval: pl.Duration("us"),
    t.YearMonthInterval: pl.Int32(),
}


def polars_type(type_: t.DataType) -> pl.DataType:
    """The Polars type that holds the values of a Flink type.

    >>> polars_type(t.Map(t.STRING, t.Decimal(10, 2)))
    Map(String, Decimal(precision=10, scale=2))
    """
    check_precision(type_)
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            return pl.Decimal(precision, scale)
        case t.Array(element=element):
            return pl.List(polars_type(element))
        case t.Multiset(element=element):
            return pl.Map(polars_type(element), pl.Int32())
        case t.Map(key=key, value=value):
            return pl.Map(polars_type(key), polars_type(value))
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            types = (polars_type(field.type) for field in fields)
            return pl.Struct(dict(zip(names, types, strict=True)))
    return _PLAIN[type(type_)]
