"""The order of the rows and the watermarks of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL, SEQUENCE, STAMP, TIME
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs


@dataclass(frozen=True, slots=True)
class Advances:
    """The moments of a step at which the watermark advances, in order.

    `sequence[i]` is the first row after the i-th moment, `watermark[i]` the new watermark.
    """

    sequence: Longs
    watermark: Longs

    def __len__(self) -> int:
        return len(self.sequence)

    def met_by(self, sequence: Longs, first: int) -> Longs:
        """Per row the watermark when it arrived, which was `first` before this step."""
        passed = np.searchsorted(self.sequence, sequence, side="right")
        return self.before(passed, first)

    def before(self, moment: Longs, first: int) -> Longs:
        """The watermarks just before these moments; it was `first` before this step."""
        return np.concatenate([[first], self.watermark])[moment].astype(np.int64)

    def firing(self, sequence: Longs, time: Longs) -> Longs:
        """Per row the first moment after it that reaches its time; `len(self)` if none does.

        A row behind the watermark is not lost: the next moment, whichever it is, takes it.
        """
        if len(self) == 1:
            missed = (sequence >= self.sequence[0]) | (time > self.watermark[0])
            return np.asarray(missed, dtype=np.int64)
        after_row = np.searchsorted(self.sequence, sequence, side="right")
        reaches = np.searchsorted(self.watermark, time, side="left")
        return np.maximum(after_row, reaches).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A step's rows, numbered; `late` counts those behind the watermark, per input."""

    frames: tuple[pl.DataFrame, ...]
    late: tuple[int, ...]
    advances: Advances
    end: int
    watermark: int

    @property
    def rows_in(self) -> tuple[int, ...]:
        return tuple(frame.height for frame in self.frames)


def arrange(state: State, inputs: Sequence[pl.DataFrame], watermark: int) -> Arrivals:
    """Number the rows of a step, and find the moments at which the watermark advances."""
    numbered = number(state, inputs)
    stamps = np.concatenate([longs(frame, STAMP) for frame in inputs])
    end, final = end_of(state, numbered), max(state.watermark, watermark)
    if stamps.max(initial=BEFORE_ALL) <= state.watermark:
        # As in most micro-batches: the watermark only advances after all of the rows, if at all.
        late = tuple(int((longs(f, TIME) <= state.watermark).sum()) for f in numbered)
        once = int(final > state.watermark)
        advances = Advances(np.array([end] * once, np.int64), np.array([final] * once, np.int64))
        return Arrivals(tuple(numbered), late, advances, end, final)

    sequence = np.concatenate([longs(frame, SEQUENCE) for frame in numbered])
    order = stable_order(sequence)
    seen = np.maximum.accumulate(np.append(state.watermark, stamps[order]))[1:]
    final = max(final, int(seen[-1]))
    advances = advances_of(state.watermark, sequence[order], seen, end, final)
    stamps[order] = seen
    return Arrivals(tuple(numbered), _late(numbered, stamps), advances, end, final)


def advances_of(before: int, sequence: Longs, stamps: Longs, end: int, final: int) -> Advances:
    """The moments at which the watermark advances between rows with these positions and stamps,
    which never decrease, and after the last of them."""
    seen = np.concatenate([[before], stamps, [final]]).astype(np.int64)
    moves = np.flatnonzero(seen[1:] > seen[:-1])
    return Advances(np.append(sequence, end)[moves], seen[1:][moves])


def number(state: State, inputs: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The rows with their position in the sequence of all rows, instead of in the step."""
    sequence = (pl.col(ARRIVAL) + state.sequence).alias(SEQUENCE)
    return [frame.with_columns(sequence).drop(ARRIVAL, STAMP) for frame in inputs]


def unnumbered(state: State, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the step that began with this state, with their place in the step again."""
    arrival = (pl.col(SEQUENCE) - state.sequence).alias(ARRIVAL)
    return rows.with_columns(arrival).drop(SEQUENCE)


def end_of(state: State, numbered: Sequence[pl.DataFrame]) -> int:
    """The position in the sequence after the last row of a step."""
    return max([state.sequence, *(int(longs(f, SEQUENCE)[-1]) + 1 for f in numbered if f.height)])


def _late(frames: Sequence[pl.DataFrame], stamps: Longs) -> tuple[int, ...]:
    counts, start = [], 0
    for frame in frames:
        mine = stamps[start : start + frame.height]
        counts.append(int((longs(frame, TIME) <= mine).sum()))
        start += frame.height
    return tuple(counts)
