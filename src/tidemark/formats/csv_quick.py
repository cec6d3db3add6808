"""CSV records as whole columns: lines whose fields are plain, or in quotes without others inside.

Such a line is a record if it begins one. What precedes it decides that, so the caller leaves out
the lines that are part of a longer record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemark import types as t
from tidemark.formats.csv_style import Style
from tidemark.formats.csv_values import SPELLING
from tidemark.formats.quick_values import converter

_NESTED = (t.Array, t.Map, t.Multiset, t.Row)


@dataclass(frozen=True, slots=True)
class QuickLines:
    columns: list[pl.Series]
    sure: pl.Series  # the lines that were read


class QuickCsv:
    def __init__(self, fields: Sequence[t.Field], style: Style) -> None:
        self._fields = fields
        self._style = style
        # Arrays and rows are taken apart the exact way.
        self._able = not any(isinstance(field.type, _NESTED) for field in fields)
        self._pattern = _pattern(style, len(fields))

    def read(self, lines: pl.Series) -> QuickLines | None:
        """What the lines contain; None if this way cannot be taken at all."""
        if not self._able or lines.is_empty():
            return None
        groups = lines.str.extract_groups(self._pattern).struct.unnest()
        sure = groups[str(len(self._fields))].is_not_null()
        if self._style.comments:
            sure &= ~lines.str.strip_chars_start(" ").str.starts_with("#")
        columns = []
        for i, field in enumerate(self._fields, start=1):
            text = self._text(groups[str(i)])
            values = converter(field.type, SPELLING, numbers_only=False)(text)
            if values.null_count() > text.null_count():
                sure &= values.is_not_null() | text.is_null()
            columns.append(values.alias(field.name))
        return QuickLines(columns, sure)

    def _text(self, field: pl.Series) -> pl.Series:
        quote, null = self._style.quote, self._style.null
        if quote is not None:
            quoted = field.str.starts_with(quote)
            if quoted.any():
                inside = field.str.strip_prefix(quote).str.strip_suffix(quote)
                field = pl.select(pl.when(quoted).then(inside).otherwise(field)).to_series()
        if null is not None:
            field = pl.select(pl.when(field != null).then(field)).to_series()
        return field


def _pattern(style: Style, width: int) -> str:
    special = [style.delimiter, style.quote, style.escape]
    escaped = [_escaped(c) for c in special if c is not None]
    plain = rf"[^\r\n{''.join(escaped)}]*"
    field = f"({plain})"
    if style.quote is not None:
        quote = _escaped(style.quote)
        inside = "".join(_escaped(c) for c in (style.quote, style.escape) if c is not None)
        field = rf"({quote}[^\r\n{inside}]*{quote}|{plain})"
    delimiter = _escaped(style.delimiter)
    # One extra empty field is allowed: it is a delimiter at the end of the line.
    extra = f"(?:{delimiter})?"
    return rf"^{delimiter.join([field] * width)}{extra}\r?\n?$"


def _escaped(character: str) -> str:
    return rf"\x{{{ord(character):x}}}"
