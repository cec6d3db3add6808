"""What is kept of keys between steps: open attempts, matches that wait, and their rows.

Each step writes the attempts of the keys it touches anew; the newest ones of a key count, and a
key without any has a mark that says so. Rows are written once, and are needed from the first row of
their key's first attempt on. A row is known by its number: rows are numbered as they are processed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.kernels.match_recognize.automaton import FINAL
from tidemark.kernels.match_recognize.sequences import Attempts
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

NUMBER: Final = "_tm_number"  # of a row, in the order of processing
_START: Final = "_tm_start"  # the number of an attempt's first row
_STATE: Final = "_tm_state"
_WRITE: Final = "_tm_write"
_NOTHING: Final = -1  # the state of a key without attempts


@dataclass(frozen=True, slots=True)
class Kept:
    """The attempts and rows of some keys. `attempts` has a line for each attempt with its key, the
    number of its first row, its state (FINAL for a match that waits) and its rows per variable.
    """

    attempts: pl.DataFrame
    rows: pl.DataFrame

    def waits(self) -> pl.Series:
        return self.attempts[_STATE] == FINAL


@dataclass(frozen=True, slots=True)
class Keeping:
    """Reads and writes what is kept. Attempts expire `within_ms` after their first row."""

    keys: tuple[str, ...]
    variables: int
    within_ms: int | None
    compaction: Compaction = field(default_factory=Compaction)

    @property
    def _by_key(self) -> list[str]:
        return [HASH, *self.keys]

    @property
    def _counts(self) -> list[str]:
        return [f"_tm_count{place}" for place in range(self.variables)]

    # --- reading --------------------------------------------------------------------------------

    def read(self, state: State, hashes: Longs, like: pl.DataFrame) -> Kept:
        """What is kept of the keys with these hashes. `like` is an empty frame with rows'
        columns.
        """
        attempts = self._newest(state.keyed("attempts").probe(hashes, self._empty(like)))
        rows = state.keyed("rows").probe(hashes, like)
        return Kept(attempts, self._needed(rows, attempts))

    def attempts_of(self, kept: pl.DataFrame, position: Longs) -> Attempts:
        """Attempts whose first rows are at these positions."""
        counts = kept.select(self._counts).to_numpy().astype(np.int64, copy=False)
        return Attempts(position, longs(kept, _STATE), counts.reshape(-1, self.variables))

    def _newest(self, attempts: pl.DataFrame) -> pl.DataFrame:
        newest = pl.col(_WRITE) == pl.col(_WRITE).max().over(self._by_key)
        return attempts.filter(newest)

    def _needed(self, rows: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
        """The rows from the first one of their key's first attempt on."""
        real = attempts.filter(pl.col(_STATE) != _NOTHING)
        first = real.group_by(self._by_key).agg(pl.col(_START).min())
        joined = rows.join(
            first, on=self._by_key, how="inner", nulls_equal=True, maintain_order="left"
        )
        return joined.filter(pl.col(NUMBER) >= pl.col(_START)).drop(_START)

    def _empty(self, like: pl.DataFrame) -> pl.DataFrame:
        numbers = [TIME, _WRITE, _START, _STATE, *self._counts]
        return like.select(self._by_key).with_columns(
            pl.lit(None, pl.Int64).alias(name) for name in numbers
        )

    # --- writing --------------------------------------------------------------------------------

    def write(
        self,
        state: State,
        before: Kept,
        keys: pl.DataFrame,
        attempts: Attempts,
        first: pl.Series,
        key: Longs,
        new_rows: pl.DataFrame,
        watermark: int,
    ) -> State:
        """`keys` are those that were touched, with the time of their last rows; `key` and `first`
        are, for each attempt, the place of its key there and the number of its first row.
        `new_rows` are the rows that have been processed.
        """
        left = self._lines(keys, attempts, first, key)
        nothing = self._lines_of_nothing(keys, key, before)
        writes = before.attempts.group_by(self._by_key).agg(pl.col(_WRITE).max() + 1)
        lines = pl.concat([left, nothing]).join(
            writes, on=self._by_key, how="left", nulls_equal=True, maintain_order="left"
        )
        lines = lines.with_columns(pl.col(_WRITE).fill_null(0))
        lines = lines.select(self._empty(new_rows.clear()).columns)
        tables = (state.keyed("attempts"), state.keyed("rows"))
        if self.within_ms is not None and watermark > BEFORE_ALL + self.within_ms:
            oldest = watermark - self.within_ms + 1
            tables = (tables[0].without_before(oldest), tables[1].without_before(oldest))
        kept = tables[0].append(lines, self.compaction, self._settled)
        like = self._empty(new_rows.clear())

        def needed(rows: pl.DataFrame, _: bool) -> pl.DataFrame:
            found = kept.probe(distinct(longs(rows, HASH)), like)
            return self._needed(rows, self._newest(found))

        rows = tables[1].append(self._needed(new_rows, left), self.compaction, needed)
        return state.with_tables(attempts=kept, rows=rows)

    def _lines(
        self, keys: pl.DataFrame, attempts: Attempts, first: pl.Series, key: Longs
    ) -> pl.DataFrame:
        counts = [
            pl.Series(name, attempts.counts[:, place], pl.Int64)
            for place, name in enumerate(self._counts)
        ]
        state = pl.Series(_STATE, attempts.state, pl.Int64)
        return keys[key].with_columns(first.cast(pl.Int64).alias(_START), state, *counts)

    def _lines_of_nothing(self, keys: pl.DataFrame, key: Longs, before: Kept) -> pl.DataFrame:
        """Marks for the keys that had attempts and have none any more."""
        without = keys[np.setdiff1d(np.arange(keys.height), key)]
        had = before.attempts.filter(pl.col(_STATE) != _NOTHING).select(self._by_key)
        ended = without.join(had, on=self._by_key, how="semi", nulls_equal=True)
        return ended.with_columns(
            pl.lit(0, pl.Int64).alias(_START),
            pl.lit(_NOTHING, pl.Int64).alias(_STATE),
            *(pl.lit(0, pl.Int64).alias(name) for name in self._counts),
        )

    def _settled(self, attempts: pl.DataFrame, oldest: bool) -> pl.DataFrame:
        newest = self._newest(attempts)
        return newest.filter(pl.col(_STATE) != _NOTHING) if oldest else newest
