"""What is kept of keys between steps: open attempts, matches that wait, and their rows.

Each step writes the attempts of the keys it touches anew; the newest ones of a key count, and a
key without any has a mark that says so. Rows are written once, and are needed from the first row of
their key's first attempt on; if conditions or measures look back, so are as many rows before that
one, or the last ones of the key. A row is known by its number: rows are numbered as they are
processed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH, TIME
from tidemark.kernels.match_recognize.attempts import Attempts, Noting
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

NUMBER: Final = "_tm_number"  # of a row, in the order of processing
_START: Final = "_tm_start"  # the number of an attempt's first row
_STATE: Final = "_tm_state"
_WRITE: Final = "_tm_write"
NEEDED: Final = "_tm_needed"  # the number of the first row that a key needs, if it looks back
_NOTHING: Final = -1  # the state of a key without attempts


@dataclass(frozen=True, slots=True)
class Kept:
    """The attempts and rows of some keys. `attempts` has a line for each attempt with its key, the
    number of its first row, its state (FINAL for a match that waits) and the labels of its rows.
    """

    attempts: pl.DataFrame
    rows: pl.DataFrame

    @property
    def real(self) -> pl.DataFrame:
        """The attempts without the marks of keys that have none."""
        return self.attempts.filter(pl.col(_STATE) != _NOTHING)

    @property
    def first_rows(self) -> Longs:
        """The numbers of the first rows of real attempts."""
        return longs(self.real, _START)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Reads and writes what is kept. Attempts expire `within_ms` after their first row; `back` is
    how many rows conditions or measures look back.
    """

    keys: tuple[str, ...]
    noting: Noting
    within_ms: int | None
    back: int = 0
    compaction: Compaction = field(default_factory=Compaction)

    @property
    def _by_key(self) -> list[str]:
        return [HASH, *self.keys]

    # --- reading --------------------------------------------------------------------------------

    def read(self, state: State, hashes: Longs, like: pl.DataFrame) -> Kept:
        """What is kept of the keys with these hashes. `like` is an empty frame with rows'
        columns.
        """
        attempts = self._newest(state.keyed("attempts").probe(hashes, self._empty(like)))
        rows = state.keyed("rows").probe(hashes, like)
        return Kept(attempts, self._needed(rows, attempts))

    def attempts_of(self, kept: Kept, position: Longs) -> Attempts:
        """The real attempts, whose first rows are at these positions."""
        return self.noting.read(kept.real, position, longs(kept.real, _STATE))

    def hashes(self, state: State) -> Longs:
        """The hashes of all keys that may have attempts."""
        segments = state.keyed("attempts").segments
        parts = [longs(segment.rows(), HASH) for segment in segments]
        return distinct(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))

    def _newest(self, attempts: pl.DataFrame) -> pl.DataFrame:
        newest = pl.col(_WRITE) == pl.col(_WRITE).max().over(self._by_key)
        return attempts.filter(newest)

    def _needed(self, rows: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
        """The rows from the first one that their key needs."""
        first = pl.col(NEEDED) if self.back else pl.col(_START)
        lines = attempts if self.back else attempts.filter(pl.col(_STATE) != _NOTHING)
        needed = lines.group_by(self._by_key).agg(first.min().alias(_START))
        joined = rows.join(
            needed, on=self._by_key, how="inner", nulls_equal=True, maintain_order="left"
        )
        return joined.filter(pl.col(NUMBER) >= pl.col(_START)).drop(_START)

    def _empty(self, like: pl.DataFrame) -> pl.DataFrame:
        numbers = [TIME, _WRITE, _START, _STATE, *([NEEDED] if self.back else [])]
        return like.select(self._by_key).with_columns(
            *(pl.lit(None, pl.Int64).alias(name) for name in numbers),
            *(pl.lit(None, type_).alias(name) for name, type_ in self.noting.columns.items()),
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
        """`keys` are those that were touched, with the time of their last rows and, if rows are
        looked back at, the number of the first row that is needed; `key` and `first` are, for each
        attempt, the place of its key there and the number of its first row. `new_rows` are the rows
        that have been processed.
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
        if self.within_ms is not None and not self.back and watermark > BEFORE_ALL + self.within_ms:
            oldest = watermark - self.within_ms + 1
            tables = (tables[0].without_before(oldest), tables[1].without_before(oldest))
        kept = tables[0].append(lines, self.compaction, self._settled)
        like = self._empty(new_rows.clear())

        def needed(rows: pl.DataFrame, _: bool) -> pl.DataFrame:
            found = kept.probe(distinct(longs(rows, HASH)), like)
            return self._needed(rows, self._newest(found))

        rows = tables[1].append(self._needed(new_rows, lines), self.compaction, needed)
        return state.with_tables(attempts=kept, rows=rows)

    def _lines(
        self, keys: pl.DataFrame, attempts: Attempts, first: pl.Series, key: Longs
    ) -> pl.DataFrame:
        state = pl.Series(_STATE, attempts.state, pl.Int64)
        return keys[key].with_columns(first.cast(pl.Int64).alias(_START), state, *attempts.kept())

    def _lines_of_nothing(self, keys: pl.DataFrame, key: Longs, before: Kept) -> pl.DataFrame:
        """Marks for the keys that had attempts and have none any more; for all without attempts if
        their rows are looked back at.
        """
        ended = keys[np.setdiff1d(np.arange(keys.height), key)]
        if not self.back:
            had = before.real.select(self._by_key)
            ended = ended.join(had, on=self._by_key, how="semi", nulls_equal=True)
        nothing = self.noting.beginning(np.zeros(ended.height, dtype=np.int64), _NOTHING)
        return self._lines(ended, nothing, pl.Series(nothing.start), np.arange(ended.height))

    def _settled(self, attempts: pl.DataFrame, oldest: bool) -> pl.DataFrame:
        newest = self._newest(attempts)
        settled = oldest and not self.back
        return newest.filter(pl.col(_STATE) != _NOTHING) if settled else newest
