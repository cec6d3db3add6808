"""Rows to JSON documents, as whole columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import polars as pl

from tidemark import types as t
from tidemark.formats.texts import shortened, text_of
from tidemark.functions.spark_text import safe_names

_NULL = pl.lit("null")
# What must not be in a string as it is.
_ESCAPES = {
    **{chr(code): f"\\u{code:04X}" for code in range(32)},
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    '"': '\\"',
    "\\": "\\\\",
}

_BEYOND = r"[\x{10000}-\x{10FFFF}]"


@dataclass(frozen=True, slots=True)
class JsonWriting:
    """How a table's documents are written: by the options of a format."""

    iso_times: bool
    plain_decimals: bool
    without_nulls: bool

    @classmethod
    def of(cls, format_: str, options: Mapping[str, Any]) -> Self:
        return cls(
            options.get(f"{format_}.timestamp-format.standard", "SQL") == "ISO-8601",
            bool(options.get(f"{format_}.encode.decimal-as-plain-number")),
            bool(options.get(f"{format_}.encode.ignore-null-fields")),
        )


def json_lines(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pl.Series:
    """A document for each row. Columns are by position."""
    return documents(rows, fields, JsonWriting.of("json", options)).alias("value")


def documents(rows: pl.DataFrame, fields: Sequence[t.Field], writing: JsonWriting) -> pl.Series:
    values = [pl.col(column) for column in rows.columns]
    return rows.select(_object(values, fields, writing)).to_series()


def _object(values: Sequence[pl.Expr], fields: Sequence[t.Field], writing: JsonWriting) -> pl.Expr:
    members = []
    for value, field in zip(values, fields, strict=True):
        name = json.dumps(field.name, ensure_ascii=False)
        text = pl.lit(f",{name}:") + _value(value, field.type, writing)
        omitted = pl.lit("") if writing.without_nulls else pl.lit(f",{name}:null")
        members.append(pl.when(value.is_not_null()).then(text).otherwise(omitted))
    return pl.lit("{") + pl.concat_str(members).str.strip_prefix(",") + "}"


def _value(value: pl.Expr, type_: t.DataType, writing: JsonWriting) -> pl.Expr:
    """The JSON of a value; NULL for NULL."""
    match type_:
        case t.Array(element=element):
            items = value.list.eval(_or_null(pl.element(), element, writing))
            return pl.lit("[") + items.list.join(",") + "]"
        case t.Map(value=item):
            return _map(value, item, writing)
        case t.Multiset():
            return _map(value, t.Int(), writing)
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            return _object([value.struct.field(name) for name in names], fields, writing)
        case t.Decimal():
            return value.cast(pl.String) if writing.plain_decimals else shortened(value, type_)
        case t.Float() | t.Double():
            text = text_of(value, type_)
            return pl.when(value.is_finite()).then(text).otherwise(_quoted(text))
        case t.Boolean() | t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return value.cast(pl.String)
        case t.Char() | t.VarChar():
            return _string(value)
        case _:
            return _quoted(text_of(value, type_, iso_times=writing.iso_times))


def _map(value: pl.Expr, item: t.DataType, writing: JsonWriting) -> pl.Expr:
    key, inside = pl.element().struct.field("key"), pl.element().struct.field("value")
    pair = _string(key) + ":" + _or_null(inside, item, writing)
    return pl.lit("{") + value.map.entries().list.eval(pair).list.join(",") + "}"


def _or_null(value: pl.Expr, type_: t.DataType, writing: JsonWriting) -> pl.Expr:
    return pl.when(value.is_not_null()).then(_value(value, type_, writing)).otherwise(_NULL)


def _string(text: pl.Expr) -> pl.Expr:
    escaped = text.str.replace_many(_ESCAPES)
    return _quoted(escaped.map_batches(_with_units, return_dtype=pl.String, is_elementwise=True))


def _with_units(text: pl.Series) -> pl.Series:
    """Flink's writer escapes characters that Java keeps as two units. A column has few of them."""
    found = text.str.extract_all(_BEYOND).explode(empty_as_null=False, keep_nulls=False).unique()
    characters = found.drop_nulls().to_list()
    if not characters:
        return text
    return text.str.replace_many(characters, [_units(character) for character in characters])


def _units(character: str) -> str:
    code = character.encode("utf-16-be").hex().upper()
    return f"\\u{code[:4]}\\u{code[4:]}"


def _quoted(text: pl.Expr) -> pl.Expr:
    return pl.lit('"') + text + '"'
