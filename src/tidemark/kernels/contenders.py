"""Rows that may be among the first ones of their key, among some of all rows.

A row that so many others of its key precede here cannot be among the first of all. That is decided
by the first column of the order alone, which is quick; so a few more rows than necessary remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.keys import Keys
from tidemark.kernels.order import Order
from tidemark.kernels.ranges import Flags
from tidemark.kernels.tables import Longs
from tidemark.kernels.top_n.candidates import nth
from tidemark.kernels.windows.spec import Numbering

# To look for the best value again and again is quicker than sorting, up to so many times.
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class Contenders:
    """The rows that may be among the first `high` of their key by `order`, numbered `by` a rank;
    without an order, as they arrive, or the `newest_first`. They stay in order of arrival.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    high: int
    by: Numbering = "ROW_NUMBER"
    newest_first: bool = False

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self.high > _ROUNDS and self.by == "DENSE_RANK":
            return rows  # any number of rows may be before one of the first
        _, [group] = Keys.numbering(self.keys, rows)
        value, is_null = self._places(rows)
        known = np.flatnonzero(~is_null)
        kept = is_null  # which may come first or last
        kept[known] = _are_first(group[known], value[known], self.high)
        return rows.filter(pl.Series(kept))

    def _places(self, rows: pl.DataFrame) -> tuple[Longs, Flags]:
        """Numbers in the order of the rows by its first column, and where that is NULL."""
        if not self.order:
            places = np.arange(rows.height)
            return ~places if self.newest_first else places, np.zeros(rows.height, dtype=bool)
        [by, *_] = self.order
        values = rows[by.column]
        whole = values.dtype.is_integer() or values.dtype.is_temporal()
        numbers = values.to_physical() if whole else values.rank("dense")
        places = numbers.cast(pl.Int64).fill_null(0).to_numpy()
        # Unlike the negative, that exists for each number.
        return ~places if by.descending else places, values.is_null().to_numpy(writable=True)


def _are_first(group: Longs, value: Longs, high: int) -> Flags:
    """Which values are among the `high` smallest of their group, or equal to one of these."""
    if not group.size:
        return np.zeros(0, dtype=bool)
    bound = np.full(int(group.max()) + 1, AFTER_ALL)
    if high > _ROUNDS:
        groups, worst = nth(group, value, high)
        bound[groups] = worst
        return np.asarray(value <= bound[group])
    kept = np.zeros(group.size, dtype=bool)
    rest = np.arange(group.size)
    for _ in range(high):
        best = np.full_like(bound, AFTER_ALL)
        np.minimum.at(best, group[rest], value[rest])
        met = value[rest] == best[group[rest]]
        kept[rest[met]] = True
        rest = rest[~met]
    return kept
