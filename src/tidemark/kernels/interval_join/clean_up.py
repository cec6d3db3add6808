"""When the cached rows of an interval join are removed.

A row has expired once the clock has passed the end of its range. It is removed later, at the first
sweep of its key: when the key's clean-up timer fires, or when a row of the other side searches the
cache (and may match the expired row one last time). A sweep at clock C removes all rows that have
expired by then.

A key has one timer per side. It is set for the first row that is cached and, after firing, for the
earliest row left. Rows that arrive while it runs do not move it, so a row with an earlier time
outlives its expiry until the timer of the later one fires. If rows come in order of time, no row
outlives its expiry, and then nothing is written: the earliest row that has not expired implies the
timer. Only if a row is overtaken, or if clean-up is delayed (`slack`), there is a record: (timer,
floor). While its timer runs, the key's rows are alive down to the floor, the clock of the last
sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.history import newest_records
from tidemark.kernels.keys import Keys
from tidemark.kernels.ranges import Flags, Ranges, equal_keys
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs

TIMER = "_tm_timer"
FLOOR = "_tm_floor"
END = 2**62  # the clock after the end of all inputs


def clock_of(watermark: int) -> int:
    """The clock by which rows expire: it starts at 1970, as in Flink."""
    return max(watermark, 0)


@dataclass(frozen=True, slots=True)
class IntervalCleanUp:
    """The clean-up of one side's cache, whose rows expire `size` after their time."""

    side: str
    keys: tuple[str, ...]
    size: int
    slack: int = 0
    compaction: Compaction = field(default_factory=Compaction)

    def running(self, state: State, hashes: Longs, like: pl.DataFrame, clock: int) -> pl.DataFrame:
        """The records, of keys with one of the hashes, whose timer has not fired yet.

        The hashes are ascending; `like` is a frame with columns for the keys.
        """
        table, found = state.keyed(self._timers), self._empty(like)
        if table.height > hashes.size:
            found = table.probe(distinct(hashes), found)
        elif table.segments and hashes.size:
            # Search in this direction: there are mostly few records.
            rows = pl.concat([found, *(segment.rows() for segment in table.segments)])
            known = longs(rows, HASH)
            place = np.minimum(np.searchsorted(hashes, known), hashes.size - 1)
            found = rows.filter(hashes[place] == known)
        return newest_records(found.filter(pl.col(TIMER) > clock), self.keys)

    def alive(self, state: State, rows: pl.DataFrame, clock: int) -> pl.Series:
        """Per row whether no sweep of its key has removed it."""
        floor, _ = self.floors(state, rows, clock)
        return pl.Series(longs(rows, TIME) + self.size >= floor)

    def floors(self, state: State, rows: pl.DataFrame, clock: int) -> tuple[Longs, Longs]:
        """Per row the floor of its key and its running timer, or 0."""
        floor = np.full(rows.height, clock, dtype=np.int64)
        timer = np.zeros(rows.height, dtype=np.int64)
        records = self.running(state, np.sort(longs(rows, HASH)), rows, clock)
        if not records.is_empty():
            keys = Keys.of(self.keys, records)
            number = keys.number(rows, self.keys)
            place = np.zeros(len(keys), dtype=np.int64)
            place[keys.number(records, self.keys)] = np.arange(records.height)
            known = number >= 0
            floor[known] = longs(records, FLOOR)[place[number[known]]]
            timer[known] = longs(records, TIMER)[place[number[known]]]
        return floor, timer

    # --- timers --------------------------------------------------------------------------------

    def fire(self, state: State, rows: pl.DataFrame, clock: int) -> State:
        """The state after the timers that have fired; each is set again if any row is left.

        `rows` are any with columns for the keys. Without slack, a timer that has fired leaves
        nothing to write.
        """
        like = rows.clear().select(HASH, *self.keys, pl.lit(0, pl.Int64).alias(TIMER))
        due, queue = state.queue(self._due).take(clock, TIMER, like)
        state = state.with_tables(**{self._due: queue})
        if due.is_empty():
            return state
        due = due.sort(HASH)
        earliest = self._earliest(state, due, clock)
        return self._set(state, due, earliest, earliest < END, clock)

    def cache(self, state: State, rows: pl.DataFrame, clock: int) -> State:
        """The state after rows, sorted by hash and time, have been cached."""
        if not rows.is_empty():
            state = self._with_timers(state, rows, clock)
        cache = self._without_old(state, clock)
        cache = cache.append(
            rows,
            self.compaction,
            lambda merged, _: merged.filter(self.alive(state, merged, clock)).sort(TIME),
        )
        return state.with_tables(**{self.side: cache})

    def tidied(self, state: State, before: State, clock: int) -> State:
        """The state at the end of a step, without rows that were added and removed in it."""
        cache = state.keyed(self.side).tidied(
            before.keyed(self.side), lambda rows: rows.filter(self.alive(state, rows, clock))
        )
        return state.with_tables(**{self.side: cache})

    def _with_timers(self, state: State, rows: pl.DataFrame, clock: int) -> State:
        """Set the timers of keys that had none, if they must be written."""
        rows, starts = _runs_of_keys(rows, self.keys)
        sequence, times = longs(rows, SEQUENCE), longs(rows, TIME)
        keys = rows[starts].select(HASH, *self.keys)
        first = np.minimum.reduceat(sequence, starts)
        lengths = np.diff(starts, append=rows.height)
        tracked = times[sequence == np.repeat(first, lengths)]
        needed = np.full(len(starts), self.slack > 0)
        if not self.slack:
            tracked = self._tracked(state, keys, times[starts], tracked, clock)
            needed = times[starts] < tracked
        if needed.any():
            _, timer = self.floors(state, keys.with_columns(pl.lit(0).alias(TIME)), clock)
            needed &= timer == 0
        return self._set(state, keys, tracked, needed, clock)

    def _tracked(
        self, state: State, keys: pl.DataFrame, earliest: Longs, first: Longs, clock: int
    ) -> Longs:
        """Per key the time that its timer was set for: that of the earliest row in the cache, or
        else of the `first` that is cached now. Only correct if it is after the `earliest`
        one.
        """
        newest = max((segment.latest for segment in state.keyed(self.side).segments), default=0)
        open_ = np.flatnonzero((earliest < newest) | (earliest < first))
        tracked = first.copy()
        waiting = self._earliest(state, keys[open_], clock)
        tracked[open_] = np.where(waiting < END, waiting, first[open_])
        return tracked

    def _earliest(self, state: State, keys: pl.DataFrame, clock: int) -> Longs:
        """Per key (sorted by hash) the time of its earliest unexpired row; END if none."""
        since = np.full(keys.height, clock - self.size, dtype=np.int64)
        ranges = Ranges(longs(keys, HASH), since, np.full(keys.height, END, dtype=np.int64))
        earliest = np.full(keys.height, END, dtype=np.int64)
        for pairs in ranges.within(state.keyed(self.side)):
            pairs = pairs.where(equal_keys(pairs, keys, self.keys, self.keys))
            np.minimum.at(earliest, pairs.mine, longs(pairs.rows, TIME)[pairs.theirs])
        return earliest

    def _set(
        self, state: State, keys: pl.DataFrame, tracked: Longs, chosen: Flags, clock: int
    ) -> State:
        if not chosen.any():
            return state
        timer = tracked[chosen] + (self.size + self.slack + 1)
        records = keys.filter(chosen).with_columns(
            pl.Series(TIMER, timer), pl.lit(clock, pl.Int64).alias(FLOOR)
        )
        state = self._noted(state, records, clock)
        if not self.slack:
            return state
        due = state.queue(self._due).push(records.drop(FLOOR), TIMER, self.compaction)
        return state.with_tables(**{self._due: due})

    # --- sweeps --------------------------------------------------------------------------------

    def swept(self, state: State, records: pl.DataFrame, clock: int) -> State:
        """The state after rows of the other side have searched the keys of running timers."""
        raised = records.with_columns(pl.lit(clock, pl.Int64).alias(FLOOR))
        return self._noted(state, raised, clock)

    def forgotten(self, state: State, records: pl.DataFrame, clock: int) -> Iterator[pl.DataFrame]:
        """The cached rows that sweeping these keys at a clock removes."""
        records = records.sort(HASH)
        last = np.full(records.height, clock - self.size - 1, dtype=np.int64)
        ranges = Ranges(longs(records, HASH), longs(records, FLOOR) - self.size, last)
        for pairs in ranges.within(state.keyed(self.side)):
            pairs = pairs.where(equal_keys(pairs, records, self.keys, self.keys))
            yield pairs.rows[pairs.theirs]

    # --- what is written down ------------------------------------------------------------------

    @property
    def _timers(self) -> str:
        return f"{self.side}_timers"

    @property
    def _due(self) -> str:
        return f"{self.side}_due"

    def next(self, state: State) -> int | None:
        """When the next timer fires."""
        return state.queue(self._due).next

    def _empty(self, rows: pl.DataFrame) -> pl.DataFrame:
        empty = rows.clear().select(HASH, *self.keys)
        return empty.with_columns(pl.lit(0, pl.Int64).alias(name) for name in (TIMER, FLOOR))

    def _noted(self, state: State, records: pl.DataFrame, clock: int) -> State:
        table = state.keyed(self._timers).append(
            records.select(HASH, *self.keys, TIMER, FLOOR),
            self.compaction,
            lambda merged, _: newest_records(merged, self.keys).filter(pl.col(TIMER) > clock),
        )
        return state.with_tables(**{self._timers: table})

    def _without_old(self, state: State, clock: int) -> KeyedTable:
        """The cache without segments in which nothing can be alive."""
        cache = state.keyed(self.side)
        if all(segment.latest + self.size >= clock for segment in cache.segments):
            return cache
        records = [segment.rows() for segment in state.keyed(self._timers).segments]
        floors = [rows.filter(pl.col(TIMER) > clock)[FLOOR].min() for rows in records]
        lowest = min([clock, *(floor for floor in floors if isinstance(floor, int))])
        return cache.without_before(lowest - self.size)


def _runs_of_keys(rows: pl.DataFrame, names: tuple[str, ...]) -> tuple[pl.DataFrame, Longs]:
    """Rows sorted by hash and time, so that equal keys are adjacent too; and where these start."""
    starts = _changes(rows, (HASH, *names))
    if len(starts) > len(_changes(rows, (HASH,))):
        # Different keys share a hash, which is rare: sort by the keys themselves.
        number = Keys.of(names, rows).number(rows, names)
        rows = rows[stable_order_by(longs(rows, HASH), number, longs(rows, TIME))]
        starts = _changes(rows, (HASH, *names))
    return rows, starts


def _changes(rows: pl.DataFrame, names: tuple[str, ...]) -> Longs:
    """The positions of rows that differ from the one before in any of the columns."""
    differs = [pl.col(name).ne_missing(pl.col(name).shift()) for name in names]
    changes = rows.select(pl.any_horizontal(differs)).to_series().to_numpy().copy()
    changes[:1] = True
    return np.flatnonzero(changes)
