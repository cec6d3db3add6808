"""Rows with the rows that were found for their keys, all in columns and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

_LEFT, _RIGHT, _COUNT = "_tm_left", "_tm_right", "_tm_count"

# Which pairs of rows match, besides having the same keys.
Test = Callable[[pl.DataFrame], pl.Series]


@dataclass(frozen=True, slots=True)
class LookupJoinKernel:
    """Each left row once per row of the same key that was found; a left join keeps rows without.

    The columns of both sides have different names. Rows come in the order of the left side, and
    within it in that in which they were found. NULL is equal to nothing.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: Literal["inner", "left"]
    test: Test | None = None

    def distinct_keys(self, left: pl.DataFrame, types: Sequence[pl.DataType]) -> pl.DataFrame:
        """The keys to look up, under the names and in the types of the right side."""
        columns = zip(self.left_keys, self.right_keys, types, strict=True)
        keys = left.select(pl.col(mine).cast(to).alias(theirs) for mine, theirs, to in columns)
        return keys.drop_nulls().unique(maintain_order=True)

    def slices(
        self, left: pl.DataFrame, found: pl.DataFrame, most: int | None, at_once: int
    ) -> Iterator[pl.DataFrame]:
        """The left rows in slices of which each makes so many pairs at once, or one row less.
        `most` is how many of the rows that were found have the same key at most, if that is known.
        """
        if most == 1 or left.height * (found.height if most is None else most) <= at_once:
            yield left
            return
        counts = found.group_by(self.right_keys).agg(pl.len().cast(pl.Int64).alias(_COUNT))
        of_left = left.select(
            pl.col(mine).cast(found.schema[theirs]).alias(theirs)
            for mine, theirs in zip(self.left_keys, self.right_keys, strict=True)
        ).join(counts, on=self.right_keys, how="left", maintain_order="left")
        made = of_left.select(pl.col(_COUNT).fill_null(0).cum_sum())[_COUNT].to_numpy()
        starts = np.flatnonzero(np.diff(made // at_once, prepend=-1))
        for start, end in pairwise([*starts.tolist(), left.height]):
            yield left[start:end]

    def joined(self, left: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
        """The columns of the left side, then those that were found."""
        pairs = self._pairs(left, found)
        if self.test is not None:
            matches = self.test(_rows(left, found, pairs))
            pairs = pairs.filter(matches.fill_null(value=False))
        if self.how == "left":
            pairs = _with_unmatched(pairs, left.height)
        return _rows(left, found, pairs)

    def _pairs(self, left: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
        """The positions of rows with the same keys."""
        types = [found.schema[key] for key in self.right_keys]
        names = [f"_tm_key_{place}" for place in range(len(types))]
        sides = (left, self.left_keys, _LEFT), (found, self.right_keys, _RIGHT)
        mine, theirs = (
            rows.select(
                *(pl.col(k).cast(to).alias(n) for k, to, n in zip(keys, types, names, strict=True))
            ).with_row_index(number)
            for rows, keys, number in sides
        )
        return mine.join(theirs, on=names, maintain_order="left_right").select(_LEFT, _RIGHT)


def _with_unmatched(pairs: pl.DataFrame, height: int) -> pl.DataFrame:
    """All left rows, those that match nothing with no row."""
    every = pl.DataFrame({_LEFT: pl.int_range(height, dtype=pl.UInt32, eager=True)})
    return every.join(pairs, on=_LEFT, how="left", maintain_order="left_right")


def _rows(left: pl.DataFrame, found: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    mine, theirs = left[pairs[_LEFT]], found.select(pl.all().gather(pairs[_RIGHT]))
    return mine.hstack(theirs)
