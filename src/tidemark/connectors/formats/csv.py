"""The csv format: one row per record, fields by position.

Spark's CSV source splits a file into records, even if a quoted field contains line breaks, and
returns their text. It is split into fields here, so that a stray quote, or a missing or extra
field, is noticed, and handled as in Flink.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors import records
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import time_hints
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    FILE,
    Decode,
    Encode,
    Format,
    FormatField,
    raw_name,
)
from tidemark.connectors.formats.conversions import Notation, from_string, matches, to_string
from tidemark.connectors.options import option_error
from tidemark.errors import PlanError
from tidemark.formats.csv_style import (
    ALWAYS_QUOTED_FROM,
    COMMENTS,
    DELIMITER,
    ELEMENTS,
    ESCAPE,
    IGNORE,
    NO_QUOTE,
    NULL,
    QUOTE,
    SCIENTIFIC,
    UNBALANCED,
    Style,
    miscounted,
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
    OptionSpec(COMMENTS, "boolean", False, summary="skip lines that start with #"),
    OptionSpec(ELEMENTS, "string", ";", summary="the separator of array elements"),
    OptionSpec(SCIENTIFIC, "boolean", True, summary="write 1E+2 instead of 100"),
)

_RAW = raw_name(0)


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    if options[NO_QUOTE] and table.option(QUOTE) is not None:
        raise option_error(table, QUOTE, f"'{QUOTE}' and '{NO_QUOTE}' cannot be combined")
    for key in (DELIMITER, QUOTE, ESCAPE):
        if options[key] is not None and len(unescaped(options[key])) != 1:
            raise option_error(table, key, f"option '{key}' must be a single character")
    for field in fields:
        if not _fits(field.type):
            raise PlanError(
                f"column `{field.name}` cannot be stored as CSV: it is {field.type.text()}",
                source=table.source,
                notes={"table": table.name},
                hint="use 'format' = 'json'",
            )


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


# --- reading -----------------------------------------------------------------------------------


def read(decode: Decode) -> DataFrame:
    style = Style.of(decode.options)
    ignore: bool = decode.options[IGNORE]
    frame = _records(decode, style)
    if decode.options[COMMENTS]:
        frame = frame.where(f"NOT ltrim({_RAW}) LIKE '#%'")
    fields = _checked(_split(style), len(decode.fields), ignore)
    read = frame.selectExpr(_RAW, f"{fields} AS _tm_good", *ABOUT_FILES)
    if ignore:
        read = decode.count_skipped(read, "size(_tm_good) = 0")
    # Spark does not optimize across a generator: each record is split once, and none is skipped
    # unseen.
    apart = read.selectExpr(_RAW, "explode(_tm_good) AS _tm_fields", *ABOUT_FILES)
    columns = [
        f"{_value(i, field, decode, style)} AS {field.sql}" for i, field in enumerate(decode.fields)
    ]
    return apart.selectExpr(*columns, *ABOUT_FILES)


def _records(decode: Decode, style: Style) -> DataFrame:
    """The text of each record. In a table with one column, each line is a record."""
    from pyspark.sql.types import StringType, StructField, StructType

    def columns(*names: str) -> StructType:
        return StructType([StructField(name, StringType()) for name in names])

    if style.quote is None or len(decode.fields) == 1:
        frame = decode.open("text", columns("value"), {"lineSep": "\n"})
        return frame.selectExpr(f"{_without_return(_RAW)} AS {_RAW}", *ABOUT_FILES)
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "record",
        "multiLine": "true",
        # Spark rejects a longer record without a reason, even if bad records are skipped.
        "maxColumns": "200000",
        # Otherwise the first line break decides for the file, even if it is inside a field.
        "lineSep": "\n",
        "sep": style.delimiter,
        "quote": style.quote,
        "escape": style.escape or style.quote,
        "comment": "#" if decode.options[COMMENTS] else "",
    }
    # Parsed as if records had a single field, every other one is passed on unchanged.
    frame = decode.open("csv", columns("field", "record"), options)
    field, record = raw_name(0), raw_name(1)
    quote = string(style.quote)
    quoted = f"concat({quote}, replace({field}, {quote}, {string(style.quote * 2)}), {quote})"
    again = f"IF({matches(field, _class(style, chr(10)))}, {quoted}, {field})"
    whole = f"coalesce({record}, {again}, '')"
    return frame.selectExpr(f"{_without_return(whole)} AS {_RAW}", *ABOUT_FILES)


def _without_return(line: str) -> str:
    """A line that ended in CR LF, without the CR."""
    end = string("\r")
    return f"IF(endswith({line}, {end}), substring({line}, 1, length({line}) - 1), {line})"


def _class(style: Style, *more: str) -> str:
    """A pattern for one character that has a meaning in a record."""
    special = (style.delimiter, style.quote, style.escape, *more)
    return "[" + "".join(re.escape(c) for c in special if c is not None) + "]"


def _split(style: Style) -> str:
    """The fields of a record as an array; NULL if its quotes are not balanced."""
    plain = f"split({_RAW}, {string(re.escape(style.delimiter))}, -1)"
    special = [c for c in (style.quote, style.escape) if c is not None]
    if not special:
        return plain
    found = f"regexp_extract_all({_RAW}, {string(_pattern(style))}, 0)"
    whole = f"length(array_join(_found, '')) = length({_RAW})"
    cut = f"IF(_i = 0, _field, substring(_field, {len(style.delimiter) + 1}))"
    apart = f"transform(_found, (_field, _i) -> {_unquoted(cut, style)})"
    # The array of one element binds a name to what is used twice.
    careful = f"transform(array({found}), _found -> CASE WHEN {whole} THEN {apart} END)[0]"
    simple = " AND ".join(f"instr({_RAW}, {string(c)}) = 0" for c in special)
    return f"CASE WHEN {simple} THEN {plain} ELSE {careful} END"


def _pattern(style: Style) -> str:
    delimiter = re.escape(style.delimiter)
    escaped = f"|{re.escape(style.escape)}(?s:.)" if style.escape else ""
    stop = re.escape(style.escape) if style.escape else ""
    plain = f"(?:[^{delimiter}{stop}]{escaped})*+"
    if style.quote is None:
        return rf"\G(?:^|{delimiter}){plain}(?={delimiter}|\z)"
    quote = re.escape(style.quote)
    quoted = f"{quote}(?:[^{quote}{stop}]|{quote}{quote}{escaped})*+{quote} *+"
    return rf"\G(?:^|{delimiter})(?:{quoted}|(?!{quote}){plain})(?={delimiter}|\z)"


def _unquoted(field: str, style: Style) -> str:
    result = field
    if style.quote is not None:
        quote = string(style.quote)
        length = len(style.quote)
        body = f"rtrim({field})"
        inside = f"substring({body}, {length + 1}, length({body}) - {2 * length})"
        doubled = f"replace({inside}, {string(style.quote * 2)}, {quote})"
        result = f"IF(startswith({field}, {quote}), {doubled}, {field})"
    if style.escape is None:
        return result
    for letter, character in (("n", "\n"), ("r", "\r"), ("t", "\t")):
        pattern = rf"(?<!{re.escape(style.escape)}){re.escape(style.escape)}{letter}"
        result = f"regexp_replace({result}, {string(pattern)}, {string(character)})"
    return f"regexp_replace({result}, {string(re.escape(style.escape) + '(.)')}, '$1')"


def _checked(fields: str, count: int, ignore: bool) -> str:
    """An array with the fields of a valid record; for an invalid one it is empty, or raises."""
    # One extra empty field is allowed: it is a delimiter at the end of the line.
    many = f"size(_f) > {count + 1} OR (size(_f) = {count + 1} AND _f[{count}] <> '')"
    few = f"size(_f) < {count}"
    if ignore:
        return f"filter(array({fields}), _f -> _f IS NOT NULL AND NOT ({many}))"

    def on_invalid(reason: str) -> str:
        return records.raising(
            file=FILE,
            record=_RAW,
            problem="'cannot read the record as CSV'",
            reason=reason,
            hint=string(f"'{IGNORE}' = 'true' skips such records"),
        )

    counted = f"concat({string(miscounted(count, ''))}, size(_f))"
    checked = (
        f"CASE WHEN _f IS NULL THEN {on_invalid(string(UNBALANCED))} "
        f"WHEN {many} OR {few} THEN {on_invalid(counted)} ELSE _f END"
    )
    return f"transform(array({fields}), _f -> {checked})"


def _value(position: int, field: FormatField, decode: Decode, style: Style) -> str:
    def on_invalid(text: str, type_: t.DataType) -> str:
        return records.raising(
            file=FILE,
            record=_RAW,
            value=f"substring({text}, 1, 200)",
            problem=string(f"cannot read `{field.name}` as {type_.text()}"),
            reason=string(f"the value is not a valid {type_.text()}"),
            hint=time_hints.hint(
                text,
                type_,
                f"'{IGNORE}' = 'true' reads such fields as NULL",
                iso=False,
                option=None,
            ),
        )

    notation = Notation(
        loose_dates=True,
        short_times=True,
        on_invalid=None if decode.options[IGNORE] else on_invalid,
    )
    text = f"get(_tm_fields, {position})"
    if style.null is not None:
        text = f"nullif({text}, {string(style.null)})"
    return _converted(text, field.type, notation, style)


def _converted(text: str, type_: t.DataType, notation: Notation, style: Style) -> str:
    parts = f"split({text}, {string(re.escape(style.elements))}, -1)"
    match type_:
        case t.Array(element=element):
            inside = from_string(_part("_x", element), element, notation)
            items = f"transform({parts}, _x -> {inside})"
            return f"CASE WHEN trim({text}) = '' THEN array() ELSE {items} END"
        case t.Row(fields=fields):
            names = spark_text.safe_names([f.name for f in fields])
            pairs = ", ".join(
                f"'{name}', {from_string(_part(f'get({parts}, {i})', f.type), f.type, notation)}"
                for i, (name, f) in enumerate(zip(names, fields, strict=True))
            )
            return f"CASE WHEN trim({text}) <> '' THEN named_struct({pairs}) END"
        case _:
            return from_string(text, type_, notation)


def _part(sql: str, type_: t.DataType) -> str:
    """An element as a string; an empty one is NULL unless it can be an empty string."""
    return sql if isinstance(type_, t.CHARACTERS) else f"nullif({sql}, '')"


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
            return _joined(
                f"transform({field.sql}, _x -> {_to_string('_x', element, encode)})", style
            )
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
    return f"array_join({array}, {string(style.elements)}, '')"


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
    special = rf"[\x{{0}}-\x{{{last:x}}}\\]"
    quote = string(style.quote)
    inside = f"replace({text}, {quote}, {string(style.quote * 2)})"
    if style.escape is not None:
        escape = string(style.escape)
        inside = f"replace({inside}, {escape}, {string(style.escape * 2)})"
        special = special[:-1] + re.escape(style.escape) + "]"
    needed = f"length({text}) >= {ALWAYS_QUOTED_FROM} OR {matches(text, special)}"
    return f"IF({needed}, concat({quote}, {inside}, {quote}), {text})"


CSV = Format("csv", OPTIONS, check, read, write)
