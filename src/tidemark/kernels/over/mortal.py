"""Partitions that are forgotten some time after their last row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.columns import BEFORE_ALL, SEQUENCE, TIME
from tidemark.kernels.keys import Keys
from tidemark.kernels.over.kept_lifetimes import LIFE, UNKNOWN, UNRECORDED, KeptLifetimes
from tidemark.kernels.over.lifetimes import Course, KnownLives, Lifetimes, PartitionRows
from tidemark.kernels.over.past import PastRows, Reach, newest_times
from tidemark.kernels.ranges import Flags
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, longs
from tidemark.kernels.windows.incoming import Incoming

_TIMERS: Final = "timers"


@dataclass(frozen=True, slots=True)
class Lived:
    """The rows of a step with the lives of their partitions: those that waited, and those that
    came, which may be late; and the state with the timers after it."""

    taken: pl.DataFrame
    rows: pl.DataFrame
    late: Flags
    state: State


@dataclass(frozen=True, slots=True)
class MortalPartitions:
    """The partitions of ranges of time. Of checkpoints of earlier versions, only the rows of a
    table `unrecorded` are known."""

    keys: tuple[str, ...]
    reach: Reach
    used: tuple[str, ...]
    compaction: Compaction
    unrecorded: str

    def lived(
        self, state: State, incoming: Incoming, advances: Advances, taken: pl.DataFrame
    ) -> Lived:
        rows = incoming.rows
        keys, [of_taken, of_rows] = Keys.numbering(self.keys, taken, rows)
        known, life = self._known(state, keys, rows, incoming.before)
        arrived, waited = _arrived(rows, of_rows), _arrived(taken, of_taken)
        during = Lifetimes(self._kept.range_ms, known, advances, waited)
        late = during.late(arrived, incoming.stamps)
        course = Course.of(during, arrived.only(~late))
        number = np.zeros(rows.height, dtype=np.int64)
        number[~late] = course.lives
        after, last = course.known_after()
        timers = self._kept.updated(
            state.keyed(_TIMERS),
            keys,
            after,
            _life(life, last, state),
            incoming.watermark,
            self.compaction,
        )
        return Lived(
            taken.with_columns(pl.Series(LIFE, life[of_taken], pl.Int64)),
            rows.with_columns(pl.Series(LIFE, _life(life[of_rows], number, state), pl.Int64)),
            late,
            state.with_tables(
                **{_TIMERS: timers, self.unrecorded: self._unrecorded(state, incoming.before)}
            ),
        )

    def living(self, state: State, rows: pl.DataFrame, watermark: int) -> pl.DataFrame:
        """Those of the past's rows whose partitions are in the same life."""
        keys, [number] = Keys.numbering(self.keys, rows)
        known, life = self._kept.of(state.keyed(_TIMERS), keys, watermark)
        return rows.filter(known.lives[number] & (life[number] == longs(rows, LIFE)))

    def _known(
        self, state: State, keys: Keys, rows: pl.DataFrame, watermark: int
    ) -> tuple[KnownLives, Longs]:
        """What is known of the partitions before the step, and their lives."""
        known, life = self._kept.of(state.keyed(_TIMERS), keys, watermark)
        older = state.keyed(self.unrecorded)
        if not older.segments:
            return known, life
        past = PastRows(self.keys, self.reach)
        found = past.of(older.probe(keys.hashes, past.like(rows, self.used)), keys, watermark, 0)
        newest = newest_times(*found, len(keys))
        others = (life == UNKNOWN) & (newest != BEFORE_ALL)
        life = np.where(others, UNRECORDED, life)
        return known.also(others, newest, self._kept.range_ms), life

    def _unrecorded(self, state: State, watermark: int) -> KeyedTable:
        """What an earlier version kept, without rows that nothing reaches any more."""
        return state.keyed(self.unrecorded).without_before(watermark - self._kept.range_ms * 3 // 2)

    @property
    def _kept(self) -> KeptLifetimes:
        assert self.reach.only_ms is not None
        return KeptLifetimes(self.keys, self.reach.only_ms)


def _arrived(rows: pl.DataFrame, partition: Longs) -> PartitionRows:
    return PartitionRows(partition, longs(rows, SEQUENCE), longs(rows, TIME))


def _life(before: Longs, number: Longs, state: State) -> Longs:
    """Lives that began in the step that this state is before, or go on as the one with the number
    0. There are no more of them than rows, so those of later steps get other numbers."""
    return np.where(number == 0, before, state.sequence + number)


def unrecorded(older: KeyedTable, keys: Keys, like: pl.DataFrame) -> pl.DataFrame:
    """Rows like these that an earlier version kept."""
    life = pl.lit(UNRECORDED, pl.Int64).alias(LIFE)
    found = older.probe(keys.hashes, like.drop(LIFE))
    return found.with_columns(life).select(like.columns)
