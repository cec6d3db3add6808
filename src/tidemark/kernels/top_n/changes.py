"""The changes of a ranking's first rows, as Flink emits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.kinds import AFTER, BEFORE, DELETE, INSERT, Kinds, kind_column
from tidemark.kernels.tables import Longs, up_to_each
from tidemark.kernels.top_n.arrivals import RankArrivals

_NONE = -1

Ints = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class RankChanges:
    """RankedRows in the order in which they are emitted, each with its kind and rank, and the
    number of the arrival that causes it."""

    row: Longs
    kind: Kinds
    rank: Longs
    arrival: Longs

    @classmethod
    def in_pairs(
        cls, arrival: Longs, first: tuple[Longs, Ints, Longs], second: tuple[Longs, Ints, Longs]
    ) -> RankChanges:
        """The first and the second change of each pair, one after the other, without rows -1."""
        row, kind, rank = (_alternately(*both) for both in zip(first, second, strict=True))
        kinds, arrival = kind.astype(np.int8, copy=False), np.repeat(arrival, 2)
        there = row != _NONE
        if there.all():
            return cls(row, kinds, rank, arrival)
        return cls(row[there], kinds[there], rank[there], arrival[there])

    def upserts(self) -> RankChanges:
        """The changes without the rows that updates replace."""
        stay = self.kind != BEFORE
        return RankChanges(self.row[stay], self.kind[stay], self.rank[stay], self.arrival[stay])

    def kinds(self) -> pl.Series:
        return kind_column(self.kind)


def _alternately(first: Ints, second: Ints) -> Ints:
    both = np.empty(2 * first.size, dtype=first.dtype)
    both[0::2], both[1::2] = first, second
    return both


def of_rows(arrivals: RankArrivals, high: int, *, replaces: bool) -> RankChanges:
    """The changes of the first `high` rows without their ranks: a row comes, another one goes.

    With `replaces`, a row that comes for the first and only one is an update.
    """
    a = arrivals
    is_in, was_in = _within(a.added_rank, high), _within(a.removed_rank, high)
    updated = is_in & was_in
    comes, goes = is_in & ~was_in, was_in & ~is_in
    pushes, pulls = comes & (a.size >= high), goes & (a.size > high)
    leaving = np.where(was_in, a.removed, _NONE)
    leaving[pushes] = _at(a, pushes, high)
    entering = np.where(is_in, a.added, _NONE)
    entering[pulls] = _at(a, pulls, high + 1)
    paired = updated | (pushes if replaces else False)
    unranked = np.zeros(leaving.size, dtype=np.int64)
    return RankChanges.in_pairs(
        np.arange(leaving.size),
        (leaving, np.where(paired, BEFORE, DELETE), unranked),
        (entering, np.where(paired, AFTER, INSERT), unranked),
    )


def of_ranks(arrivals: RankArrivals, low: int, high: int) -> RankChanges:
    """The changes of the rows with the ranks `low` to `high`, with their ranks: each row that
    changes its rank replaces the one that had it.
    """
    a = arrivals
    is_in, was_in = _within(a.added_rank, high), _within(a.removed_rank, high)
    comes, moves, goes = is_in & ~was_in, is_in & was_in, was_in & ~is_in
    first = np.select([is_in, goes], [a.added_rank, a.removed_rank], high + 1)
    # The last rank at which one row replaces another; after it, one may come or go.
    last = np.select([moves, comes, goes], [a.removed_rank, a.size, a.size - 1], 0)
    pairs = _pairs(a, np.maximum(first, low), np.minimum(last, high), goes)
    tail = np.select([comes, goes], [a.size + 1, a.size], 0)
    ends = np.flatnonzero((tail >= low) & (tail <= high))
    return _joined(pairs, ends, *_tails(a, ends, tail[ends], comes))


def _pairs(a: RankArrivals, first: Longs, last: Longs, pulls: npt.NDArray[np.bool_]) -> RankChanges:
    """The rows that replace each other at the ranks `first` to `last`.

    Rows are pulled up from the next rank, or pushed down from the one before; the row that arrives
    takes the first rank.
    """
    counts = np.maximum(last - first + 1, 0)
    arrival = np.repeat(np.arange(counts.size), counts)
    rank = np.repeat(first, counts) + up_to_each(counts)
    old = a.row_at(arrival, rank)
    arrives = ~pulls[arrival] & (rank == a.added_rank[arrival])
    new = np.where(arrives, a.added[arrival], _NONE)
    others = np.flatnonzero(~arrives)
    step = np.where(pulls[arrival[others]], 1, -1)
    new[others] = a.row_at(arrival[others], rank[others] + step)
    before, after = (np.full(rank.size, kind, np.int64) for kind in (BEFORE, AFTER))
    return RankChanges.in_pairs(arrival, (old, before, rank), (new, after, rank))


def _tails(
    a: RankArrivals, ends: Longs, rank: Longs, comes: npt.NDArray[np.bool_]
) -> tuple[Longs, Kinds, Longs]:
    """The row that gets a new last rank, or that loses the last one."""
    inserts = comes[ends]
    itself = inserts & (rank == a.added_rank[ends])
    row = np.where(itself, a.added[ends], _NONE)
    others = np.flatnonzero(~itself)
    row[others] = a.row_at(ends[others], rank[others] - inserts[others])
    return row, np.where(inserts, INSERT, DELETE).astype(np.int8), rank


def _joined(pairs: RankChanges, ends: Longs, row: Longs, kind: Kinds, rank: Longs) -> RankChanges:
    """The pairs of each arrival, followed by its end."""
    arrival = np.concatenate([pairs.arrival, ends])
    order = np.argsort(arrival, kind="stable")
    return RankChanges(
        np.concatenate([pairs.row, row])[order],
        np.concatenate([pairs.kind, kind])[order],
        np.concatenate([pairs.rank, rank])[order],
        arrival[order],
    )


def _within(rank: Longs, high: int) -> npt.NDArray[np.bool_]:
    return (rank > 0) & (rank <= high)


def _at(a: RankArrivals, chosen: npt.NDArray[np.bool_], rank: int) -> Longs:
    where = np.flatnonzero(chosen)
    return a.row_at(where, np.full(where.size, rank, dtype=np.int64))
