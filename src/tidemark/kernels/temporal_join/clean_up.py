"""Expires idle keys: `table.exec.state.ttl`.

A key has at most one clean-up timer, in processing time. Every access makes sure that it is far
enough away; when it fires, all state of the key is removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.history import newest_records
from tidemark.kernels.keys import Keys
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs

TIMER = "_tm_timer"
WAITING = "_tm_waiting"  # left rows of the key that wait for their time
NO_TIMER = -1


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the state of a key is kept after the last access to it, in milliseconds.

    A timer that is at least `shortest` away is not changed, others are moved to `longest` away: a
    busy key moves its timer once per difference of the two, not with every row.
    """

    shortest: int
    longest: int

    @classmethod
    def of(cls, ttl: int) -> Retention:
        """The bounds for a value of `table.exec.state.ttl`."""
        return cls(ttl, ttl * 3 // 2)

    def renewed(self, timers: Longs, now: int) -> Longs:
        """The timers after an access."""
        moves = (timers == NO_TIMER) | (now + self.shortest > timers)
        return np.where(moves, now + self.longest, timers)


@dataclass(frozen=True, slots=True)
class CleanUp:
    """The clean-up timers of an operator whose keys are called `names`."""

    retention: Retention
    names: tuple[str, ...]
    compaction: Compaction

    def expired(self, state: State, rows: pl.DataFrame, now: int) -> tuple[pl.DataFrame, State]:
        """The keys whose timer has fired, and the state without their timers.

        `rows` are any with columns for the keys.
        """
        like = rows.clear().select(HASH, *self.names, pl.lit(0, pl.Int64).alias(TIMER))
        due, queue = state.queue("clean_ups").take(now, TIMER, like)
        keys = Keys.of(self.names, due)
        timer, _ = self.timers(state, keys)
        # A timer that has been moved leaves its old entry in the queue.
        current = timer[keys.number(due, self.names)] == longs(due, TIMER)
        gone = due.filter(current).select(HASH, *self.names).unique()
        state = state.with_tables(clean_ups=queue)
        nothing = np.zeros(gone.height, dtype=np.int64)
        return gone, self._written(state, gone, nothing + NO_TIMER, nothing)

    def timers(self, state: State, keys: Keys) -> tuple[Longs, Longs]:
        """Per key number its timer, or NO_TIMER, and how many of its left rows are waiting."""
        like = keys.frame.clear().select(
            HASH, *self.names, *(pl.lit(0, pl.Int64).alias(name) for name in (TIMER, WAITING))
        )
        records = state.keyed("clean_up").probe(keys.hashes, like)
        number = keys.number(records, self.names)
        known = number >= 0
        timer = np.full(len(keys) + 1, NO_TIMER, dtype=np.int64)
        waiting = np.zeros(len(keys) + 1, dtype=np.int64)
        timer[number[known]] = longs(records, TIMER)[known]
        waiting[number[known]] = longs(records, WAITING)[known]
        return timer, waiting

    def note(
        self,
        state: State,
        keys: Keys,
        before: tuple[Longs, Longs],
        after: tuple[Longs, Longs],
    ) -> State:
        """Write the timers and numbers of waiting rows that a step has changed."""
        count = len(keys)
        moved = before[0][:count] != after[0][:count]
        changed = np.flatnonzero(moved | (before[1][:count] != after[1][:count]))
        state = self._written(state, keys.only(changed), after[0][changed], after[1][changed])
        set_again = np.flatnonzero(moved & (after[0][:count] != NO_TIMER))
        entries = keys.only(set_again).with_columns(pl.Series(TIMER, after[0][set_again]))
        queue = state.queue("clean_ups").push(entries, TIMER, self.compaction)
        return state.with_tables(clean_ups=queue)

    def _written(self, state: State, keys: pl.DataFrame, timer: Longs, waiting: Longs) -> State:
        records = keys.with_columns(pl.Series(TIMER, timer), pl.Series(WAITING, waiting))
        table = state.keyed("clean_up").append(records, self.compaction, self._worth_keeping)
        return state.with_tables(clean_up=table)

    def _worth_keeping(self, records: pl.DataFrame, oldest: bool) -> pl.DataFrame:
        newest = newest_records(records, self.names)
        empty = (pl.col(TIMER) == NO_TIMER) & (pl.col(WAITING) == 0)
        return newest.filter(~empty) if oldest else newest


def any_of(keys: int, *numbers: Longs) -> npt.NDArray[np.bool_]:
    """Per key number whether it is in `keys`."""
    hit = np.zeros(keys + 1, dtype=bool)
    for several in numbers:
        hit[several] = True
    hit[keys] = False
    return hit


def largest(keys: int, number: Longs, value: Longs) -> Longs:
    """Per key number the largest of its values; -1 if there are none."""
    result = np.full(keys + 1, -1, dtype=np.int64)
    np.maximum.at(result, number, value)
    result[keys] = -1
    return result
