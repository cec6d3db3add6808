"""The fields of CSV records to values, as whole columns: scalars, arrays and rows of scalars."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.csv_style import Style
from tidemark.formats.csv_values import SPELLING
from tidemark.formats.leaf_values import Flags, LeafReader
from tidemark.formats.nested_columns import arrays, sure_lists
from tidemark.functions.spark_text import safe_names

Cells = tuple[pl.Series, Flags | None]


class CellReader(Protocol):
    def read(self, text: pl.Series) -> Cells:
        """The values of strings, and which of them are right; None if all are."""
        ...


def cell_reader(type_: t.DataType, style: Style) -> CellReader:
    match type_:
        case t.Array(element=element):
            return _Arrays(_Part(element, style), style.elements)
        case t.Row():
            return _Rows(type_, style)
        case _:
            return LeafReader(type_, SPELLING, ignores_errors=style.ignores_errors)


class _Part:
    """An element; an empty one is NULL unless it can be an empty string."""

    def __init__(self, type_: t.DataType, style: Style) -> None:
        self._reader = LeafReader(type_, SPELLING, ignores_errors=style.ignores_errors)
        null = () if style.null is None else (style.null,)
        self._nulls = null if isinstance(type_, t.CHARACTERS) else ("", *null)

    def read(self, text: pl.Series) -> Cells:
        return self._reader.read(_unless(text.is_in(self._nulls), text) if self._nulls else text)


class _Arrays:
    def __init__(self, element: _Part, separator: str) -> None:
        self._element = element
        self._separator = separator

    def read(self, text: pl.Series) -> Cells:
        parts = _unless(_is_blank(text), text).str.split(self._separator)
        sizes = parts.list.len().fill_null(0).to_numpy().astype(np.int64)
        items = parts.list.explode(empty_as_null=False, keep_nulls=False)
        values, sure = self._element.read(items)
        return arrays(values, sizes, text.is_not_null().to_numpy()), sure_lists(sure, sizes)


class _Rows:
    def __init__(self, row: t.Row, style: Style) -> None:
        names = safe_names([each.name for each in row.fields])
        self._parts = [
            (name, _Part(each.type, style)) for name, each in zip(names, row.fields, strict=True)
        ]
        self._separator = style.elements
        self._all_there = not style.ignores_errors

    def read(self, text: pl.Series) -> Cells:
        there = text.is_not_null() & ~_is_blank(text)
        parts = text.str.split(self._separator)
        found = [
            (name, *part.read(_unless(~there, parts.list.get(i, null_on_oob=True))))
            for i, (name, part) in enumerate(self._parts)
        ]
        rows = pl.struct([values.alias(name) for name, values, _ in found])
        sure = [flags for _, _, flags in found if flags is not None]
        if self._all_there:
            whole = ~there | (parts.list.len() >= len(self._parts))
            sure.append(whole.fill_null(True).to_numpy())
        return (
            pl.select(pl.when(there).then(rows)).to_series(),
            np.logical_and.reduce(sure) if sure else None,
        )


def _is_blank(text: pl.Series) -> pl.Series:
    return (text.str.strip_chars(" ") == "").fill_null(False)


def _unless(condition: pl.Series, text: pl.Series) -> pl.Series:
    return pl.select(pl.when(~condition).then(text)).to_series()
