"""The window join: pairs of rows with equal keys in the same window, when it closes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.co_group import CoGroup, Frames, GivenWindows
from tidemark.kernels.interval_outcomes import How, Output
from tidemark.kernels.segments import Compaction
from tidemark.kernels.tables import Longs, longs
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Given

_WINDOW: Final = [WINDOW_START, WINDOW_END]
_MINE, _THEIRS = "_tm_mine", "_tm_theirs"
_HOLDS = "_tm_holds"


def window_join(
    left_keys: tuple[str, ...],
    right_keys: tuple[str, ...],
    left_window: Given,
    right_window: Given,
    how: How = "inner",
    condition: pl.Expr | None = None,
    nulls_equal: tuple[bool, ...] | None = None,
    compaction: Compaction | None = None,
) -> CoGroup:
    """The kernel that joins rows which say themselves which window they are in."""
    matches = Matches(left_keys, right_keys, how, condition, nulls_equal)
    windows = GivenWindows(left_window, right_window)
    return CoGroup(windows, matches, compaction or Compaction())


@dataclass(frozen=True, slots=True)
class Matches:
    """The join of closed windows: rows of both sides with equal keys in the same window.

    Rows without a partner come out where `how` keeps them: beside nulls, or alone in an anti
    join. `condition` is tested on the joined columns, null counting as false. `nulls_equal` says
    for each key whether null is equal to null; by default it is to nothing. Output comes window
    by window, the earliest end first.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: How = "inner"
    condition: pl.Expr | None = field(default=None, compare=False)
    nulls_equal: tuple[bool, ...] | None = None

    def __call__(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        plain = left.drop(_WINDOW), right.drop(_WINDOW)
        output = Output(plain[0].clear(), plain[1].clear(), self.how)
        mine, theirs = self._pairs(left, right)
        mine, theirs, joined = self._tested(plain, mine, theirs)
        ends = longs(left, WINDOW_END), longs(right, WINDOW_END)
        if joined is not None:
            output.add(joined, ends[0][mine])
        if self.how == "semi":
            matched = np.flatnonzero(_is_among(left.height, mine))
            output.add(plain[0][matched], ends[0][matched])
        for side, found, pads in (
            (0, mine, self.how in ("left", "full", "anti")),
            (1, theirs, self.how in ("right", "full")),
        ):
            if pads:
                alone = np.flatnonzero(~_is_among(plain[side].height, found))
                output.alone(("left", "right")[side], plain[side][alone], ends[side][alone])
        output.settle()
        return output.frame()

    def _pairs(self, left: pl.DataFrame, right: pl.DataFrame) -> tuple[Longs, Longs]:
        """The positions of rows with equal keys and windows."""
        equal = self.nulls_equal or (False,) * len(self.left_keys)
        sides = []
        for rows, keys, place in (
            (left, self.left_keys, _MINE),
            (right, self.right_keys, _THEIRS),
        ):
            never_null = [key for key, both in zip(keys, equal, strict=True) if not both]
            placed = rows.select(*keys, *_WINDOW).with_row_index(place)
            sides.append(placed.drop_nulls(never_null) if never_null else placed)
        found = sides[0].join(
            sides[1],
            left_on=[*self.left_keys, *_WINDOW],
            right_on=[*self.right_keys, *_WINDOW],
            how="inner",
            nulls_equal=True,
            maintain_order="left_right",
        )
        return longs(found, _MINE), longs(found, _THEIRS)

    def _tested(
        self, rows: Frames, mine: Longs, theirs: Longs
    ) -> tuple[Longs, Longs, pl.DataFrame | None]:
        """The pairs that meet the condition; and their rows, if wanted."""
        wanted = self.how not in ("semi", "anti")
        if not wanted and self.condition is None:
            return mine, theirs, None
        joined = rows[0][mine].hstack(rows[1][theirs])
        if self.condition is not None:
            tested = joined.with_columns(self.condition.fill_null(False).alias(_HOLDS))
            holds = tested[_HOLDS].to_numpy()
            mine, theirs, joined = mine[holds], theirs[holds], joined.filter(tested[_HOLDS])
        return mine, theirs, joined if wanted else None


@dataclass(frozen=True, slots=True)
class PairsInWindows:
    """The pairs of an inner join, with the bounds of the window that they meet in."""

    matches: Matches

    def __call__(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        told = {f"{name}_told": name for name in _WINDOW}
        kept = left.with_columns(pl.col(name).alias(to) for to, name in told.items())
        return self.matches(kept, right).rename(told)


def _is_among(count: int, positions: Longs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Of so many rows, whether each is among the positions."""
    found = np.zeros(count, dtype=np.bool_)
    found[positions] = True
    return found
