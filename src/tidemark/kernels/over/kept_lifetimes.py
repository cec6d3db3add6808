"""What is known of the lives of partitions, as state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.over.lifetimes import KnownLives, Timers
from tidemark.kernels.segments import Compaction
from tidemark.kernels.tables import KeyedTable, Longs, longs

LIFE: Final = "_tm_life"  # Int64; tells the lives of a partition apart
# The life of rows that earlier versions kept, which wrote no records.
UNRECORDED: Final = -1
# The life of partitions of which nothing is known.
UNKNOWN: Final = -2
_CLEARING, _FIRED, _EARLIER = "_tm_clearing", "_tm_fired", "_tm_earlier"
_WATERMARK = "_tm_watermark"


@dataclass(frozen=True, slots=True)
class KeptLifetimes:
    """A record for each partition that lives, rewritten with its rows; the newest one counts.

    From the watermark when the record was written follows which timers have fired since: none if
    it has not advanced. TIME is the last moment at which the record may count: that of the timer
    that clears the partition, unless it is behind that watermark.
    """

    keys: tuple[str, ...]
    range_ms: int

    def of(self, table: KeyedTable, keys: Keys, watermark: int) -> tuple[KnownLives, Longs]:
        """What is known of these partitions now, and which of their lives they are in."""
        found = self._newest(table.probe(keys.hashes, self._like(keys)))
        number = keys.number(found, self.keys)
        found, number = found.filter(number >= 0), number[number >= 0]
        life = np.full(len(keys), UNKNOWN)
        life[number] = longs(found, LIFE)
        # Timers that were set after the watermark had reached them wait for the next one.
        reached = np.where(longs(found, _WATERMARK) < watermark, watermark, BEFORE_ALL)
        living = longs(found, _CLEARING) > reached
        found, number, reached = found.filter(living), number[living], reached[living]
        clearing, fired, limit = (np.full(len(keys), BEFORE_ALL) for _ in range(3))
        clearing[number], fired[number] = longs(found, _CLEARING), longs(found, _FIRED)
        limit[number] = reached
        earlier = _exploded(found, number)
        has_fired = earlier.time <= limit[earlier.partition]
        np.maximum.at(fired, earlier.partition[has_fired], earlier.time[has_fired])
        rest = Timers(earlier.partition[~has_fired], earlier.time[~has_fired])
        return KnownLives(clearing, fired, rest), life

    def updated(
        self,
        table: KeyedTable,
        keys: Keys,
        known: KnownLives,
        life: Longs,
        watermark: int,
        compaction: Compaction,
    ) -> KeyedTable:
        """The table with new records of these partitions."""
        living = np.flatnonzero(known.lives)
        earlier = pl.DataFrame(
            {"at": known.earlier.partition, _EARLIER: known.earlier.time},
            schema={"at": pl.Int64, _EARLIER: pl.Int64},
        )
        lists = earlier.sort(_EARLIER).group_by("at").agg(_EARLIER)
        records = (
            keys.only(living)
            .select(HASH, *self.keys)
            .with_columns(
                pl.Series(TIME, np.maximum(known.clearing[living], watermark), pl.Int64),
                pl.Series(_CLEARING, known.clearing[living], pl.Int64),
                pl.Series(_FIRED, known.fired[living], pl.Int64),
                pl.Series(LIFE, life[living], pl.Int64),
                pl.lit(watermark, pl.Int64).alias(_WATERMARK),
                pl.Series("at", living, pl.Int64),
            )
            .join(lists, on="at", how="left", maintain_order="left")
            .drop("at")
        )
        return self._unexpired(table, watermark).append(
            records.select(self._like(keys).columns),
            compaction,
            lambda rows, _: self._needed(rows, watermark),
        )

    def _like(self, keys: Keys) -> pl.DataFrame:
        """An empty table."""
        own = {name: pl.Int64() for name in (TIME, _CLEARING, _FIRED, LIFE, _WATERMARK)}
        columns = [pl.Series(name, [], type_) for name, type_ in own.items()]
        columns.append(pl.Series(_EARLIER, [], pl.List(pl.Int64)))
        return keys.only(np.zeros(0, np.int64)).select(HASH, *self.keys).hstack(columns)

    def _newest(self, records: pl.DataFrame) -> pl.DataFrame:
        """They are oldest first."""
        return last_of_each(records, self.keys)

    def _needed(self, records: pl.DataFrame, watermark: int) -> pl.DataFrame:
        newest = self._newest(records)
        return newest.filter(longs(newest, TIME) >= self._gone(watermark))

    def _unexpired(self, table: KeyedTable, watermark: int) -> KeyedTable:
        return table.without_before(self._gone(watermark))

    def _gone(self, watermark: int) -> int:
        """Partitions that were cleared before this have no rows left either: those would be taken
        for rows of an earlier version."""
        return BEFORE_ALL if watermark < 0 else watermark - self.range_ms


def _exploded(found: pl.DataFrame, number: Longs) -> Timers:
    lists = found.select(pl.Series("at", number, pl.Int64), _EARLIER).explode(_EARLIER).drop_nulls()
    return Timers(longs(lists, "at"), longs(lists, _EARLIER))
