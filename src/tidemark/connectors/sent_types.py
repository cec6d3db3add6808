"""Types in which workers send columns to Spark, which does not read all of its own from Arrow."""

from __future__ import annotations

from dataclasses import replace

from tidemark import types as t
from tidemark.functions.spark_text import spark_type


def sent(type_: t.DataType) -> t.DataType:
    """The type in which values are sent: of a TIME a string, of months an INT. Any may be NULL."""
    match type_:
        case t.Time():
            return t.STRING
        case t.YearMonthInterval():
            return t.Int()
        case t.Array(element=element):
            return t.Array(sent(element))
        case t.Multiset(element=element):
            return t.Multiset(sent(element))
        case t.Map(key=key, value=value):
            return t.Map(sent(key), sent(value))
        case t.Row(fields=fields):
            return t.Row(tuple(replace(field, type=sent(field.type)) for field in fields))
    return type_.with_nullable(True)


def received(sql: str, type_: t.DataType) -> str:
    """Spark SQL for a value of the type that was sent in another one."""
    there = spark_type(type_)
    return sql if spark_type(sent(type_)) == there else f"CAST({sql} AS {there})"
