"""The state of one side of a regular join.

Nothing is rewritten when a row is removed or when the number of its matches changes: a newer
version of the row is added, which counts, and compaction drops the older ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, HASH, KIND, SEQUENCE, TIME
from tidemark.kernels.kinds import accumulates, kinds_of
from tidemark.kernels.ranges import Flags
from tidemark.kernels.regular_join.lifetimes import PARTNERS, JoinInput, Present
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs

GONE = "_tm_gone"  # whether this version of a stored row marks it as removed


@dataclass(frozen=True, slots=True)
class StoredSide:
    """A side with its table in the state. If it `counts`, its stored rows have the number of
    their matches. Rows expire if nothing was written about them for `ttl` milliseconds.
    """

    name: str
    input: JoinInput
    counts: bool
    ttl: int | None
    compaction: Compaction = field(default_factory=Compaction)

    def present(self, state: State, rows: pl.DataFrame, others: pl.DataFrame, now: int) -> Present:
        """The arriving `rows`, and all rows on this side that are relevant to them or to the
        `others`.
        """
        asking = [longs(others, HASH)]
        if self.input.unique:
            asking.append(longs(rows, HASH))
        elif self.input.retracts:
            asking.append(longs(rows, HASH)[~accumulates(kinds_of(rows))])
        stored = self.stored(state, rows, distinct(np.concatenate(asking)), now)
        return Present.of(self.input, stored, rows)

    def stored(self, state: State, rows: pl.DataFrame, hashes: Longs, now: int) -> pl.DataFrame:
        """The stored rows with some hashes (ascending, distinct)."""
        found = self._table(state, now).probe(hashes, self._like(rows))
        return self._standing(found, now).drop(GONE, strict=False)

    def _table(self, state: State, now: int) -> KeyedTable:
        """The table without segments that have expired completely."""
        table = state.keyed(self.name)
        return table if self.ttl is None else table.without_before(now - self.ttl + 1)

    def _like(self, rows: pl.DataFrame) -> pl.DataFrame:
        """An empty frame with the columns of the table."""
        marks = [pl.lit(0, pl.Int64).alias(PARTNERS)] * self.counts
        marks += [pl.lit(False).alias(GONE)] * self.input.ends
        time = pl.lit(0, pl.Int64).alias(TIME)
        return rows.clear().drop(KIND, strict=False).with_columns(time, *marks)

    def _standing(self, versions: pl.DataFrame, now: int, *, dead: bool = False) -> pl.DataFrame:
        """The newest version of each row, which comes last; including `dead` ones if requested."""
        if self.counts or self.input.ends:
            versions = _newest(versions)
        if self.input.ends and not dead:
            versions = versions.filter(~pl.col(GONE))
        return versions if self.ttl is None else versions.filter(pl.col(TIME) > now - self.ttl)

    def write(
        self, state: State, present: Present, partners: Longs | None, touched: Flags, now: int
    ) -> State:
        """The state with the rows that have arrived, were `touched` or are removed; `partners`
        is the current number of matches of each.
        """
        lives, alive = present.lives, present.died == AFTER_ALL
        if partners is not None:
            lives = lives.with_columns(pl.Series(PARTNERS, partners))
        time = pl.lit(now, pl.Int64).alias(TIME)
        written = lives.filter((present.is_new | touched) & alive).with_columns(time)
        if self.input.ends:
            gone = lives.filter(~present.is_new & ~alive).select(HASH, SEQUENCE, time)
            blank = lives.clear(gone.height).with_columns(*gone.get_columns())
            marked = pl.lit(False).alias(GONE), pl.lit(True).alias(GONE)
            written = pl.concat([written.with_columns(marked[0]), blank.with_columns(marked[1])])
        table = self._table(state, now).append(
            written,
            self.compaction,
            lambda rows, oldest: self._standing(rows, now, dead=not oldest),
        )
        return state.with_tables(**{self.name: table})


def _newest(versions: pl.DataFrame) -> pl.DataFrame:
    """The last version of each row, in their order. (Polars hashes them, several times slower.)"""
    sequence = longs(versions, SEQUENCE)
    order = stable_order(sequence)
    is_last = np.ones(order.size, dtype=bool)
    is_last[:-1] = sequence[order[1:]] != sequence[order[:-1]]
    return versions if is_last.all() else versions[np.sort(order[is_last])]
