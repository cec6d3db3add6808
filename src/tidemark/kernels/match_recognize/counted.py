"""Attempts of a pattern whose variables follow each other: the numbers of their rows say which
rows they are, as no row is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tidemark.kernels.match_recognize.attempts import Attempts, Flags, Unrolled
from tidemark.kernels.match_recognize.spec import ALL_ROWS
from tidemark.kernels.tables import Longs, up_to_each


@dataclass(frozen=True, slots=True)
class CountedAttempts(Attempts):
    start: Longs
    state: Longs
    counts: Longs  # one line per attempt, one column per variable
    subsets: tuple[tuple[int, ...], ...] = ()

    def __getitem__(self, chosen: Flags | Longs | slice) -> CountedAttempts:
        return CountedAttempts(
            self.start[chosen], self.state[chosen], self.counts[chosen], self.subsets
        )

    def joined(self, others: Sequence[CountedAttempts]) -> CountedAttempts:
        several = [self, *others]
        return CountedAttempts(
            np.concatenate([each.start for each in several]),
            np.concatenate([each.state for each in several]),
            np.concatenate([each.counts for each in several]),
            self.subsets,
        )

    def in_state(self, state: int) -> CountedAttempts:
        return replace(self, state=np.full(len(self), state, dtype=np.int64))

    @property
    def next(self) -> Longs:
        return np.asarray(self.start + self.counts.sum(axis=1))

    def taking(self, label: int, state: int) -> CountedAttempts:
        counts = self.counts.copy()
        counts[:, label] += 1
        return replace(self.in_state(state), counts=counts)

    # --- which rows are of a variable -----------------------------------------------------------

    def place(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        run = self.run(variable)
        if run is None:
            return nth_member(self, variable, first, offset)
        begin, count = run
        return (begin + offset if first else begin + count - 1 - offset), count > offset

    def label(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        place, there = self.place(variable, first, offset)
        return self._labels(place), there

    def _labels(self, place: Longs) -> Longs:
        ends = self.start[:, None] + np.cumsum(self.counts, axis=1)
        return np.asarray((place[:, None] >= ends).sum(axis=1))

    def run(self, variable: int) -> tuple[Longs, Longs] | None:
        if variable == ALL_ROWS:
            return self.start, np.asarray(self.counts.sum(axis=1))
        if variable >= self.counts.shape[1]:
            return None
        return self.start + self.counts[:, :variable].sum(axis=1), self.counts[:, variable]

    def members(self, variable: int) -> tuple[Longs, Longs]:
        run = self.run(variable)
        if run is not None:
            begin, count = run
            return count, np.repeat(begin, count) + up_to_each(count)
        rows = self._rows()
        labels = np.repeat(np.tile(np.arange(self.counts.shape[1]), len(self)), self.counts.ravel())
        of, position = rows
        chosen = np.isin(labels, self.subsets[variable - self.counts.shape[1]])
        return np.bincount(of[chosen], minlength=len(self)), position[chosen]

    def _rows(self) -> tuple[Longs, Longs]:
        """The attempt and the position of each row."""
        length = self.counts.sum(axis=1)
        of = np.repeat(np.arange(len(self)), length)
        return of, self.start[of] + up_to_each(length)

    def unrolled(self) -> Unrolled:
        of, position = self._rows()
        taken = (position - self.start[of] + 1)[:, None]
        before = np.cumsum(self.counts, axis=1) - self.counts
        counts = np.clip(taken - before[of], 0, self.counts[of])
        return Unrolled(of, replace(self[of], counts=counts), np.zeros(of.size, dtype=np.bool_))

    def kept(self) -> list[pl.Series]:
        return [
            pl.Series(_count(place), self.counts[:, place], pl.Int64)
            for place in range(self.counts.shape[1])
        ]


@dataclass(frozen=True, slots=True)
class Counting:
    """Makes attempts that count the rows of `variables`."""

    variables: int
    subsets: tuple[tuple[int, ...], ...] = ()

    @property
    def columns(self) -> Mapping[str, pl.DataType]:
        return {_count(place): pl.Int64() for place in range(self.variables)}

    def beginning(self, start: Longs, state: int) -> CountedAttempts:
        counts = np.zeros((start.size, self.variables), dtype=np.int64)
        states = np.full(start.size, state, dtype=np.int64)
        return CountedAttempts(start, states, counts, self.subsets)

    def read(self, kept: pl.DataFrame, start: Longs, state: Longs) -> CountedAttempts:
        counts = kept.select(*self.columns).to_numpy().astype(np.int64, copy=False)
        return CountedAttempts(start, state, counts.reshape(-1, self.variables), self.subsets)


def _count(variable: int) -> str:
    return f"_tm_count{variable}"


def nth_member(attempts: Attempts, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
    """The position of one of the rows of a variable, by looking at all of them."""
    count, position = attempts.members(variable)
    end = np.cumsum(count)
    there = count > offset
    place = end - count + offset if first else end - 1 - offset
    found = np.zeros(len(attempts), dtype=np.int64)
    found[there] = position[place[there]]
    return found, there
