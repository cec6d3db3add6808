"""JSON documents as rows: what the json format and the changelog formats have in common.

Spark reads every leaf as the exact text in the file, which is then converted as in Flink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors import records
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import time_hints
from tidemark.connectors.formats.base import ABOUT_FILES, FILE, Decode, FormatField, raw_name
from tidemark.connectors.formats.conversions import Notation, from_string
from tidemark.connectors.options import column_error
from tidemark.errors import PlanError
from tidemark.formats import json_reasons
from tidemark.functions import spark_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructType

# A name that no document is likely to use for a field.
CORRUPT = "_tm_corrupt"

PARSER = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "allowUnquotedControlChars": "true",
    "lineSep": "\n",
    "maxNestingDepth": str(json_reasons.MAX_DEPTH),
    "maxNumLen": str(json_reasons.MAX_NUMBER),
    "maxStringLen": str(json_reasons.MAX_STRING),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a format reads its documents: its options, prefixed with its name."""

    format: str
    options: Mapping[str, Any]

    @property
    def ignore_option(self) -> str:
        return f"{self.format}.ignore-parse-errors"

    @property
    def ignores_errors(self) -> bool:
        return bool(self.options[self.ignore_option])

    @property
    def iso_times(self) -> bool:
        return bool(self.options[self.times_option] == "ISO-8601")

    @property
    def times_option(self) -> str:
        return f"{self.format}.timestamp-format.standard"


def reading_options(format_: str) -> tuple[OptionSpec, ...]:
    """The options for reading that all JSON formats have."""
    return (
        OptionSpec(
            f"{format_}.ignore-parse-errors",
            "boolean",
            False,
            summary="skip bad records, read bad fields as NULL",
        ),
        OptionSpec(
            f"{format_}.timestamp-format.standard",
            "enum",
            "SQL",
            choices=("SQL", "ISO-8601"),
            summary="the format of times",
        ),
        # Maps in Spark have no NULL keys: building one with such a key fails before this is
        # reached.
        OptionSpec(
            f"{format_}.map-null-key.mode",
            "enum",
            "FAIL",
            choices=("FAIL", "DROP", "LITERAL"),
            summary="accepted without effect; maps never have NULL keys",
        ),
        OptionSpec(
            f"{format_}.map-null-key.literal", "string", "null", summary="accepted without effect"
        ),
    )


# --- what JSON cannot hold ---------------------------------------------------------------------


def check_fields(table: Table, fields: tuple[FormatField, ...]) -> None:
    """Finds columns that are indistinguishable, and types that JSON cannot represent."""
    _check_names(table, [field.name for field in fields], "the table")
    for field in fields:
        _check_type(table, field.name, field.type)


def _check_names(table: Table, names: list[str], owner: str) -> None:
    """Spark's JSON source treats names that differ only by case as equal."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise PlanError(
                f"columns `{other}` and `{name}` of {owner} differ only in case",
                source=table.source,
                notes={
                    "table": table.name,
                    "why": "Spark's JSON reader does not distinguish them",
                },
                hint="read the lines with 'format' = 'raw' and extract values with JSON_VALUE",
            )


def _check_type(table: Table, column: str, type_: t.DataType) -> None:
    match type_:
        case t.Map(key=key, value=value):
            if not isinstance(key, t.CHARACTERS):
                raise _unfit(table, column, type_, "keys of a JSON object must be strings")
            _check_type(table, column, value)
        case t.Multiset(element=element):
            if not isinstance(element, t.CHARACTERS):
                raise _unfit(table, column, type_, "keys of a JSON object must be strings")
        case t.Array(element=element):
            _check_type(table, column, element)
        case t.Row(fields=fields):
            _check_names(table, [field.name for field in fields], f"`{column}`")
            for field in fields:
                _check_type(table, column, field.type)
        case t.DayTimeInterval() | t.YearMonthInterval():
            raise _unfit(table, column, type_, "Flink cannot write it as JSON either")


def _unfit(table: Table, column: str, type_: t.DataType, reason: str) -> PlanError:
    message = f"column `{column}` cannot be stored as JSON: it is {type_.text()}"
    return column_error(table, column, message, why=reason)


# --- documents ---------------------------------------------------------------------------------

TEXT = raw_name(0)
DOCUMENT = "_tm_document"

_BLANK = f"trim(BOTH {spark_text.string(' ' + chr(9) + chr(13))} FROM {TEXT}) = ''"
_BOM = spark_text.string("\ufeff")
# The input of `from_json`. It would read bytes that are not UTF-8 as other characters, and a blank
# line as nothing at all; neither is acceptable. There is a byte order mark at the start of each
# file that others were appended to.
_PARSED = (
    f"CASE WHEN NOT is_valid_utf8({TEXT}) OR {_BLANK} THEN '?' "
    f"WHEN startswith({TEXT}, {_BOM}) THEN substring({TEXT}, 2) ELSE {TEXT} END"
)


def documents(decode: Decode, row: t.Row) -> DataFrame:
    """The nonempty lines, as `TEXT`, and their content as `DOCUMENT`. Lines may end in CR LF.

    That is a struct of `_0`, `_1`, ... for the fields of `row` with all leaves as strings. Its last
    field is NULL unless the line is not such a document.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType, StructField, StructType

    frame = decode.open("text", StructType([StructField("value", StringType())]), {"lineSep": "\n"})
    parsed = f.from_json(f.expr(_PARSED), document_shape(row), PARSER).cast(document_type(row))
    lines = frame.where(f"{TEXT} <> '' AND {TEXT} <> {spark_text.string(chr(13))}")
    return lines.select(TEXT, parsed.alias(DOCUMENT), *ABOUT_FILES)


