"""Rows that may be among the first ones of their key, among some of all rows.

A row that so many others of its key precede here cannot be among the first of all. That is decided
by the first column of the order alone, which is quick; so a few more rows than necessary remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.order import Order
from tidemark.kernels.windows.spec import Numbering

_PLACE: Final = "_tm_place"


@dataclass(frozen=True, slots=True)
class Contenders:
    """The rows that may be among the first `high` of their key by `order`, numbered `by` a rank;
    without an order, as they arrive. They stay in order of arrival.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    high: int
    by: Numbering = "ROW_NUMBER"

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        group = [HASH, *self.keys]
        if not self.order:
            return rows.filter(pl.int_range(pl.len()).over(group) < self.high)
        [column, *_] = self.order
        value = pl.col(column.column)
        # NULL has no rank here, and may come first or last.
        return rows.filter(self._is_first(value, column, rows, group).fill_null(value=True))

    def _is_first(self, value: pl.Expr, by: Order, rows: pl.DataFrame, group: list[str]) -> pl.Expr:
        # The smallest and the largest number are never NaN, which has a place in the order.
        if self.high == 1 and not rows.schema[by.column].is_float():
            return value == (value.max() if by.descending else value.min()).over(group)
        descending, dense = by.descending, self.by == "DENSE_RANK"
        rank = value.rank("dense" if dense else "min", descending=descending)
        return rank.over(group) <= self.high
