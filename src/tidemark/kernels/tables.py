"""The two forms of state: rows found by key, and rows that wait for a time.

Both are tuples of segments. A step adds one segment per table, whatever the table already contains,
and reads only the keys it touches or the rows that are due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.kernels.columns import AFTER_ALL, HASH
from tidemark.kernels.segments import Compaction, Segment

Longs = npt.NDArray[np.int64]

# Which rows must be kept; called with whether there are no older rows below them.
Settle = Callable[[pl.DataFrame, bool], pl.DataFrame]


def longs(frame: pl.DataFrame, column: str) -> Longs:
    """A column of integers without NULLs, as an array."""
    return frame[column].cast(pl.Int64).to_numpy()


# `pa.array` and `to_numpy` of Arrow load pandas, which takes as long as a small query.


def in_arrow(values: Longs) -> pa.Array:
    """An array for Arrow, not copied."""
    whole = np.ascontiguousarray(values, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), whole.size, [None, pa.py_buffer(whole)])


def of_arrow(integers: pa.Array) -> Longs:
    """An array of Arrow's; what is NULL there is -1."""
    series = pl.from_arrow(integers)
    assert isinstance(series, pl.Series)
    return series.fill_null(-1).cast(pl.Int64).to_numpy()


def distinct(values: Longs) -> Longs:
    """The distinct values, ascending. (`numpy.unique` hashes them first, several times slower.)"""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def ranks(values: Longs) -> tuple[Longs, int]:
    """Per value the number of smaller distinct ones, and the number of distinct ones."""
    # Arrow numbers equal values in one pass; then only the distinct ones have to be sorted.
    encoded = in_arrow(values).dictionary_encode()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[np.argsort(of_arrow(encoded.dictionary))] = np.arange(rank.size)
    return rank[of_arrow(encoded.indices)], rank.size


def follow_each_other(places: Longs) -> bool:
    """Whether each place is the one after that before it."""
    if not places.size or places[-1] - places[0] != places.size - 1:
        return False
    return bool((places[1:] > places[:-1]).all())


def rows_at(rows: pl.DataFrame, places: Longs) -> pl.DataFrame:
    """The rows at some places. Those that follow each other are not copied."""
    if follow_each_other(places):
        return rows[int(places[0]) : int(places[-1]) + 1]
    return rows[places]


