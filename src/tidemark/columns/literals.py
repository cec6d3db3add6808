"""Constants as columns."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type


def literal(value: Any, type_: t.DataType) -> pl.Expr:
    """A constant of a Flink type."""
    kind = polars_type(type_)
    if value is None:
        return pl.lit(None, dtype=kind)
    match type_:
        case t.Decimal():
            return pl.lit(decimal.Decimal(str(value)), dtype=kind)
        case t.Float() | t.Double():
            return pl.lit(float(value), dtype=kind)
        case t.DayTimeInterval():
            return pl.lit(dt.timedelta(milliseconds=value), dtype=kind)
        case t.Binary() | t.VarBinary():
            return pl.lit(bytes(value))
        case t.TimestampLtz() | t.Array() | t.Map() | t.Multiset() | t.Row():
            raise NotInColumns(f"a {type_.text()} literal")
    return pl.lit(value, dtype=kind)
