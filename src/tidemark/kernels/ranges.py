"""Finds, for many rows at once, the rows of the other side in a range of time.

Rows are kept sorted by the hash of their key and, within each hash, by time. A range is then a run
of adjacent rows, found by binary search; nothing is rebuilt or scanned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.pieces import TooManyPairs
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import KeyedTable, Longs, longs, up_to_each

Flags = npt.NDArray[np.bool_]


def by_key_and_time(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows sorted by hash, then time."""
    return taken_in_order(rows, order_by_key_and_time(rows))


def order_by_key_and_time(rows: pl.DataFrame) -> Longs:
    """The positions of the rows by hash, then time, then as they came."""
    return stable_order_by(longs(rows, HASH), longs(rows, TIME))


def taken_in_order(rows: pl.DataFrame, order: Longs) -> pl.DataFrame:
    """The rows at positions at which their hashes ascend."""
    return rows[order].with_columns(pl.col(HASH).set_sorted())


def run_numbers(ordered: Longs) -> Longs:
    """Per element of a sorted array, the number of distinct ones before it."""
    steps = np.zeros(ordered.size, dtype=np.int64)
    steps[1:] = ordered[1:] != ordered[:-1]
    return np.cumsum(steps)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Positions of rows that may match: `mine` of the rows that search, `theirs` in `rows`."""

    rows: pl.DataFrame
    mine: Longs
    theirs: Longs

    def __len__(self) -> int:
        return self.mine.size

    def where(self, chosen: Flags) -> Pairs:
        if chosen.all():
            return self
        return Pairs(self.rows, self.mine[chosen], self.theirs[chosen])


@dataclass(frozen=True, slots=True)
class Stretches:
    """For each row that searches, a number of adjacent positions, from `low` on."""

    low: Longs
    counts: Longs

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def pairs(self) -> tuple[Longs, Longs]:
        """The searching row and the position of each pair."""
        mine = np.repeat(np.arange(self.counts.size), self.counts)
        return mine, np.repeat(self.low, self.counts) + up_to_each(self.counts)

    def pieces(self, at_most: int | None) -> Iterator[tuple[Longs, Longs]]:
        """The same, not more than so many at a time; at least one piece, perhaps without any."""
        if at_most is None or self.total <= at_most:
            yield self.pairs()
            return
        ends = np.cumsum(self.counts)
        for start in range(0, int(ends[-1]), at_most):
            yield self._piece(ends, start, min(start + at_most, int(ends[-1])))

    def _piece(self, ends: Longs, start: int, stop: int) -> tuple[Longs, Longs]:
        """The pairs with these numbers, of which only the rows at both ends have some elsewhere."""
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left"))
        low, counts = self.low[first : last + 1].copy(), self.counts[first : last + 1].copy()
        skipped = start - int(ends[first] - self.counts[first])
        low[0] += skipped
        counts[0] -= skipped
        counts[-1] -= int(ends[last]) - stop
        mine, theirs = Stretches(low, counts).pairs()
        return mine + first, theirs


@dataclass(frozen=True, slots=True)
class Ranges:
    """What rows search for: per row a hash, and the first and the last time, both inclusive.

    The hashes are ascending; `places` are the positions of the rows in their frame, if they are
    not in this order there. More matches than `at_most` are too many.
    """

    hashes: Longs
    first: Longs
    last: Longs
    at_most: int | None = None
    places: Longs | None = None

    def among(self, rows: pl.DataFrame) -> Pairs:
        """The matches among rows that are sorted by hash and time."""
        stretches = self.stretches(rows)
        if self.at_most is not None and stretches.total > self.at_most:
            raise TooManyPairs
        return Pairs(rows, *stretches.pairs())

    def stretches(self, rows: pl.DataFrame) -> Stretches:
        """Where the matches are among such rows, for each row of the frame that searches."""
        if rows.is_empty() or not self.hashes.size:
            nothing = np.zeros(self.hashes.size, dtype=np.int64)
            return Stretches(nothing, nothing)
        runs = _Runs.of(rows, self.hashes)
        low, high = runs.positions(self.first, self.last + 1)
        counts = np.maximum(high - low, 0)
        if self.places is None:
            return Stretches(low, counts)
        return Stretches(_put(low, self.places), _put(counts, self.places))

    def within(self, table: KeyedTable) -> Iterator[Pairs]:
        """The matches in each segment of a table."""
        if not self.hashes.size:
            return
        earliest = int(self.first.min())
        for segment in table.segments:
            if (
                segment.low <= self.hashes[-1]
                and segment.high >= self.hashes[0]
                and segment.latest >= earliest
            ):
                yield self.among(segment.rows())


def _put(values: Longs, places: Longs) -> Longs:
    """An array with each value at its place."""
    put = np.empty_like(values)
    put[places] = values
    return put


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of rows with one hash and ascending times, [start, end), and the run of each
    searching row.
    """

    times: Longs
    start: Longs
    end: Longs
    run: Longs

    @classmethod
    def of(cls, rows: pl.DataFrame, hashes: Longs) -> _Runs:
        kept = longs(rows, HASH)
        run = run_numbers(hashes)
        different = hashes[np.flatnonzero(np.diff(run, prepend=-1))]
        start = np.searchsorted(kept, different, side="left")
        there = np.flatnonzero(kept[np.minimum(start, kept.size - 1)] == different)
        end = start.copy()
        end[there] = np.searchsorted(kept, different[there], side="right")
        return cls(longs(rows, TIME), start, end, run)

    def positions(self, *wanted: Longs) -> list[Longs]:
        """For each time, the position of the first row in its run that reaches it; the end of
        the run if none does.
        """
        counts = self.end - self.start
        if int(counts.sum()) <= 4 * self.run.size:
            places = self._places(counts)
            if places is not None:
                return [places.positions(self.run, time) for time in wanted]
        return [self._by_bisection(time) for time in wanted]

    def _places(self, counts: Longs) -> _Places | None:
        """All rows of all runs as one ascending array; None if such numbers would be too large."""
        before = np.cumsum(counts) - counts
        times = self.times[np.repeat(self.start - before, counts) + np.arange(counts.sum())]
        if not times.size:
            return _Places(times, 0, 0, self.start - before)
        earliest, span = int(times.min()), int(times.max()) - int(times.min()) + 2
        if span > 2**62 // counts.size:
            return None
        values = np.repeat(np.arange(counts.size) * span - earliest, counts) + times
        return _Places(values, earliest, span, self.start - before)

    def _by_bisection(self, time: Longs) -> Longs:
        """Reads few rows of long runs."""
        low, high = self.start[self.run], self.end[self.run]
        searching = np.flatnonzero(low < high)
        while searching.size:
            middle = (low[searching] + high[searching]) >> 1
            before = self.times[middle] < time[searching]
            low[searching[before]] = middle[before] + 1
            high[searching[~before]] = middle[~before]
            searching = searching[low[searching] < high[searching]]
        return low


