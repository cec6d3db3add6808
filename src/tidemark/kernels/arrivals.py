"""How the rows and the watermarks of one step follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import ARRIVAL, SEQUENCE, STAMP, TIME
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs


@dataclass(frozen=True, slots=True)
class Advances:
    """The moments of a step at which the watermark moves, in order.

    `sequence[i]` is the first row after the i-th moment, `watermark[i]` what it moves to.
    """

    sequence: Longs
    watermark: Longs

    def __len__(self) -> int:
        return len(self.sequence)

    def firing(self, sequence: Longs, time: Longs) -> Longs:
        """Per row the first moment after it that reaches its time; `len(self)` if none does.

        A row behind the watermark is not lost: the next moment, whichever it is, takes it.
        """
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
    """Number the rows of a step and find out what each sees of the watermark."""
    final = max(state.watermark, watermark)
    if all(STAMP in frame.columns for frame in inputs):
        return _row_by_row(state, inputs, final)
    return _as_one_batch(state, inputs, final)


def _as_one_batch(state: State, inputs: Sequence[pl.DataFrame], watermark: int) -> Arrivals:
    """The watermark first, then the inputs, the last one before the first one."""
    frames: list[pl.DataFrame] = []
    number = state.sequence
    for frame in reversed(inputs):
        numbers = np.arange(number, number + frame.height)
        frames.insert(0, frame.with_columns(pl.Series(SEQUENCE, numbers, pl.Int64)))
        number += frame.height
    moved = watermark > state.watermark
    return Arrivals(
        frames=tuple(frames),
        late=tuple(int((frame[TIME] <= watermark).sum()) for frame in inputs),
        advances=Advances(
            np.array([state.sequence] if moved else [], dtype=np.int64),
            np.array([watermark] if moved else [], dtype=np.int64),
        ),
        end=number,
        watermark=watermark,
    )


def _row_by_row(state: State, inputs: Sequence[pl.DataFrame], watermark: int) -> Arrivals:
    """Every row where its ARRIVAL says, after the watermark of its STAMP."""
    numbered = [
        frame.with_columns((pl.col(ARRIVAL) + state.sequence).alias(SEQUENCE)) for frame in inputs
    ]
    sequence = np.concatenate([longs(frame, SEQUENCE) for frame in numbered])
    stamps = np.concatenate([longs(frame, STAMP) for frame in numbered])
    order = np.argsort(sequence, kind="stable")
    end = int(sequence[order[-1]]) + 1 if order.size else state.sequence

    seen = np.maximum.accumulate(
        np.concatenate([[state.watermark], stamps[order], [watermark]]).astype(np.int64)
    )
    moves = np.flatnonzero(seen[1:] > seen[:-1])
    first_after = np.append(sequence[order], end)
    stamp_of = np.empty_like(stamps)
    stamp_of[order] = seen[1:-1]
    return Arrivals(
        frames=tuple(frame.drop(STAMP, ARRIVAL) for frame in numbered),
        late=_late(numbered, stamp_of),
        advances=Advances(first_after[moves], seen[1:][moves]),
        end=end,
        watermark=int(seen[-1]),
    )


def _late(frames: Sequence[pl.DataFrame], stamps: Longs) -> tuple[int, ...]:
    counts, start = [], 0
    for frame in frames:
        mine = stamps[start : start + frame.height]
        counts.append(int((longs(frame, TIME) <= mine).sum()))
        start += frame.height
    return tuple(counts)
