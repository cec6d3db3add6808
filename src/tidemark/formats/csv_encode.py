"""Rows to CSV records, as whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats.csv_style import ALWAYS_QUOTED_FROM, BACKSLASH, SCIENTIFIC, Style
from tidemark.formats.texts import shortened, text_of
from tidemark.functions.spark_text import safe_names

_TWO_UNITS = r"[\x{10000}-\x{10FFFF}]"


def csv_lines(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pl.Series:
    """A record for each row. Columns are by position."""
    style = Style.of(options)
    values = [
        _field(pl.col(column), field.type, style).fill_null(style.null or "")
        for column, field in zip(rows.columns, fields, strict=True)
    ]
    return rows.select(pl.concat_str(values, separator=style.delimiter).alias("value")).to_series()


def csv_messages(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pl.Series:
    """The same as messages, in which Flink writes the digits of decimals in full unless an option
    asks for exponents: 1.50 instead of 1.5, also in keys."""
    return csv_lines(rows, fields, {**options, SCIENTIFIC: bool(options.get(SCIENTIFIC))})


def _field(value: pl.Expr, type_: t.DataType, style: Style) -> pl.Expr:
    match type_:
        case t.Array(element=element):
            items = value.list.eval(_text(pl.element(), element, style).fill_null(style.null or ""))
            return _quoted(items.list.join(style.elements), style)
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            parts = [
                _text(value.struct.field(name), field.type, style).fill_null(style.null or "")
                for name, field in zip(names, fields, strict=True)
            ]
            joined = _quoted(pl.concat_str(parts, separator=style.elements), style)
            return pl.when(value.is_not_null()).then(joined)
        case t.Boolean() | t.Decimal() | t.Float() | t.Double():
            return _text(value, type_, style)
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return _text(value, type_, style)
        case _:
            return _quoted(_text(value, type_, style), style)


def _text(value: pl.Expr, type_: t.DataType, style: Style) -> pl.Expr:
    if isinstance(type_, t.Decimal) and style.scientific:
        return shortened(value, type_)
    return text_of(value, type_)


def _quoted(text: pl.Expr, style: Style) -> pl.Expr:
    """The string in quotes if it contains a character up to the delimiter or quote, or is long."""
    if style.quote is None:
        return text
    last = max(ord(style.delimiter), ord(style.quote), ord("\r"))
    special = rf"[\x{{0}}-\x{{{last:x}}}\x{{{ord(style.escape or BACKSLASH):x}}}]"
    inside = text.str.replace_all(style.quote, style.quote * 2, literal=True)
    if style.escape is not None:
        inside = inside.str.replace_all(style.escape, style.escape * 2, literal=True)
    # Java counts a character beyond U+FFFF as two.
    length = text.str.len_chars() + text.str.count_matches(_TWO_UNITS)
    needed = (length >= ALWAYS_QUOTED_FROM) | text.str.contains(special)
    return pl.when(needed).then(pl.lit(style.quote) + inside + style.quote).otherwise(text)
