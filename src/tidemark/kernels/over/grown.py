"""The accumulators of each partition's rows so far, as state."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.over.sorted_rows import PARTITION
from tidemark.kernels.tables import KeyedTable, longs


@dataclass(frozen=True, slots=True)
class Grown:
    """A record of accumulators for each key, rewritten with its rows; the newest one counts.

    TIME is when it was written, in processing time: it expires `ttl` milliseconds later.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    ttl: int | None = None

    def records(self, grown: pl.DataFrame, keys: Keys, now: int) -> pl.DataFrame:
        """The accumulators of partitions as state."""
        of_keys = keys.only(longs(grown, PARTITION)).select(HASH, *self.keys)
        written = pl.lit(now, pl.Int64).alias(TIME)
        return of_keys.hstack(grown.select(self.names)).with_columns(written)

    def of(self, table: KeyedTable, keys: Keys, like: pl.DataFrame, now: int) -> pl.DataFrame:
        """The accumulators of these keys, with their numbers."""
        found = self.newest(self.unexpired(table, now).probe(keys.hashes, like), now)
        number = pl.Series(PARTITION, keys.number(found, self.keys), pl.Int64)
        return found.select(number, *self.names).filter(pl.col(PARTITION) >= 0)

    def newest(self, records: pl.DataFrame, now: int) -> pl.DataFrame:
        """The last record of each key, unless it has expired. They are oldest first."""
        newest = last_of_each(records, self.keys)
        return newest if self.ttl is None else newest.filter(pl.col(TIME) > now - self.ttl)

    def unexpired(self, table: KeyedTable, now: int) -> KeyedTable:
        """The table without segments that have expired completely."""
        return table if self.ttl is None else table.without_before(now - self.ttl + 1)