def document_shape(row: t.Row) -> StructType:
    """The schema to parse a document with: the row's fields, then `CORRUPT`."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = (StructField(field.name, shape(field.type)) for field in row.fields)
    return StructType([*fields, StructField(CORRUPT, StringType())])


def document_type(row: t.Row) -> str:
    """The same with fields named by position."""
    return positional(t.Row((*row.fields, t.Field(CORRUPT, t.VarChar()))))


def malformed(record: str, reading: Reading) -> str:
    """Spark SQL that fails because `record` is not a document of the required form."""
    return records.raising(
        file=FILE,
        record=record,
        reason=f"CASE WHEN NOT is_valid_utf8({record}) THEN 'its bytes are not valid UTF-8' END",
        problem="'cannot read the record as JSON'",
        hint=spark_text.string(f"'{reading.ignore_option}' = 'true' skips such records"),
    )


def shape(type_: t.DataType) -> SparkType:
    """The type with all leaves as the text they have in the file."""
    from pyspark.sql import types as s

    match type_:
        case t.Array(element=element):
            return s.ArrayType(shape(element))
        case t.Map(value=value):
            return s.MapType(s.StringType(), shape(value))
        case t.Multiset():
            return s.MapType(s.StringType(), s.StringType())
        case t.Row(fields=fields):
            return s.StructType([s.StructField(f.name, shape(f.type)) for f in fields])
        case _:
            return s.StringType()


def positional(type_: t.DataType) -> str:
    """The same shape with the fields of rows named by position, for names that are safe in SQL."""
    match type_:
        case t.Array(element=element):
            return f"ARRAY<{positional(element)}>"
        case t.Map(value=value):
            return f"MAP<STRING, {positional(value)}>"
        case t.Multiset():
            return "MAP<STRING, STRING>"
        case t.Row(fields=fields):
            inside = ", ".join(f"_{i}: {positional(f.type)}" for i, f in enumerate(fields))
            return f"STRUCT<{inside}>"
        case _:
            return "STRING"


# --- values ------------------------------------------------------------------------------------


def value(raw: str, field: FormatField, reading: Reading, record: str | None = None) -> str:
    """Spark SQL for a field whose text is `raw`. `record` is the whole record, if known."""

    def on_invalid(text: str, type_: t.DataType) -> str:
        return records.raising(
            file=FILE,
            record=record,
            column=spark_text.string(field.name),
            value=f"substring({text}, 1, 200)",
            problem=spark_text.string(f"cannot read `{field.name}` as {type_.text()}"),
            reason=spark_text.string(f"the value is not a valid {type_.text()}"),
            hint=time_hints.hint(
                text,
                type_,
                f"'{reading.ignore_option}' = 'true' reads such fields as NULL",
                iso=reading.iso_times,
                option=reading.times_option,
            ),
        )

    notation = Notation(
        iso_times=reading.iso_times,
        integers_truncate=True,
        on_invalid=None if reading.ignores_errors else on_invalid,
    )
    nested = isinstance(field.type, t.Array | t.Map | t.Multiset | t.Row)
    sql = f"CAST({raw} AS {positional(field.type)})" if nested else raw
    return _converted(sql, field.type, notation, depth=0)


def _converted(sql: str, type_: t.DataType, notation: Notation, depth: int) -> str:
    x = f"_x{depth}"
    match type_:
        case t.Array(element=element):
            return f"transform({sql}, {x} -> {_converted(x, element, notation, depth + 1)})"
        case t.Map(value=value):
            inside = _converted(x, value, notation, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Multiset():
            inside = _converted(x, t.Int(), notation, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Row(fields=fields):
            return _row(sql, fields, notation, depth)
        case _:
            return from_string(sql, type_, notation)


def _row(sql: str, fields: tuple[t.Field, ...], notation: Notation, depth: int) -> str:
    names = spark_text.safe_names([field.name for field in fields])
    pairs = ", ".join(
        f"'{name}', {_converted(f'{sql}._{i}', field.type, notation, depth + 1)}"
        for i, (name, field) in enumerate(zip(names, fields, strict=True))
    )
    return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({pairs}) END"