def up_to_each(counts: Longs) -> Longs:
    """The numbers from zero up to each count, one after the other.

    >>> up_to_each(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.asarray(np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))


def run_starts(values: Longs) -> Longs:
    """Per position where its run of equal values starts.

    >>> run_starts(np.array([5, 5, 3, 5]))
    array([0, 0, 2, 3])
    """
    place = np.arange(values.size)
    place[1:][values[1:] == values[:-1]] = 0
    return np.asarray(np.maximum.accumulate(place))


def run_bounds(values: Longs) -> tuple[Longs, Longs]:
    """The first position of each run of equal values, and the position after it.

    >>> [bounds.tolist() for bounds in run_bounds(np.array([5, 5, 3, 5]))]
    [[0, 2, 3], [2, 3, 4]]
    """
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: values.size])
    return first, np.append(first[1:], values.size)[: first.size]


@dataclass(frozen=True, slots=True)
class StateTable:
    segments: tuple[Segment, ...] = ()

    @property
    def height(self) -> int:
        return sum(segment.left for segment in self.segments)

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)


@dataclass(frozen=True, slots=True)
class KeyedTable(StateTable):
    """Rows by key: each segment is sorted by the hash of the key and probed by binary search."""

    def append(
        self, rows: pl.DataFrame, compaction: Compaction, settle: Settle | None = None
    ) -> KeyedTable:
        """The table with more rows; merges segments when it is time, keeping what `settle`
        returns.
        """
        if rows.is_empty():
            return self
        segments = (*self.segments, Segment.of(rows.sort(HASH, maintain_order=True), HASH))
        # A merged segment may complete a set of its own size: continue until nothing is due.
        while count := compaction.mergeable(segments):
            older, merged = segments[:-count], segments[-count:]
            frame = pl.concat([segment.rows() for segment in merged])
            kept = settle(frame, not older) if settle else frame
            segments = (*older, *_as_segments(kept.sort(HASH, maintain_order=True), HASH))
        return replace(self, segments=segments)

    def probe(self, hashes: Longs, like: pl.DataFrame) -> pl.DataFrame:
        """All rows with one of these hashes (ascending, distinct), oldest segments first.

        `like` is an empty frame with the table's columns.
        """
        found = [like]
        for segment in self.segments:
            if hashes.size and segment.low <= hashes[-1] and segment.high >= hashes[0]:
                rows = segment.rows()
                found.append(rows[_positions_of(longs(rows, HASH), hashes)])
        return pl.concat(found)

    def without_before(self, time: int) -> KeyedTable:
        """The table without the segments that only contain rows before a time."""
        kept = tuple(segment for segment in self.segments if segment.latest >= time)
        return replace(self, segments=kept)

    def tidied(
        self, before: KeyedTable, keep: Callable[[pl.DataFrame], pl.DataFrame]
    ) -> KeyedTable:
        """The table in which only what must be kept remains of the segments that are new since
        `before`: those have not been written yet.
        """
        known = {segment.id for segment in before.segments}
        segments: list[Segment] = []
        for segment in self.segments:
            kept = None if segment.id in known else keep(segment.rows())
            if kept is None or kept.height == segment.height:
                segments.append(segment)
            else:
                segments += _as_segments(kept, HASH)
        return replace(self, segments=tuple(segments))

    def hashes_among(self, hashes: Longs) -> pl.Series:
        """Which of the hashes (ascending, distinct) have any rows."""
        there = [
            longs(segment.rows(), HASH)[_positions_of(longs(segment.rows(), HASH), hashes)]
            for segment in self.segments
        ]
        return pl.Series(distinct(np.concatenate([hashes[:0], *there])), dtype=pl.Int64)


def _positions_of(sorted_hashes: Longs, wanted: Longs) -> Longs:
    """The positions of the wanted values in a sorted array, every occurrence."""
    first = np.searchsorted(sorted_hashes, wanted, side="left")
    counts = np.searchsorted(sorted_hashes, wanted, side="right") - first
    hit = counts > 0
    first, counts = first[hit], counts[hit]
    return np.asarray(np.repeat(first, counts) + up_to_each(counts), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class TimeQueue(StateTable):
    """Rows that wait for a time: each segment is sorted by it, and taken from the front."""

    @property
    def next(self) -> int | None:
        """The earliest time that rows wait for."""
        return min((segment.low for segment in self.segments), default=None)

    def push(
        self,
        rows: pl.DataFrame,
        by: str,
        compaction: Compaction,
        settle: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
    ) -> TimeQueue:
        """The queue with more rows; merged segments are reduced by `settle`."""
        if rows.is_empty():
            return self
        segments = (*self.segments, Segment.of(rows.sort(by, maintain_order=True), by))
        while count := compaction.mergeable(segments):
            older, merged = segments[:-count], segments[-count:]
            frame = pl.concat([segment.rows()[segment.taken :] for segment in merged])
            kept = settle(frame) if settle else frame
            segments = (*older, Segment.of(kept.sort(by, maintain_order=True), by))
        return replace(self, segments=segments)

    def upto(self, until: int, by: str, like: pl.DataFrame) -> pl.DataFrame:
        """The rows that `take` would return, left in the queue."""
        return self.take(until, by, like)[0]

    def take(self, until: int, by: str, like: pl.DataFrame) -> tuple[pl.DataFrame, TimeQueue]:
        """The rows whose time has come (`<= until`), and the queue without them."""
        due, kept = [like], []
        for segment in self.segments:
            if segment.low > until:
                kept.append(segment)
                continue
            rows = segment.rows()
            times = longs(rows, by)
            end = int(np.searchsorted(times, until, side="right"))
            due.append(rows[segment.taken : end])
            if end < segment.height:
                kept.append(segment.without_first(end, int(times[end])))
        return pl.concat(due), replace(self, segments=tuple(kept))

    def smallest(self, column: str) -> int:
        """The smallest value of a column among the rows that wait; AFTER_ALL if there are none."""
        parts = [longs(s.rows()[s.taken :], column) for s in self.segments]
        return int(np.concatenate([[AFTER_ALL], *parts]).min())


def _as_segments(rows: pl.DataFrame, column: str) -> tuple[Segment, ...]:
    return () if rows.is_empty() else (Segment.of(rows, column),)


def earliest(*times: int | None) -> int | None:
    """The smallest of the times that are there."""
    there = [time for time in times if time is not None and time < AFTER_ALL]
    return min(there, default=None)
