"""What each Flink type is in Spark and back; in Arrow it is by `functions/arrow_types.py`.

    Flink                        Spark                    Arrow
    BOOLEAN                      BOOLEAN                  bool
    TINYINT ... BIGINT           the same                 int8 ... int64
    FLOAT, DOUBLE                the same                 float32, float64
    DECIMAL(p, s)                the same                 decimal128(p, s)
    CHAR(n), VARCHAR(n), STRING  STRING                   string
    BINARY(n), VARBINARY(n)      BINARY                   binary
    DATE                         DATE                     date32
    TIME(p)                      TIME(6)                  time64[us]
    TIMESTAMP(p)                 TIMESTAMP_NTZ            timestamp[us]
    TIMESTAMP_LTZ(p)             TIMESTAMP                timestamp[us, UTC]
    INTERVAL DAY TO SECOND       INTERVAL DAY TO SECOND   duration[us]
    INTERVAL YEAR TO MONTH       INTERVAL YEAR TO MONTH   month_day_nano_interval
    ARRAY, MAP, ROW              ARRAY, MAP, STRUCT       list, map, struct
    MULTISET<t>                  MAP<t, INT>              map<t, int32>

Lengths and precisions live in the plan only: casts keep to them. Names of ROW fields that Spark
cannot be trusted with are replaced there, position by position, by `spark_text.safe_names`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions.spark_text import check_precision, safe_names, spark_type

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType

__all__ = ["from_spark", "spark_type", "to_spark"]


# --- Flink to Spark ----------------------------------------------------------------------------

_SPARK_CLASSES: dict[type[t.DataType], str] = {
    t.Null: "NullType",
    t.Boolean: "BooleanType",
    t.TinyInt: "ByteType",
    t.SmallInt: "ShortType",
    t.Int: "IntegerType",
    t.BigInt: "LongType",
    t.Float: "FloatType",
    t.Double: "DoubleType",
    t.Char: "StringType",
    t.VarChar: "StringType",
    t.Binary: "BinaryType",
    t.VarBinary: "BinaryType",
    t.Date: "DateType",
    t.Time: "TimeType",
    t.Timestamp: "TimestampNTZType",
    t.TimestampLtz: "TimestampType",
    t.DayTimeInterval: "DayTimeIntervalType",
    t.YearMonthInterval: "YearMonthIntervalType",
}


def to_spark(type_: t.DataType) -> SparkType:
    """The Spark type that holds the values of a Flink type, with the nullability of its parts."""
    from pyspark.sql import types as s

    check_precision(type_)
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            return s.DecimalType(precision, scale)
        case t.Array(element=element):
            return s.ArrayType(to_spark(element), element.nullable)
        case t.Multiset(element=element):
            return s.MapType(to_spark(element), s.IntegerType(), valueContainsNull=False)
        case t.Map(key=key, value=value):
            return s.MapType(to_spark(key), to_spark(value), value.nullable)
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            return s.StructType(
                [
                    s.StructField(name, to_spark(field.type), field.type.nullable)
                    for name, field in zip(names, fields, strict=True)
                ]
            )
    return getattr(s, _SPARK_CLASSES[type(type_)])()


# --- Spark to Flink ----------------------------------------------------------------------------

_FLINK_OF_SPARK: dict[str, t.DataType] = {
    "NullType": t.Null(),
    "BooleanType": t.Boolean(),
    "ByteType": t.TinyInt(),
    "ShortType": t.SmallInt(),
    "IntegerType": t.Int(),
    "LongType": t.BigInt(),
    "FloatType": t.Float(),
    "DoubleType": t.Double(),
    "StringType": t.STRING,
    "BinaryType": t.BYTES,
    "DateType": t.Date(),
    "TimestampNTZType": t.Timestamp(6),
    "TimestampType": t.TimestampLtz(6),
    "DayTimeIntervalType": t.DayTimeInterval(),
    "YearMonthIntervalType": t.YearMonthInterval(),
}


def from_spark(type_: SparkType, *, nullable: bool = True) -> t.DataType:
    """The Flink type of a Spark column, exactly as wide."""
    return _from_spark(type_).with_nullable(nullable)


def _from_spark(type_: Any) -> t.DataType:
    kind = type(type_).__name__
    match kind:
        case "DecimalType":
            return t.Decimal(type_.precision, type_.scale)
        case "CharType":
            return t.Char(type_.length)
        case "VarcharType":
            return t.VarChar(type_.length)
        case "TimeType":
            return t.Time(type_.precision)
        case "ArrayType":
            return t.Array(from_spark(type_.elementType, nullable=type_.containsNull))
        case "MapType":
            value = from_spark(type_.valueType, nullable=type_.valueContainsNull)
            return t.Map(from_spark(type_.keyType, nullable=False), value)
        case "StructType":
            return t.Row(
                tuple(
                    t.Field(field.name, from_spark(field.dataType, nullable=field.nullable))
                    for field in type_.fields
                )
            )
    if kind not in _FLINK_OF_SPARK:
        raise NotSupported(
            f"Spark's type {type_.simpleString()} is not supported in Flink SQL",
            hint="cast the column, for example to STRING, before registering it",
        )
    return _FLINK_OF_SPARK[kind]
