"""What happens to a ranking as rows arrive: who comes, who goes, and at which place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, SEQUENCE
from tidemark.kernels.keys import Keys
from tidemark.kernels.order import Order, places_in_order
from tidemark.kernels.regular_join.lifetimes import Present
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.tables import Longs, longs, run_starts
from tidemark.kernels.top_n.populations import Populations

SINCE = "_tm_since"  # since which position in the sequence a row has been where it is in the order
_KEY = "_tm_number"
STORED = -1  # when a row came that was there before the step


@dataclass(frozen=True, slots=True)
class RankedRows:
    """All rows that matter in a step, sorted by key and order; rows are known by this position.

    `place` is where each is among the lives of `Present`, `key` the number of its key, and `first`
    the position of that key's first row. It was `born` and `died` at positions in the sequence.
    """

    frame: pl.DataFrame
    place: Longs
    key: Longs
    first: Longs
    born: Longs
    died: Longs

    @classmethod
    def of(cls, present: Present, names: tuple[str, ...], order: Sequence[Order]) -> RankedRows:
        lives = present.lives
        number = Keys.of(names, lives).number(lives, names) if lives.height else np.zeros(0, int)
        since = SINCE if SINCE in lives.columns else SEQUENCE
        # The new version of a row that stays in its place comes before the one that it replaces.
        by = (Order(_KEY), *order, Order(since), Order(SEQUENCE, descending=True))
        place = places_in_order(lives.with_columns(pl.Series(_KEY, number, pl.Int64)), by)
        key = np.asarray(number, dtype=np.int64)[place]
        born = np.where(present.is_new, longs(lives, SEQUENCE), STORED)[place]
        first = run_starts(key)
        return cls(lives[place], place, key, first, born, present.died[place])

    def remaining(self, high: int) -> Longs:
        """The rows that are among the first `high` of their key in the end."""
        alive = np.flatnonzero(self.died == AFTER_ALL)
        before = np.arange(alive.size) - np.searchsorted(self.key[alive], self.key[alive])
        return alive[before < high]


@dataclass(frozen=True, slots=True)
class RankArrivals:
    """The rows that arrive, in order: which row each adds and which it removes (-1: none), with
    their ranks, counted from 1; and how many rows the key had before. They arrive at the positions
    `sequence`.

    What was there before it are the events `start` to `before` of the `populations`, in which rows
    are numbered from `first` on.
    """

    populations: Populations
    start: Longs
    before: Longs
    first: Longs
    size: Longs
    added: Longs
    added_rank: Longs
    removed: Longs
    removed_rank: Longs
    sequence: Longs

    @classmethod
    def of(cls, rows: RankedRows) -> RankArrivals:
        gone = np.flatnonzero(rows.died != AFTER_ALL)
        row = np.concatenate([np.arange(rows.key.size), gone])
        time = np.concatenate([rows.born, rows.died[gone]])
        sign = np.concatenate([np.ones(rows.key.size, np.int64), np.full(gone.size, -1)])
        order = stable_order_by(rows.key[row], time)
        row, time, sign = row[order], time[order], sign[order]
        key = rows.key[row]
        changed = np.ones(row.size, dtype=bool)
        changed[1:] = (key[1:] != key[:-1]) | (time[1:] != time[:-1])
        number = np.cumsum(changed) - 1  # of the arrival that each event belongs to
        added, removed = (np.full(int(changed.sum()), -1, dtype=np.int64) for _ in range(2))
        added[number[sign > 0]] = row[sign > 0]
        removed[number[sign < 0]] = row[sign < 0]
        before = np.flatnonzero(changed)
        start = np.searchsorted(key, key[before], side="left").astype(np.int64)
        arrived = time[before] != STORED
        in_order = np.flatnonzero(arrived)[stable_order(time[before[arrived]])]
        populations = Populations.of(row - rows.first[row], sign)
        chosen = before[in_order]
        return cls._ranked(
            populations,
            start[in_order],
            chosen,
            rows.first[row[chosen]],
            added[in_order],
            removed[in_order],
            time[chosen],
        )

    @classmethod
    def _ranked(
        cls,
        populations: Populations,
        start: Longs,
        before: Longs,
        first: Longs,
        added: Longs,
        removed: Longs,
        sequence: Longs,
    ) -> RankArrivals:
        def rank(row: Longs) -> Longs:
            there = np.flatnonzero(row >= 0)
            found = np.zeros(row.size, dtype=np.int64)
            found[there] = 1 + populations.smaller(
                start[there], before[there], row[there] - first[there]
            )
            return found

        size = populations.size(start, before)
        return cls(
            populations,
            start,
            before,
            first,
            size,
            added,
            rank(added),
            removed,
            rank(removed),
            sequence,
        )

    def row_at(self, arrival: Longs, rank: Longs) -> Longs:
        """The row that had a rank before an arrival. The key had one."""
        first = self.first[arrival]
        found = self.populations.nth(self.start[arrival], self.before[arrival], rank - 1)
        return found + first
