"""A key group of a batch, with all its rows: one step, or as many as its rows need.

The memory of a worker does not grow with its input. A key group with more rows than one step should
hold is split by the hashes of keys, on disk. A key with very many rows stays in one piece; the
kernel gets its rows in several steps, by their times if the result is the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, HASH
from tidemark.kernels.cuts import ByTime, Nowhere, cut_of
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.state import State
from tidemark.runtime.bucket import Bucket, Packed, in_order_of_source
from tidemark.runtime.spill import Spill, forget, spilling, total_size

# The bytes of rows in one step. A kernel needs several times as much memory for them.
_STEP_BYTES: Final = 24 << 20
# So many pairs of a join are made at once.
_PAIRS: Final = 1 << 19
# More pieces would be files of a few rows. What they are too few for comes bit by bit.
_MOST_PIECES: Final = 512
# One row in this many is a sample of how rows are distributed over time.
_SAMPLE: Final = 16


@dataclass(slots=True)
class Tally:
    """The metrics of all steps as those of one; the state is the sum of what each piece keeps."""

    steps: list[Metrics] = field(default_factory=list)
    ended: list[Metrics] = field(default_factory=list)
    more: int = 0  # rows that came out after those of their step
    # How many rows of an input no step gets, because they change nothing.
    left_out: Counter[int] = field(default_factory=Counter)

    def read(self) -> Metrics:
        left = {
            name: sum(getattr(metrics, name) for metrics in self.ended)
            for name in ("waiting", "state_rows", "state_bytes", "segments")
        }
        came = zip(*(metrics.rows_in for metrics in self.steps), strict=True)
        return replace(
            self.steps[-1],
            rows_in=tuple(sum(rows) + self.left_out[n] for n, rows in enumerate(came)),
            late=tuple(map(sum, zip(*(m.late for m in self.steps), strict=True))),
            rows_out=sum(m.rows_out for m in self.steps) + self.more,
            **left,
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """All rows of a key group, with the same processing time."""

    bucket: Bucket
    now: int
    step_bytes: int = _STEP_BYTES
    pairs: int = _PAIRS

    def steps(
        self, packed: Iterable[Packed], tally: Tally, lap: Callable[[str], None] = lambda _: None
    ) -> Iterator[Step]:
        """What comes of the rows, step by step; the output of one may come in several pieces."""
        with spilling(self.bucket.shapes, 2 * self.step_bytes) as spill:
            for piece in self._pieces(spill, spill.held(packed)):
                lap("decode")
                for step in self._steps(spill, piece, lap):
                    tally.steps.append(step.metrics)
                    yield from _in_pieces(step, tally)
                    lap("kernel")
                tally.ended.append(tally.steps[-1])

    def _pieces(self, spill: Spill, packed: list[Packed]) -> Iterator[list[Packed]]:
        """The rows split by their keys, so that a piece has no more than one step should hold."""
        count = min(math.ceil(total_size(packed) / self.step_bytes), _MOST_PIECES)
        if count <= 1:
            yield packed
            return
        for piece in spill.parts(packed, lambda _, rows: _of_hashes(rows, count), count):
            if piece:
                yield piece

    def _steps(
        self, spill: Spill, piece: list[Packed], lap: Callable[[str], None]
    ) -> Iterator[Step]:
        state = State()
        for rows, after in self._slices(spill, piece):
            for step in self.bucket.steps(state, rows, after, self.now, self.pairs, lap):
                lap("kernel")
                yield step
                state = step.state

    def _slices(self, spill: Spill, piece: list[Packed]) -> Iterator[tuple[list[Packed], int]]:
        """The rows of each step, and the watermark after it."""
        count = math.ceil(total_size(piece) / self.step_bytes)
        cut = cut_of(self.bucket.kernel, [shape.empty for shape in self.bucket.shapes])
        # Keys are never distributed quite evenly, and another step would not be worth it.
        if count <= 2 or isinstance(cut, Nowhere):
            yield piece, AFTER_ALL
        elif isinstance(cut, ByTime):
            yield from self._by_time(spill, piece, cut, count)
        else:
            yield from self._by_arrival(piece)

    def _by_arrival(self, piece: list[Packed]) -> Iterator[tuple[list[Packed], int]]:
        place = {number: place for place, number in enumerate(self.bucket.order)}
        taken: list[Packed] = []
        size = 0
        for row in sorted(piece, key=lambda row: (place[row[0]], *row[1:3])):
            more = total_size([row])
            if taken and size + more > self.step_bytes:
                yield taken, BEFORE_ALL
                taken, size = [], 0
            taken.append(row)
            size += more
        yield taken, AFTER_ALL

    def _by_time(
        self, spill: Spill, piece: list[Packed], cut: ByTime, count: int
    ) -> Iterator[tuple[list[Packed], int]]:
        bounds = self._bounds(piece, cut, count)

        def slice_of(input_: int, rows: pl.DataFrame) -> np.ndarray:
            return np.searchsorted(bounds, _longs(rows, cut.times[input_]), side="right")

        slices = spill.split(piece, slice_of, len(bounds) + 1)
        for rows, after in zip(slices, [*(bounds - 1).tolist(), AFTER_ALL], strict=True):
            yield rows, after
            forget(rows)

    def _bounds(self, piece: list[Packed], cut: ByTime, count: int) -> np.ndarray:
        """Times that divide the rows about evenly, each the first one of a slice."""
        found = [
            _longs(rows.gather_every(_SAMPLE), cut.times[row[0]])
            for row in piece
            for rows in in_order_of_source(self.bucket.shapes[row[0]], [row])
        ]
        sample = np.sort(np.concatenate(found))
        places = np.arange(1, count) * sample.size // count
        bounds = np.unique(sample[places])
        return np.asarray(bounds[bounds > max(int(sample[0]), cut.together)])


def _in_pieces(step: Step, tally: Tally) -> Iterator[Step]:
    yield replace(step, more=None)
    for rows in step.more or ():
        tally.more += rows.height
        yield replace(step, output=rows, handed_out={}, more=None)


def _longs(rows: pl.DataFrame, time: pl.Expr) -> np.ndarray:
    return np.asarray(rows.select(time.alias("time"))["time"].to_numpy())


def _of_hashes(rows: pl.DataFrame, count: int) -> np.ndarray:
    """A number for each row by its key. The lower bits of hashes have chosen the key group."""
    upper = rows[HASH].to_numpy().view(np.uint64) >> np.uint64(32)
    return np.asarray(upper % np.uint64(count))
