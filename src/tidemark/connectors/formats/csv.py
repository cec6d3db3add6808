"""The csv format: one row per record, fields by position.

Workers read it with the decoder of `formats`. Spark's own CSV reader drops empty lines, which are
records in Flink, and does not notice stray quotes, or missing and extra fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import Decode, Encode, Format, FormatField
from tidemark.connectors.formats.conversions import matches, to_string
from tidemark.connectors.options import column_error, option_error
from tidemark.formats.csv_style import (
    ALWAYS_QUOTED_FROM,
    BACKSLASH,
    COMMENTS,
    DELIMITER,
    ELEMENTS,
    ESCAPE,
    IGNORE,
    NO_QUOTE,
    NULL,
    QUOTE,
    SCIENTIFIC,
    Style,
    unescaped,
)
from tidemark.functions import spark_text
from tidemark.functions.spark_text import string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = (
    OptionSpec(DELIMITER, "string", ",", summary="the character between fields"),
    OptionSpec(QUOTE, "string", '"', summary="the character around quoted fields"),
    OptionSpec(NO_QUOTE, "boolean", False, summary="disable quoting"),
    OptionSpec(ESCAPE, "string", summary="the character that escapes the next one"),
    OptionSpec(NULL, "string", summary="the string that represents NULL"),
    OptionSpec(IGNORE, "boolean", False, summary="skip bad records, read bad fields as NULL"),
    OptionSpec(COMMENTS, "boolean", False, summary="skip lines that start with #, and empty ones"),
    OptionSpec(ELEMENTS, "string", ";", summary="the separator of array elements"),
    OptionSpec(
        SCIENTIFIC,
        "boolean",
        summary="write 1E+2 instead of 100.0: by default, files do, and messages do not",
    ),
)


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    if options[NO_QUOTE] and table.option(QUOTE) is not None:
        raise option_error(table, QUOTE, f"'{QUOTE}' and '{NO_QUOTE}' cannot be combined")
    for key in (DELIMITER, QUOTE, ESCAPE, ELEMENTS):
        written = options[key]
        character = unescaped(written) if written and key == DELIMITER else written
        if character is not None and len(character) != 1:
            raise option_error(table, key, f"option '{key}' must be a single character")
    for field in fields:
        if not _fits(field.type):
            message = f"column `{field.name}` cannot be stored as CSV: it is {field.type.text()}"
            raise column_error(table, field.name, message, hint="use 'format' = 'json'")


def _fits(type_: t.DataType) -> bool:
    match type_:
        case t.Array(element=element):
            return _is_plain(element)
        case t.Row(fields=fields):
            return all(_is_plain(field.type) for field in fields)
        case _:
            return _is_plain(type_)


def _is_plain(type_: t.DataType) -> bool:
    nested = (t.Array, t.Map, t.Multiset, t.Row, *t.INTERVALS)
    return not isinstance(type_, nested)


def read(decode: Decode) -> DataFrame:
    from tidemark.connectors.filesystem import decoded_files

    return decoded_files.decoded(decode, "csv", skips=decode.options[IGNORE])


# --- writing -----------------------------------------------------------------------------------


def write(encode: Encode) -> DataFrame:
    style = Style.of(encode.options)
    null = string(style.null or "")
    fields = [f"coalesce({_field(f, encode, style)}, {null})" for f in encode.fields]
    record = f"concat_ws({string(style.delimiter)}, {', '.join(fields)})"
    return encode.frame.selectExpr(f"{record} AS value", *encode.keep)


def _field(field: FormatField, encode: Encode, style: Style) -> str:
    match field.type:
        case t.Array(element=element):
            items = f"transform({field.sql}, _x -> {_to_string('_x', element, encode)})"
            return _quoted(_joined(items, style), style)
        case t.Row(fields=fields):
            names = spark_text.safe_names([f.name for f in fields])
            parts = ", ".join(
                _to_string(f"{field.sql}.`{name}`", f.type, encode)
                for name, f in zip(names, fields, strict=True)
            )
            joined = _quoted(_joined(f"array({parts})", style), style)
            return f"CASE WHEN {field.sql} IS NOT NULL THEN {joined} END"
        case _:
            text = _to_string(field.sql, field.type, encode)
            return (
                text if isinstance(field.type, (t.Boolean, *t.NUMERICS)) else _quoted(text, style)
            )


def _joined(array: str, style: Style) -> str:
    return f"array_join({array}, {string(style.elements)}, {string(style.null or '')})"


def _to_string(sql: str, type_: t.DataType, encode: Encode) -> str:
    if isinstance(type_, t.Decimal):
        # A variant writes a decimal without trailing zeros, as Flink does.
        return f"CAST(CAST({sql} AS VARIANT) AS STRING)"
    return sql if isinstance(type_, t.CHARACTERS) else to_string(sql, type_)


def _quoted(text: str, style: Style) -> str:
    """The string in quotes if it contains a character up to the delimiter or quote, or is long."""
    if style.quote is None:
        return text
    last = max(ord(style.delimiter), ord(style.quote), ord("\r"))
    special = rf"[\x{{0}}-\x{{{last:x}}}\x{{{ord(style.escape or BACKSLASH):x}}}]"
    quote = string(style.quote)
    inside = f"replace({text}, {quote}, {string(style.quote * 2)})"
    if style.escape is not None:
        escape = string(style.escape)
        inside = f"replace({inside}, {escape}, {string(style.escape * 2)})"
    needed = f"length({text}) >= {ALWAYS_QUOTED_FROM} OR {matches(text, special)}"
    return f"IF({needed}, concat({quote}, {inside}, {quote}), {text})"


CSV = Format("csv", OPTIONS, check, read, write)
