"""The parquet and orc formats: typed columns, found by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import ABOUT_FILES, Decode, Encode, Field, Format, raw_name
from tidemark.errors import PlanError
from tidemark.functions.spark_text import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CODECS = {
    "parquet": ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZ4", "ZSTD"),
    "orc": ("NONE", "SNAPPY", "ZLIB", "LZ4", "ZSTD"),
}


def _options(name: str) -> tuple[OptionSpec, ...]:
    key = "parquet.compression" if name == "parquet" else "orc.compress"
    return (
        OptionSpec(key, "enum", "SNAPPY", choices=_CODECS[name], summary="how files are packed"),
        OptionSpec(f"{name}.utc-timezone", "boolean", True, summary="changes nothing here"),
    )


def check(table: Table, fields: tuple[Field, ...], options: Mapping[str, Any]) -> None:
    seen: dict[str, str] = {}
    for field in fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other != field.name:
            raise _unfit(table, f"columns `{other}` and `{field.name}` differ only by case")
        if isinstance(field.type, t.INTERVALS):
            raise _unfit(table, f"column `{field.name}` is {field.type.text()}")


def _unfit(table: Table, reason: str) -> PlanError:
    return PlanError(
        "the columns cannot be stored in this format",
        source=table.source,
        notes={"table": table.name, "reason": reason},
    )


def reader(name: str) -> Any:
    def read(decode: Decode) -> DataFrame:
        from pyspark.sql.types import DataType, StructField, StructType

        schema = StructType(
            [StructField(f.name, DataType.fromDDL(spark_type(f.type))) for f in decode.fields]
        )
        frame = decode.open(name, schema, {})
        columns = [f"{raw_name(i)} AS {f.sql}" for i, f in enumerate(decode.fields)]
        return frame.selectExpr(*columns, *ABOUT_FILES)

    return read


def write(encode: Encode) -> DataFrame:
    from pyspark.sql import functions as f

    columns = [f.col(field.sql).alias(field.name) for field in encode.fields]
    return encode.frame.select(*columns, *encode.keep)


PARQUET = Format("parquet", _options("parquet"), check, reader("parquet"), write, "parquet")
ORC = Format("orc", _options("orc"), check, reader("orc"), write, "orc")
