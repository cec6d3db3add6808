"""The window join: pairs of rows with equal keys in the same window, when it closes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.co_group.kernel import (
    SIDES,
    CoGroupKernel,
    Frames,
    WindowAssignment,
    WindowsOfRows,
)
from tidemark.kernels.columns import HASH
from tidemark.kernels.join_output import How, Output, beside, taken, wanted
from tidemark.kernels.keys import Keys, has_null
from tidemark.kernels.ranges import Flags, Stretches
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, longs, ranks
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

_WINDOW: Final = [WINDOW_START, WINDOW_END]
_OURS: Final = [HASH, *_WINDOW]
_HOLDS: Final = "_tm_holds"


def window_join(
    left_keys: tuple[str, ...],
    right_keys: tuple[str, ...],
    left: WindowAssignment,
    right: WindowAssignment,
    how: How = "inner",
    condition: pl.Expr | None = None,
    nulls_equal: tuple[bool, ...] | None = None,
    wanted: tuple[str, ...] = (),
    compaction: Compaction | None = None,
) -> CoGroupKernel:
    """The kernel that joins rows whose windows do not depend on other rows."""
    matches = Matches(left_keys, right_keys, how, condition, nulls_equal, wanted)
    windows = WindowsOfRows(left, right)
    return CoGroupKernel(windows, matches, any_order=True, compaction=compaction or Compaction())


@dataclass(frozen=True, slots=True)
class Matches:
    """The join of closed windows: rows of both sides with equal keys in the same window.

    Unmatched rows are emitted if `how` keeps them: padded with NULLs, or alone in an anti join.
    `condition` is tested on the joined columns; NULL counts as false. `nulls_equal` is, for each
    key, whether NULL equals NULL; by default it does not. Of the joined columns, only those
    `wanted` are emitted, if any are named. Output is window by window, the earliest end first.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: How = "inner"
    condition: pl.Expr | None = field(default=None, compare=False)
    nulls_equal: tuple[bool, ...] | None = None
    wanted: tuple[str, ...] = ()

    def __call__(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        return next(self.pieces(left, right, None))

    def pieces(
        self, left: pl.DataFrame, right: pl.DataFrame, at_most: int | None
    ) -> Iterator[pl.DataFrame]:
        """The same, with at most so many pairs at a time. If there are several pieces, the last
        one has the rows without a partner."""
        order, stretches = self._stretches(left, right)
        ends = longs(left, WINDOW_END), longs(right, WINDOW_END)
        rows = left.drop(_OURS), right.drop(_OURS)
        plain = wanted(rows[0], self.wanted), wanted(rows[1], self.wanted)
        nothing = plain[0].clear(), plain[1].clear()
        met = [np.zeros(side.height, dtype=np.bool_) for side in rows]
        output = Output(*nothing, self.how)
        at_once = at_most is None or stretches.total <= at_most
        for positions in stretches.pieces(at_most):
            mine, theirs = (of[at] for of, at in zip(order, positions, strict=True))
            if self.condition is not None:
                holds = self._holds(self.condition, rows, mine, theirs)
                mine, theirs = mine[holds], theirs[holds]
            met[0][mine] = met[1][theirs] = True
            if self.how in ("semi", "anti"):
                continue
            output.add(beside(taken(plain[0], mine), taken(plain[1], theirs)), ends[0][mine])
            if not at_once:
                output.settle()
                yield output.frame()
                output = Output(*nothing, self.how)
        self._add_single(output, plain, ends, met)
        output.settle()
        yield output.frame()

    def _add_single(
        self, output: Output, rows: Frames, ends: tuple[Longs, Longs], met: Sequence[Flags]
    ) -> None:
        """The rows that come out without the other side."""
        for side, hows in enumerate((("left", "full", "anti"), ("right", "full"))):
            if self.how in hows or (side == 0 and self.how == "semi"):
                alone = np.flatnonzero(met[side] if self.how == "semi" else ~met[side])
                output.unmatched(SIDES[side], taken(rows[side], alone), ends[side][alone])

    def _stretches(
        self, left: pl.DataFrame, right: pl.DataFrame
    ) -> tuple[tuple[Longs, Longs], Stretches]:
        """The rows of both sides, the earliest window first, and where among the right ones in this
        order those are that have the key and the window of each left one."""
        named = right.select(
            HASH,
            *(
                pl.col(theirs).alias(mine)
                for mine, theirs in zip(self.left_keys, self.right_keys, strict=True)
            ),
        )
        keys, numbers = Keys.numbering(self.left_keys, left, named)
        windows = _window_numbers(left, right)
        # One number for window and key is sorted and searched much faster than several columns.
        cells = [window * len(keys) + key for window, key in zip(windows, numbers, strict=True)]
        equal = self.nulls_equal or (False,) * len(self.left_keys)
        never_null = [key for key, both in zip(self.left_keys, equal, strict=True) if not both]
        mine, theirs = (
            _ordered(cell, has_null(rows, never_null))
            for cell, rows in zip(cells, (left, named), strict=True)
        )
        looked, kept = cells[0][mine], cells[1][theirs]
        first = np.searchsorted(kept, looked, side="left")
        counts = np.searchsorted(kept, looked, side="right") - first
        return (mine, theirs), Stretches(first, counts)

    def _holds(self, condition: pl.Expr, rows: Frames, mine: Longs, theirs: Longs) -> Flags:
        """Which pairs meet the condition."""
        asked = tuple(condition.meta.root_names())
        sides = zip(rows, (mine, theirs), strict=True)
        both = beside(*(taken(wanted(of, asked), at) for of, at in sides))
        return both.select(condition.fill_null(False).alias(_HOLDS))[_HOLDS].to_numpy()


def _window_numbers(left: pl.DataFrame, right: pl.DataFrame) -> list[Longs]:
    """Per row of each side a number for its window, larger for those that end later."""
    windows = pl.concat([left.select(_WINDOW), right.select(_WINDOW)])
    ends, starts = longs(windows, WINDOW_END), longs(windows, WINDOW_START)
    numbers, _ = ranks(ends)
    if ends.size and np.ptp(ends - starts):
        # Windows differ in length, so those that end together need not start together.
        places, count = ranks(starts)
        numbers, _ = ranks(numbers * count + places)
    return np.split(numbers, [left.height])


def _ordered(cells: Longs, without: Flags) -> Longs:
    """The positions of rows in the order of their numbers, leaving some out."""
    if not without.any():
        return stable_order(cells)
    there = np.flatnonzero(~without)
    return there[stable_order(cells[there])]


@dataclass(frozen=True, slots=True)
class PairsInWindows:
    """The pairs of an inner join, with the bounds of their window."""

    matches: Matches

    def __call__(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        emitted = {f"{name}_emitted": name for name in _WINDOW}
        kept = left.with_columns(pl.col(name).alias(to) for to, name in emitted.items())
        return self.matches(kept, right).rename(emitted)
