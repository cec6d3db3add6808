"""Rows as JSON documents: what the json format and the changelog formats write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import Encode, raw_name
from tidemark.connectors.formats.conversions import to_string
from tidemark.functions import spark_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType as SparkType


def writing_options(format_: str) -> tuple[OptionSpec, ...]:
    """The options for writing that all JSON formats have."""
    return (
        OptionSpec(
            f"{format_}.encode.decimal-as-plain-number",
            "boolean",
            False,
            summary="write 100 instead of 1E+2",
        ),
        OptionSpec(
            f"{format_}.encode.ignore-null-fields", "boolean", False, summary="omit NULL fields"
        ),
    )


@dataclass(frozen=True, slots=True)
class _Writing:
    """How documents are written: by the options of a format."""

    plain_decimals: bool
    iso_times: bool


def with_documents(encode: Encode, format_: str) -> DataFrame:
    """The rows as documents in one column `value`."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructField, StructType

    options = encode.options
    writing = _Writing(
        options[f"{format_}.encode.decimal-as-plain-number"],
        options[f"{format_}.timestamp-format.standard"] == "ISO-8601",
    )
    values = [f.expr(_encoded(field.sql, field.type, writing, 0)) for field in encode.fields]
    row = f.struct(*(value.alias(raw_name(i)) for i, value in enumerate(values)))
    inside = encode.frame.select(row.alias("value"), *encode.keep)
    struct = inside.schema["value"].dataType
    # The documents have the fields' own names, which cannot be written safely in SQL.
    named = StructType(
        [
            StructField(field.name, _own_names(part.dataType, field.type))
            for field, part in zip(encode.fields, struct.fields, strict=True)
        ]
    )
    without_nulls = options[f"{format_}.encode.ignore-null-fields"]
    ignored = {"ignoreNullFields": "true" if without_nulls else "false"}
    text = f.to_json(f.col("value").cast(named), ignored)
    return inside.select(text.alias("value"), *encode.keep)


def _encoded(sql: str, type_: t.DataType, writing: _Writing, depth: int) -> str:
    x = f"_x{depth}"
    match type_:
        case t.Array(element=element):
            return f"transform({sql}, {x} -> {_encoded(x, element, writing, depth + 1)})"
        case t.Map() | t.Multiset():
            value = type_.value if isinstance(type_, t.Map) else t.Int()
            inside = _encoded(x, value, writing, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Row(fields=fields):
            names = spark_text.safe_names([field.name for field in fields])
            pairs = ", ".join(
                f"'_{i}', {_encoded(f'{sql}.`{name}`', field.type, writing, depth + 1)}"
                for i, (name, field) in enumerate(zip(names, fields, strict=True))
            )
            return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({pairs}) END"
        case t.Decimal() if not writing.plain_decimals:
            # A variant writes a decimal without trailing zeros, as Flink does.
            return f"CAST({sql} AS VARIANT)"
        case t.Float() | t.Double() | t.Boolean() | t.Decimal():
            return sql
        case _ if isinstance(type_, (*t.INTEGERS, *t.CHARACTERS)):
            return sql
        case _:
            return to_string(sql, type_, iso_times=writing.iso_times)


def _own_names(spark: SparkType, type_: t.DataType) -> SparkType:
    from pyspark.sql import types as s

    match type_:
        case t.Array(element=element):
            assert isinstance(spark, s.ArrayType)
            return s.ArrayType(_own_names(spark.elementType, element))
        case t.Map(value=value):
            assert isinstance(spark, s.MapType)
            return s.MapType(s.StringType(), _own_names(spark.valueType, value))
        case t.Row(fields=fields):
            assert isinstance(spark, s.StructType)
            pairs = zip(spark.fields, fields, strict=True)
            return s.StructType(
                [s.StructField(f.name, _own_names(p.dataType, f.type)) for p, f in pairs]
            )
        case _:
            return spark
