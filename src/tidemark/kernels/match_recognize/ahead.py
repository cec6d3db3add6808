"""Looks ahead: a row is matched when the rows after it are known.

Rows come here in their order. One waits until enough rows of its key have come after it, or until
the input ends. Then it has the values of these rows in columns of its own, so that everything else
reads them like its other columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

IS_LAST: Final = "_tm_is_last"  # whether the row is the last one of its key
KNOWN: Final = "_tm_known"  # when the rows after it were known: the time of the last of them
_WRITE: Final = "_tm_write"


def next_name(column: str, ahead: int) -> str:
    """The column with the value of a row that comes some rows later."""
    return f"_tm_next{ahead}_{column}"


@dataclass(frozen=True, slots=True)
class LookingAhead:
    """Rows wait for as many `rows` of their key; `values` are the columns to look at, and how many
    rows ahead. All rows of a key that wait are written anew when it gets another one.
    """

    keys: tuple[str, ...]
    rows: int
    values: tuple[tuple[str, int], ...]
    compaction: Compaction = field(default_factory=Compaction)

    def released(self, state: State, due: pl.DataFrame, ends: bool) -> tuple[pl.DataFrame, State]:
        """The rows that can be matched, those of a key in their order, and the state with those
        that wait. If the input `ends`, none waits.
        """
        table, like = state.keyed("ahead"), due.clear().with_columns(_write(0))
        touched = [longs(due, HASH)]
        if ends:
            touched += [longs(segment.rows(), HASH) for segment in table.segments]
        lines = table.probe(distinct(np.concatenate(touched)), like)
        if ends:
            state = state.with_tables(ahead=type(table)())
        waited = self._newest(lines).drop(_WRITE)
        rows = self._with_values(pl.concat([waited, due]), ends)
        left = pl.len().over(self._by_key) - 1 - pl.int_range(pl.len()).over(self._by_key)
        waits = rows.select((left < self.rows) & (not ends)).to_series()
        write = int(longs(lines, _WRITE).max(initial=0)) + 1
        waiting = rows.filter(waits).select(due.columns).with_columns(_write(write))
        held = state.keyed("ahead").append(waiting, self.compaction, lambda r, _: self._newest(r))
        return rows.filter(~waits), state.with_tables(ahead=held)

    @property
    def _by_key(self) -> Sequence[str]:
        return [HASH, *self.keys]

    def _newest(self, lines: pl.DataFrame) -> pl.DataFrame:
        return lines.filter(pl.col(_WRITE) == pl.col(_WRITE).max().over(self._by_key))

    def _with_values(self, rows: pl.DataFrame, ends: bool) -> pl.DataFrame:
        columns = [
            pl.col(column).shift(-ahead).over(self._by_key).alias(next_name(column, ahead))
            for column, ahead in self.values
        ]
        known = pl.col(TIME).shift(-self.rows).over(self._by_key)
        last = pl.col(TIME).last().over(self._by_key)
        place = pl.int_range(pl.len()).over(self._by_key)
        is_last = place == pl.len().over(self._by_key) - 1
        return rows.with_columns(
            *columns,
            known.fill_null(last).cast(pl.Int64).alias(KNOWN),
            (is_last & ends).alias(IS_LAST),
        )


def _write(number: int) -> pl.Expr:
    return pl.lit(number, pl.Int64).alias(_WRITE)


def known_times(rows: pl.DataFrame) -> Longs:
    """When each row could be matched."""
    return longs(rows, KNOWN if KNOWN in rows.columns else TIME)
