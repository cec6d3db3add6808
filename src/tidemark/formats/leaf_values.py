"""Strings to values of a type: as whole columns, and one by one where that is not sure.

A column may have thousands of values that only the exact way reads: 1.5 as an INT, or a time that
is not one. They cost less than their records would, and each distinct string is read once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import series
from tidemark.formats.exact_values import NotAValue, Quoted, Spelling, reader
from tidemark.formats.quick_values import converter

Flags = npt.NDArray[np.bool_]


class LeafReader:
    """Reads strings; with `ignores_errors`, one that is not a value is NULL."""

    def __init__(self, type_: t.DataType, spelling: Spelling, *, ignores_errors: bool) -> None:
        self._type = type_
        self._convert = converter(type_, spelling, numbers_only=False)
        self._convert_numbers = converter(type_, spelling, numbers_only=True)
        self._exact = reader(type_, spelling)
        self._ignores_errors = ignores_errors
        # 1.9 is an integer, "1.9" is not.
        self._quotes_matter = spelling.integers_truncate and isinstance(type_, t.Int | t.BigInt)

    def read(
        self, text: pl.Series, *, numbers_only: bool = False
    ) -> tuple[pl.Series, Flags | None]:
        """The values, and which of them are right; None if all are.

        `numbers_only`: the strings are numbers as JSON writes them, or booleans.
        """
        values = (self._convert_numbers if numbers_only else self._convert)(text)
        if values.null_count() == text.null_count():
            return values, None
        where = (text.is_not_null() & values.is_null()).arg_true()
        return self._with_others(values, text, where, numbers_only)

    def _with_others(
        self, values: pl.Series, text: pl.Series, where: pl.Series, numbers_only: bool
    ) -> tuple[pl.Series, Flags | None]:
        strings = text.gather(where).to_list()
        known, bad = self._one_by_one(strings)
        if self._ignores_errors:
            bad = set()
        if self._quotes_matter and not numbers_only:
            # These are numbers, or strings that look like one.
            bad |= {each for each in known if known[each] is not None and not self._is_quoted(each)}
        others = series([known[each] for each in strings], self._type, values.name)
        result = replaced(values, where, others)
        if not bad:
            return result, None
        sure = np.ones(values.len(), np.bool_)
        sure[where.to_numpy()] = [each not in bad for each in strings]
        return result, sure

    def _is_quoted(self, text: str) -> bool:
        """Whether it has its value as a string, too."""
        try:
            return self._exact(Quoted(text)) is not None
        except NotAValue:
            return False

    def _one_by_one(self, strings: list[str]) -> tuple[dict[str, Any], set[str]]:
        """The values of strings, and which strings have none."""
        known: dict[str, Any] = {}
        bad = set()
        for each in set(strings):
            try:
                known[each] = self._exact(each)
            except NotAValue:
                known[each] = None
                bad.add(each)
        return known, bad


def replaced(values: pl.Series, where: pl.Series, others: pl.Series) -> pl.Series:
    """Other values for those at these indices."""
    order = np.arange(values.len())
    order[where.to_numpy()] = values.len() + np.arange(others.len())
    return pl.concat([values, others]).gather(pl.Series(order))
