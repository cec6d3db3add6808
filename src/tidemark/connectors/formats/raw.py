"""The raw format: a single column, one record per line, its bytes unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors import records
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    FILE,
    Decode,
    Encode,
    Format,
    FormatField,
    raw_name,
)
from tidemark.connectors.options import option_error
from tidemark.errors import PlanError
from tidemark.formats.raw_options import CHARSET, ENDIANNESS, WIDTHS, no_null, wrong_size
from tidemark.functions.spark_text import spark_type, string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = (
    OptionSpec(CHARSET, "string", "UTF-8", summary="the character set of strings"),
    OptionSpec(
        ENDIANNESS,
        "enum",
        "big-endian",
        choices=("big-endian", "little-endian"),
        summary="the order of the bytes of numbers",
    ),
)

# The character sets that Spark can decode.
_CHARSETS = ("UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32")


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    if len(fields) != 1:
        raise PlanError(
            f"the raw format needs exactly one column, and the table has {len(fields)}",
            source=table.source,
            notes={"table": table.name},
        )
    type_ = fields[0].type
    if type(type_) not in WIDTHS and not isinstance(type_, (*t.CHARACTERS, *t.BINARIES)):
        raise PlanError(
            f"the raw format does not support {type_.text()}",
            source=table.source,
            notes={"table": table.name},
            hint="use STRING, BYTES, BOOLEAN or the type of a number, except for DECIMAL",
        )
    if options[CHARSET].upper() not in _CHARSETS:
        raise option_error(
            table,
            CHARSET,
            f"unknown character set '{options[CHARSET]}'",
            hint=f"supported are {', '.join(_CHARSETS)}",
        )


def read(decode: Decode) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    (field,) = decode.fields
    if _has_fractions(decode.fields):
        from tidemark.connectors.filesystem.decoded_files import decoded

        return decoded(decode, "raw", skips=False)
    schema = StructType([StructField("value", StringType())])
    frame = decode.open("text", schema, {"lineSep": "\n"})
    line = f"CAST({raw_name(0)} AS BINARY)"
    return frame.selectExpr(f"{_value(line, field, decode)} AS {field.sql}", *ABOUT_FILES)


def _value(line: str, field: FormatField, decode: Decode) -> str:
    type_ = field.type
    # As in Flink, a carriage return is part of the line's end.
    returned = f"endswith({line}, X'0D')"
    line = f"IF({returned}, substring({line}, 1, length({line}) - 1), {line})"
    if isinstance(type_, t.BINARIES):
        return line
    if isinstance(type_, t.CHARACTERS):
        return f"decode({line}, {string(decode.options[CHARSET].upper())})"
    width = WIDTHS[type(type_)]
    ordered = line if decode.options[ENDIANNESS] == "big-endian" else _reversed(line, width)
    on_invalid = records.raising(
        file=FILE,
        problem=string(f"cannot read `{field.name}` as {type_.text()}"),
        reason=f"concat({string(wrong_size(width, ''))}, length({line}))",
        value=f"hex({line})",
    )
    return (
        f"CASE WHEN length({line}) = {width} THEN {_number(ordered, type_)} ELSE {on_invalid} END"
    )


def _has_fractions(fields: tuple[FormatField, ...]) -> bool:
    """Whether only workers know the type: Spark's SQL does not know a fraction by its bits."""
    return any(isinstance(field.type, t.Float | t.Double) for field in fields)


def _number(line: str, type_: t.DataType) -> str:
    unsigned = f"CAST(conv(hex({line}), 16, 10) AS DECIMAL(20, 0))"
    if isinstance(type_, t.Boolean):
        return f"{unsigned} <> 0"
    bits = 8 * WIDTHS[type(type_)]
    wrapped = f"IF({unsigned} >= {2 ** (bits - 1)}BD, {unsigned} - {2**bits}BD, {unsigned})"
    return f"CAST({wrapped} AS {spark_type(type_)})"


def _reversed(binary: str, width: int) -> str:
    return "concat(" + ", ".join(f"substring({binary}, {i}, 1)" for i in range(width, 0, -1)) + ")"


def write(encode: Encode) -> DataFrame:
    (field,) = encode.fields
    present = f"CASE WHEN {field.sql} IS NULL THEN {_no_null(field)} ELSE TRUE END"
    return encode.frame.where(present).selectExpr(f"{_bytes(field, encode)} AS value", *encode.keep)


def _no_null(field: FormatField) -> str:
    problem, reason, hint = map(string, no_null(field.name))
    return records.raising(problem=problem, reason=reason, hint=hint)


def _bytes(field: FormatField, encode: Encode) -> str:
    if isinstance(field.type, t.BINARIES):
        return f"CAST({field.sql} AS STRING)"
    if isinstance(field.type, t.CHARACTERS):
        charset = encode.options[CHARSET].upper()
        encoded = f"CAST(encode({field.sql}, {string(charset)}) AS STRING)"
        return field.sql if charset == "UTF-8" else encoded
    width = WIDTHS[type(field.type)]
    digits = f"lpad(hex(CAST({field.sql} AS BIGINT)), 16, '0')"
    binary = f"unhex(substring({digits}, {16 - 2 * width + 1}))"
    ordered = binary if encode.options[ENDIANNESS] == "big-endian" else _reversed(binary, width)
    return f"CAST({ordered} AS STRING)"


RAW = Format("raw", OPTIONS, check, read, write, only_by_arrow=_has_fractions)
