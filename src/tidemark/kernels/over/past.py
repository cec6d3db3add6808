"""The rows that were emitted and that frames of later rows still need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.kernels.keys import Keys
from tidemark.kernels.over.partitions import RowPartitions, changes
from tidemark.kernels.over.spec import SHIFTS, OverCall
from tidemark.kernels.ranges import Flags
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs

WRITTEN: Final = "_tm_written"  # Int64; the processing time at which the row was emitted


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back frames reach from a row: a number of rows, milliseconds, or both."""

    rows: int
    ms: int | None

    @property
    def only_ms(self) -> int | None:
        """The milliseconds, if it is not a number of rows as well."""
        return None if self.rows else self.ms

    @classmethod
    def of(cls, calls: Iterable[OverCall]) -> Self:
        rows, times = [0], []
        for call in calls:
            if call.function in SHIFTS:
                rows.append(call.distance)
            elif call.frame.by_rows:
                rows.append(-int(call.frame.start or 0))
            else:
                times.append(-int(call.frame.start or 0))
        return cls(max(rows), max(times, default=None))

    def needed(self, partitions: RowPartitions, times: Longs) -> Flags:
        """Which rows frames of later rows may contain.

        The newest row of a partition always counts: nothing before it is accepted any more.
        """
        last = partitions.end - 1
        needed = np.arange(len(partitions)) > last - max(self.rows, 1)
        if self.ms is not None:
            needed |= times >= times[last] - self.ms
        return needed

    def expired(self, newest: Longs, watermark: int) -> Flags:
        """Whether no row that is accepted reaches these newest times of partitions. That is so when
        the watermark is half the length of the frame behind its end. Frames of rows never do.
        """
        if self.only_ms is None or watermark == BEFORE_ALL:
            return np.zeros(newest.size, dtype=np.bool_)
        return newest <= watermark - self.only_ms * 3 // 2 - 1


@dataclass(frozen=True, slots=True)
class PastRows:
    """How the rows are kept: by key, until no frame reaches them.

    What is unused for `ttl` milliseconds in processing time expires. Unless partitions are
    `mortal`, in which case others know when they end, those of times expire by the watermark.
    """

    keys: tuple[str, ...]
    reach: Reach
    ttl: int | None = None
    mortal: bool = False

    def of(
        self, rows: pl.DataFrame, keys: Keys, watermark: int, now: int
    ) -> tuple[pl.DataFrame, Longs]:
        """Those rows that are of these keys, in order of time, with the number of their key."""
        number = keys.number(rows, self.keys)
        order = np.flatnonzero(number >= 0)
        order = order[stable_order_by(number[order], longs(rows, TIME)[order])]
        rows, number = rows[order], number[order]
        standing = self._standing(rows, RowPartitions.of(*_runs(number)), watermark, now)
        return (rows, number) if standing.all() else (rows.filter(standing), number[standing])

    def settled(self, rows: pl.DataFrame, watermark: int, now: int) -> pl.DataFrame:
        """The rows of some segments that are still needed."""
        _, [number] = Keys.numbering(self.keys, rows)
        order = stable_order_by(number, longs(rows, TIME))
        rows, partitions = rows[order], RowPartitions.of(*_runs(number[order]))
        needed = self.reach.needed(partitions, longs(rows, TIME))
        return rows.filter(needed & self._standing(rows, partitions, watermark, now))

    def _standing(
        self, rows: pl.DataFrame, partitions: RowPartitions, watermark: int, now: int
    ) -> Flags:
        last = partitions.end - 1
        newest = longs(rows, TIME)[last]
        expired = self.reach.expired(newest, BEFORE_ALL if self.mortal else watermark)
        standing = ~expired
        if self.ttl is not None:
            standing &= longs(rows, WRITTEN)[last] > now - self.ttl
        return standing

    def like(self, rows: pl.DataFrame, used: Iterable[str]) -> pl.DataFrame:
        """An empty table of them."""
        empty = rows.clear().with_columns(pl.lit(0, pl.Int64).alias(WRITTEN))
        return empty.select(self.columns(used))

    def columns(self, used: Iterable[str]) -> list[str]:
        """The columns of the rows that are kept."""
        return list(dict.fromkeys([HASH, *self.keys, *used, TIME, WRITTEN]))


def newest_times(rows: pl.DataFrame, number: Longs, keys: int) -> Longs:
    """Per key the time of its newest row; BEFORE_ALL if it has none. Rows are in order of time."""
    newest = np.full(keys, BEFORE_ALL, dtype=np.int64)
    newest[number] = longs(rows, TIME)
    return newest


def _runs(number: Longs) -> tuple[Flags, Flags]:
    begins = changes(number)
    return begins, begins
