"""Fewer rows before they are exchanged, where a kernel can go on with those."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl
import pyarrow as pa

from tidemark.kernels import decimal_sums
from tidemark.kernels.columns import HASH

# This many rows of a partition are combined at a time, or this many bytes: more rows are reduced
# more.
_CHUNK_ROWS, _CHUNK_BYTES = 1_000_000, 128 << 20
# By how much an estimated number of keys is off, at most.
_ESTIMATE_OFF: Final = 0.1


@dataclass(frozen=True, slots=True)
class Combine:
    """Reduces the number of rows, separately for each key group.

    With `if_fewer`, rows whose number it cannot halve are packed unchanged, and combined where they
    arrive. If it `filters`, it only leaves rows out that change nothing, and where they arrive
    there is nothing to do.
    """

    made_of: Callable[[pl.DataFrame], pl.DataFrame]
    if_fewer: bool = False
    filters: bool = False

    def reduced(self, rows: pl.DataFrame) -> pl.DataFrame | None:
        """The rows combined; None if they should be packed unchanged."""
        if self.if_fewer and not self._may_pay(rows):
            return None
        with decimal_sums.in_words():
            combined = self.made_of(rows)
        pays = not self.if_fewer or combined.height <= rows.height // 2
        return combined if pays else None

    def _may_pay(self, rows: pl.DataFrame) -> bool:
        """Whether there may be few enough: at least one for each key. An estimate of their number
        costs much less than to combine in vain.
        """
        keys: int = rows.select(pl.col(HASH).approx_n_unique()).item()
        return keys * (1 - _ESTIMATE_OFF) <= rows.height // 2


def gathered(batches: Iterator[pa.RecordBatch], enough: int = _CHUNK_ROWS) -> Iterator[pa.Table]:
    """The rows in large pieces, each of which fits easily into a worker's memory."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= enough or size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def gathered_frames(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same for frames."""
    waiting: list[pl.DataFrame] = []
    rows = size = 0
    for frame in frames:
        waiting.append(frame)
        rows, size = rows + frame.height, size + int(frame.estimated_size())
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield pl.concat(waiting, rechunk=True)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pl.concat(waiting, rechunk=True)
