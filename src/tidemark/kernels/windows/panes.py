"""Panes: the pieces of time that windows consist of, and which windows a pane belongs to.

A row belongs to one pane. The windows of a pane end at regular distances, from its first end to its
last, and everything is expressed in terms of these ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from tidemark.kernels.columns import STAMP, TIME
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Cumulating, Given, Sliding

PANE: Final = "_tm_pane"  # Int64; where the pane starts
LAST: Final = "_tm_last"  # Int64; where the last window of the pane ends


@dataclass(frozen=True, slots=True)
class Panes:
    """Expressions over a row's TIME, a pane's PANE and LAST, and a window's WINDOW_END.

    `span` is the distance from a pane's first end to its last: zero if every pane is a window.
    `derived` means that LAST follows from PANE. Windows that are `endless` emit nothing at their
    end.
    """

    start: pl.Expr
    last: pl.Expr
    first: pl.Expr
    window_start: pl.Expr
    every: int
    span: int
    gaps: bool = False
    derived: bool = True
    endless: bool = False

    @property
    def overlap(self) -> bool:
        return self.span > 0

    def of_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with their panes, without those between windows."""
        placed = rows.with_columns(self.start.alias(PANE)).with_columns(self.last.alias(LAST))
        return placed.filter(self.first <= pl.col(LAST)) if self.gaps else placed

    def in_windows(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Rows with PANE and LAST, each once in every window of its pane, with the window's
        bounds.
        """
        end = pl.col(LAST)
        if self.overlap:
            ends = pl.int_ranges(self.first, end + 1, self.every, dtype=pl.Int64)
            placed = placed.with_columns(ends.alias(WINDOW_END))
            placed = placed.explode(WINDOW_END, empty_as_null=False)
        else:
            placed = placed.with_columns(end.alias(WINDOW_END))
        return placed.with_columns(self.window_start.alias(WINDOW_START))

    def closed(self, lateness: int = 0) -> pl.Expr:
        """Whether all windows of a row were closed, for `lateness` too, when it arrived."""
        return pl.col(LAST) - 1 + lateness <= pl.col(STAMP)

    def end_after(self, watermark: pl.Expr | int) -> pl.Expr:
        """The first end of the pane that a watermark has not passed."""
        least = pl.max_horizontal(self.first, watermark + pl.lit(2, pl.Int64))
        return self.first + _up(least - self.first, self.every)

    def next_end(self, earliest_last: int, ended: int) -> int:
        """The next window end after `ended` that any pane can have, given the earliest LAST."""
        wanted = max(ended + 1, earliest_last - self.span)
        return earliest_last - (earliest_last - wanted) // self.every * self.every


def panes_of(assigner: Sliding | Cumulating | Given) -> Panes:
    match assigner:
        case Sliding(size, slide, offset):
            return _sliding(size, slide, offset)
        case Cumulating(size, step, offset):
            return _cumulating(size, step, offset)
        case Given(start, end, endless):
            # A pane is a window; once rows have become panes, it is identified by LAST.
            return Panes(
                start=pl.col(start),
                last=pl.col(end),
                first=pl.col(LAST),
                window_start=pl.col(PANE),
                every=1,
                span=0,
                derived=False,
                endless=endless,
            )


def _down(value: pl.Expr, unit: int) -> pl.Expr:
    """The multiple of the unit at or before the value, also below zero."""
    return value // unit * unit


def _up(value: pl.Expr, unit: int) -> pl.Expr:
    return -(-value // unit) * unit


def _sliding(size: int, slide: int, offset: int) -> Panes:
    if size == slide:
        start = _down(pl.col(TIME) - offset, size) + offset
        return Panes(start, pl.col(PANE) + size, pl.col(LAST), pl.col(PANE), size, 0)
    length = math.gcd(size, slide)
    pane = pl.col(PANE) - offset
    return Panes(
        start=_down(pl.col(TIME) - offset, length) + offset,
        last=_down(pane, slide) + offset + size,
        first=_up(pane + length - size, slide) + offset + size,
        window_start=pl.col(WINDOW_END) - size,
        every=slide,
        span=size,
        gaps=slide > size,
    )


def _cumulating(size: int, step: int, offset: int) -> Panes:
    return Panes(
        start=_down(pl.col(TIME) - offset, step) + offset,
        last=_down(pl.col(PANE) - offset, size) + offset + size,
        first=pl.col(PANE) + step,
        window_start=_down(pl.col(WINDOW_END) - 1 - offset, size) + offset,
        every=step,
        span=size,
    )
