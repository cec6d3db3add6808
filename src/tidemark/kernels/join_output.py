"""The output of a join: pairs, rows padded with NULLs, unmatched rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from tidemark.kernels.pieces import TooManyPairs
from tidemark.kernels.sorting import ascends, stable_order
from tidemark.kernels.tables import Longs

How = Literal["inner", "left", "right", "full", "semi", "anti"]


def beside(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Rows next to each other. One side may have no columns, and then no number of rows."""
    return pl.DataFrame([*left.get_columns(), *right.get_columns()])


def taken(rows: pl.DataFrame, positions: Longs) -> pl.DataFrame:
    """The rows at some positions. Rows without any columns need not be gathered."""
    return rows[positions] if rows.columns else rows


def wanted(rows: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """The existing columns among these; all if none are given."""
    return rows.select(n for n in rows.columns if n in names) if names else rows


@dataclass(slots=True)
class Output:
    """Collects rows that are emitted, each with the position in the sequence that causes it. More
    pairs than `at_most` are too many.
    """

    left: pl.DataFrame  # empty, with the wanted ones of the user's columns of that side
    right: pl.DataFrame
    how: How
    at_most: int | None = None
    parts: list[pl.DataFrame] = field(default_factory=list)
    places: list[Longs] = field(default_factory=list)
    pairs: int = 0

    def add_pairs(self, rows: pl.DataFrame, places: Longs) -> None:
        self.pairs += rows.height
        if self.at_most is not None and self.pairs > self.at_most:
            raise TooManyPairs
        self.add(rows, places)

    def add(self, rows: pl.DataFrame, places: Longs) -> None:
        if rows.height:
            self.parts.append(rows)
            self.places.append(places)

    def unmatched(self, side: str, rows: pl.DataFrame, places: Longs) -> None:
        """Unmatched rows, with a place each: next to NULLs, or without the other side in a semi or
        anti join."""
        own, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        shown = rows.select(own.columns)
        if self.how not in ("semi", "anti"):
            nulls = other.clear(len(places))
            shown = beside(shown, nulls) if side == "left" else beside(nulls, shown)
        self.add(shown, places)

    def frame(self) -> pl.DataFrame:
        one_sided = self.how in ("semi", "anti")
        empty = self.left if one_sided else beside(self.left, self.right)
        return pl.concat([empty, *self.parts])

    def settle(self) -> None:
        """Sort what was added since the last call by its causes."""
        if self.places:
            settled = len(self.parts) - len(self.places)
            rows, places = pl.concat(self.parts[settled:]), np.concatenate(self.places)
            self.parts[settled:] = [rows if ascends(places) else rows[stable_order(places)]]
            self.places.clear()
