"""Which rows of two sides match: their keys are equal, and they meet the condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import KIND
from tidemark.kernels.join_output import beside, taken, wanted
from tidemark.kernels.joined import user_columns
from tidemark.kernels.ranges import Flags, Pairs, equal_keys
from tidemark.kernels.regular_join.changes import LEFT
from tidemark.kernels.regular_join.lifetimes import PARTNERS


@dataclass(frozen=True, slots=True)
class Matching:
    """The key columns of both sides; for each, whether NULL equals NULL; and the condition."""

    keys: tuple[Sequence[str], Sequence[str]]
    nulls_equal: Sequence[bool]
    condition: pl.Expr | None

    def matchable(self, side: int, rows: pl.DataFrame) -> Flags | None:
        """Which rows can match at all; None if all can: not those with NULL in a key that NULL does
        not equal."""
        columns = zip(self.keys[side], self.nulls_equal, strict=True)
        never_null = [key for key, both in columns if not both]
        if not any(rows[name].null_count() for name in never_null):
            return None
        known = pl.all_horizontal(pl.col(never_null).is_not_null())
        return np.asarray(rows.select(known).to_series().to_numpy())

    def met(self, mine: int, rows: pl.DataFrame, pairs: Pairs) -> Pairs:
        """The pairs of `rows` of my side that match."""
        equal = equal_keys(pairs, rows, self.keys[mine], self.keys[1 - mine], self.nulls_equal)
        pairs = pairs.where(equal)
        if self.condition is None:
            return pairs
        asked, there = self.condition.meta.root_names(), (plain(rows), plain(pairs.rows))
        sides = [
            taken(wanted(of, asked), at)
            for of, at in zip(there, (pairs.mine, pairs.theirs), strict=True)
        ]
        together = beside(*(sides if mine == LEFT else sides[::-1]))
        met = together.select(self.condition.fill_null(False)).to_series().to_numpy()
        # A constant condition has one value for all pairs.
        return pairs.where(np.broadcast_to(met, (len(pairs),)))


def plain(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the user's columns only."""
    return user_columns(rows).drop(KIND, PARTNERS, strict=False)
