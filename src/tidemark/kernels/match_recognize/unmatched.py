"""Rows that are of no match.

What a row is of is known when the search has passed it: no attempt from it or from an earlier row
is open, and no match from there waits. Then it is of matches that have been emitted, or of none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.keys import last_of_each
from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

_PASSED: Final = "_tm_passed"  # the number of the first row of a key that was not passed
_COVERED: Final = "_tm_covered"  # that of its last row in an emitted match


@dataclass(frozen=True, slots=True)
class PassedRows:
    """Finds the rows that are passed without a match. It keeps two numbers for each key."""

    keys: tuple[str, ...]
    compaction: Compaction = field(default_factory=Compaction)

    def unmatched(
        self,
        state: State,
        keys: pl.DataFrame,
        key: Longs,
        number: Longs,
        emitted: Attempts,
        undecided: Longs,
    ) -> tuple[Longs, State]:
        """The positions of unmatched rows that are passed now. `key` and `number` are those of the
        rows, `undecided` the first rows of open attempts and of matches that wait.
        """
        before = self._known(state, keys)
        end = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(end, key, np.arange(key.size) + 1)
        upto = end.copy()
        np.minimum.at(upto, key[undecided], undecided)
        passed = (number >= before[_PASSED][key]) & (np.arange(key.size) < upto[key])
        covered = _covered(emitted, key.size) | (number <= before[_COVERED][key])
        found = np.flatnonzero(passed & ~covered)
        after = {name: values.copy() for name, values in before.items()}
        some = np.flatnonzero(end)
        ended = upto[some] == end[some]
        first = number[np.minimum(upto[some], key.size - 1)]
        after[_PASSED][some] = np.where(ended, number[end[some] - 1] + 1, first)
        last = np.maximum(emitted.next - 1, emitted.start)
        np.maximum.at(after[_COVERED], key[emitted.start], number[last])
        return found, self._noted(state, keys, after)

    def _known(self, state: State, keys: pl.DataFrame) -> dict[str, Longs]:
        by = [HASH, *self.keys]
        zero = pl.lit(0, pl.Int64)
        like = keys.select(by).clear().with_columns(zero.alias(_PASSED), zero.alias(_COVERED))
        lines = state.keyed("passed").probe(distinct(longs(keys, HASH)), like)
        known = keys.select(by).join(
            self._newest(lines), on=by, how="left", nulls_equal=True, maintain_order="left"
        )
        known = known.with_columns(pl.col(_PASSED, _COVERED).fill_null(-1))
        return {name: longs(known, name).copy() for name in (_PASSED, _COVERED)}

    def _noted(self, state: State, keys: pl.DataFrame, numbers: dict[str, Longs]) -> State:
        columns = (pl.Series(name, values, pl.Int64) for name, values in numbers.items())
        lines = keys.select(HASH, *self.keys).with_columns(*columns)
        table = state.keyed("passed").append(
            lines, self.compaction, lambda rows, _: self._newest(rows)
        )
        return state.with_tables(passed=table)

    def _newest(self, lines: pl.DataFrame) -> pl.DataFrame:
        return last_of_each(lines, self.keys)


def _covered(emitted: Attempts, height: int) -> Flags:
    """Which rows are of a match; an empty one is that of its first row."""
    change = np.zeros(height + 1, dtype=np.int64)
    np.add.at(change, emitted.start, 1)
    np.add.at(change, np.maximum(emitted.next, emitted.start + 1), -1)
    covered: Flags = np.cumsum(change)[:-1] > 0
    return covered
