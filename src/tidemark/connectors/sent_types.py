"""Types in which workers send columns to Spark, which does not read all of its own from Arrow."""

from __future__ import annotations

from dataclasses import replace

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions import spark_text
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


def fetched(column: str, type_: t.DataType) -> str:
    """Spark SQL for a column on its way out. Spark cannot convert month intervals to Arrow; they
    are sent as numbers.
    """
    name = spark_text.name(column)
    if isinstance(type_, t.YearMonthInterval):
        return f"extract(YEAR FROM {name}) * 12 + extract(MONTH FROM {name}) AS {name}"
    if any(isinstance(part, t.YearMonthInterval) for part in t.with_parts(type_)):
        raise NotSupported(
            f"INTERVAL YEAR TO MONTH inside {type_.text()} is not supported as a result",
            notes={"why": "Spark cannot convert it to Arrow"},
            hint="cast the interval to a STRING, or use --local",
        )
    return name
