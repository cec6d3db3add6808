"""Rankings to which rows are only added: the first rows of all keys side by side, to which one
arrival of each key is added at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.kinds import AFTER, BEFORE, DELETE, INSERT
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.tables import Longs, run_starts, up_to_each
from tidemark.kernels.top_n.arrivals import STORED, RankedRows
from tidemark.kernels.top_n.changes import RankChanges

# It pays off if keys have few arrivals, or many keys have as many.
_FEW_TURNS: Final = 64
_KEYS_PER_TURN: Final = 32
_MOST_PLACES: Final = 20_000_000  # of all keys together
_NONE: Final = -1


@dataclass(frozen=True, slots=True)
class _Turn:
    """The arrivals of a turn that get among the first ones of their keys: their numbers, rows and
    places, and what is at all places of the key before and after.
    """

    arrival: Longs
    row: Longs
    place: Longs
    before: Longs
    after: Longs


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The arriving rows, turn by turn: the first one of each key is in the first turn. Keys are
    numbered by how many arrivals they have, so that those of a turn are the first ones.
    """

    rows: RankedRows
    high: int
    number: Longs  # per key
    row: Longs
    arrival: Longs  # the number of each row in order of arrival
    ends: Longs  # after each turn
    sequence: Longs  # per arrival

    @classmethod
    def of(cls, rows: RankedRows, high: int) -> SideBySide | None:
        """None if rows are removed too, or if there are too many turns for few keys."""
        new = np.flatnonzero(rows.born != STORED)
        if not new.size or (rows.died != AFTER_ALL).any():
            return None
        row = new[stable_order(rows.born[new])]
        key = rows.key[row]
        counts = np.bincount(key, minlength=int(rows.key[-1]) + 1)
        enough = int(counts.max()) <= max(_FEW_TURNS, row.size // _KEYS_PER_TURN)
        if not enough or counts.size * high > _MOST_PLACES:
            return None
        number = np.empty(counts.size, dtype=np.int64)
        number[stable_order(-counts)] = np.arange(counts.size)
        turn = np.empty(row.size, dtype=np.int64)
        turn[stable_order(key)] = up_to_each(counts)
        order = stable_order_by(turn, number[key])
        return cls(
            rows, high, number, row[order], order, np.cumsum(np.bincount(turn)), rows.born[row]
        )

    def of_ranks(self, low: int) -> RankChanges:
        """See `changes.of_ranks`."""
        parts = []
        places = np.arange(self.high)
        for turn in self._turns():
            moves = (places >= turn.place[:, np.newaxis]) & (turn.after != _NONE)
            which, place = np.nonzero(moves[:, low - 1 :])
            place += low - 1
            old, new = turn.before[which, place], turn.after[which, place]
            parts.append((turn.arrival[which], place + 1, old, new))
        arrival, rank, old, new = map(np.concatenate, zip(*parts, strict=True))
        order = self._in_order_of_arrival(arrival)
        arrival, rank, old, new = (column[order] for column in (arrival, rank, old, new))
        before = np.full(rank.size, BEFORE, dtype=np.int8)
        after = np.where(old == _NONE, np.int8(INSERT), np.int8(AFTER))
        return RankChanges.in_pairs(arrival, (old, before, rank), (new, after, rank))

    def of_rows(self, *, replaces: bool) -> RankChanges:
        """See `changes.of_rows`."""
        pushed, comes = (np.full(self.row.size, _NONE) for _ in range(2))
        for turn in self._turns():
            pushed[turn.arrival] = turn.before[:, -1]
            comes[turn.arrival] = turn.row
        paired = replaces & (pushed != _NONE)
        unranked = np.zeros(comes.size, dtype=np.int64)
        return RankChanges.in_pairs(
            np.arange(comes.size),
            (pushed, np.where(paired, BEFORE, DELETE), unranked),
            (comes, np.where(paired, AFTER, INSERT), unranked),
        )

    def _turns(self) -> Iterator[_Turn]:
        nothing = self.rows.key.size  # after all rows
        first = self._stored(nothing)
        places, start = np.arange(self.high), 0
        for end in self.ends.tolist():
            row, arrival = self.row[start:end], self.arrival[start:end]
            place = (first[: end - start] < row[:, np.newaxis]).sum(axis=1)
            hit = np.flatnonzero(place < self.high)
            row, place, before = row[hit], place[hit], first[hit]
            own = place[:, np.newaxis]
            after = np.where(places < own, before, np.roll(before, 1, axis=1))
            after[np.arange(hit.size), place] = row
            first[hit] = after
            before[before == nothing] = _NONE
            after[after == nothing] = _NONE
            yield _Turn(arrival[hit], row, place, before, after)
            start = end

    def _stored(self, nothing: int) -> Longs:
        """Per key its first rows before the step, by number."""
        first = np.full((self.number.size, self.high), nothing, dtype=np.int64)
        row = np.flatnonzero(self.rows.born == STORED)
        key = self.rows.key[row]
        place = np.arange(row.size) - run_starts(key)
        row, key, place = (column[place < self.high] for column in (row, key, place))
        first[self.number[key], place] = row
        return first

    def _in_order_of_arrival(self, arrival: Longs) -> Longs:
        """An order of changes that are turn by turn; those of an arrival are adjacent."""
        counts = np.bincount(arrival, minlength=self.row.size)
        begins = np.cumsum(counts) - counts
        is_first = np.append(True, arrival[1:] != arrival[:-1])[: arrival.size]
        within = up_to_each(np.diff(np.append(np.flatnonzero(is_first), arrival.size)))
        order = np.empty(arrival.size, dtype=np.int64)
        order[begins[arrival] + within] = np.arange(arrival.size)
        return order