@dataclass(frozen=True, slots=True)
class _Places:
    """The rows of runs as ascending numbers: the run times `span`, plus the time."""

    values: Longs
    earliest: int
    span: int
    moved: Longs  # per run: the offset of its rows from their position here

    def positions(self, run: Longs, time: Longs) -> Longs:
        wanted = time - self.earliest
        np.clip(wanted, 0, max(self.span - 1, 0), out=wanted)
        wanted += run * self.span
        places = np.searchsorted(self.values, wanted)
        places += self.moved[run]
        return places


def equal_keys(
    pairs: Pairs,
    rows: pl.DataFrame,
    mine: Sequence[str],
    theirs: Sequence[str],
    nulls_equal: Sequence[bool] | None = None,
) -> Flags:
    """Which pairs of `rows` and the pairs' own rows have equal keys, and not only equal hashes.

    `nulls_equal` is, for each key, whether NULL equals NULL; by default it does.
    """
    equal = np.ones(len(pairs), dtype=bool)
    for name, other, with_nulls in zip(
        mine, theirs, nulls_equal or [True] * len(mine), strict=True
    ):
        left = rows[name].gather(pairs.mine)
        right = pairs.rows[other].gather(pairs.theirs)
        same = left.eq_missing(right) if with_nulls else (left == right).fill_null(False)
        equal &= same.to_numpy()
    return equal
