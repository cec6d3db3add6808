"""Count windows: a number of rows of a key, whatever their times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs, run_starts
from tidemark.kernels.windows.incoming import Incoming, Outcome, results
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.panes import LAST, PANE, Panes, panes_of
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Sliding
from tidemark.kernels.windows.versions import VERSION, are_newest, newest

_COUNT: Final = "_tm_count"  # Int64; how many rows of the key there were
_NOW: Final = "_tm_now"  # Int64; how many there are
_KEY: Final = "_tm_key"


@dataclass(frozen=True, slots=True)
class CountWindows:
    """Emits a window when its last row has arrived: `size` rows, from every `slide`-th on.

    The position of a row among those of its key is its time here, and their number is the key's
    watermark. State is each key's count and open panes, rewritten with its rows.
    """

    keys: tuple[str, ...]
    size: int
    slide: int
    aggregates: Aggregates
    compaction: Compaction

    def step(self, state: State, incoming: Incoming) -> Outcome:
        fresh = self.aggregates.lifted(incoming.rows, [HASH, *self.keys, SEQUENCE])
        stored = self._stored(state, fresh)
        key = key_numbers(pl.concat([stored, fresh], how="diagonal"), self.keys)
        key_of_stored, key = key[: stored.height], key[stored.height :]
        current = are_newest(key_of_stored, longs(stored, VERSION))
        counts = np.zeros(stored.height + fresh.height, dtype=np.int64)
        counts[key_of_stored[current]] = longs(stored, _COUNT)[current]
        order, place = _places(key, counts)

        known = stored.with_columns(pl.Series(_KEY, key_of_stored)).filter(pl.Series(current))
        placed = fresh.with_columns(pl.Series(_KEY, key), pl.Series(TIME, place))
        counted = pl.DataFrame(
            {_COUNT: counts, _NOW: counts + np.bincount(key, minlength=len(counts))}
        )
        parts = self._parts(known, placed, counted)
        windows = self._windows(parts)
        # Rows by key and arrival: the last row of each window is at its position there.
        of_key = np.searchsorted(key[order], longs(windows, _KEY))
        last = of_key + longs(windows, WINDOW_END) - 1 - longs(windows, _COUNT)
        sequence = pl.Series(SEQUENCE, longs(fresh, SEQUENCE)[order][last], pl.Int64)
        table = state.keyed("counts").append(
            self._records(parts, placed, counted, incoming),
            self.compaction,
            lambda rows, _: newest(rows, self.keys),
        )
        return Outcome(
            {"counts": table},
            self._emitted(windows.with_columns(sequence)),
            incoming.rows.clear(),
            waiting=table.height,
        )

    @property
    def _panes(self) -> Panes:
        return panes_of(Sliding(self.size, self.slide))

    def _stored(self, state: State, fresh: pl.DataFrame) -> pl.DataFrame:
        numbers = (pl.lit(None, pl.Int64).alias(name) for name in (PANE, _COUNT, VERSION))
        like = fresh.clear().drop(SEQUENCE).with_columns(numbers)
        return state.keyed("counts").probe(distinct(longs(fresh, HASH)), like)

    def _parts(
        self, known: pl.DataFrame, placed: pl.DataFrame, counted: pl.DataFrame
    ) -> pl.DataFrame:
        """The panes of all keys that have rows, with the keys' counts before and after."""
        columns = [_KEY, HASH, *self.keys, PANE, *self.aggregates.names]
        open_ = known.filter(
            pl.col(PANE).is_not_null() & pl.col(_KEY).is_in(placed[_KEY].implode())
        )
        both = [open_.select(columns), self._panes.of_rows(placed).select(columns)]
        parts = self.aggregates.merged(pl.concat(both), [_KEY, PANE], (HASH, *self.keys))
        return parts.hstack(counted[longs(parts, _KEY)]).with_columns(self._panes.last.alias(LAST))

    def _windows(self, parts: pl.DataFrame) -> pl.DataFrame:
        """The windows whose last row is among the new ones, with everything that is in them."""
        spread = self._panes.in_windows(parts)
        end = pl.col(WINDOW_END)
        closing = spread.filter((end > pl.col(_COUNT)) & (end <= pl.col(_NOW)) & (end >= self.size))
        return self.aggregates.merged(closing, [_KEY, WINDOW_END], (*self.keys, _COUNT))

    def _emitted(self, windows: pl.DataFrame) -> pl.DataFrame:
        """Results in the order in which windows became full; they have no event time."""
        full = windows.sort(SEQUENCE).with_columns(
            pl.lit(None, pl.Int64).alias(name) for name in (WINDOW_START, WINDOW_END)
        )
        return results(full, self.keys, self.aggregates)

    def _records(
        self,
        parts: pl.DataFrame,
        placed: pl.DataFrame,
        counted: pl.DataFrame,
        incoming: Incoming,
    ) -> pl.DataFrame:
        """The new state: each key's count and the panes still needed."""
        keys = placed.unique(_KEY, maintain_order=True).select(_KEY, HASH, *self.keys)
        keys = keys.hstack(counted[longs(keys, _KEY)])
        needed = parts.filter(pl.col(LAST) > pl.col(_NOW))
        return pl.concat([needed, keys], how="diagonal").select(
            *(HASH, *self.keys, *self.aggregates.names, PANE),
            pl.col(_NOW).alias(_COUNT),
            pl.lit(incoming.end, pl.Int64).alias(VERSION),
        )


def _places(key: Longs, counts: Longs) -> tuple[Longs, Longs]:
    """The order of rows by key and arrival, and per row its position among all of its key."""
    order = stable_order(key)
    sorted_ = key[order]
    place = np.empty_like(key)
    place[order] = np.arange(len(key)) - run_starts(sorted_) + counts[sorted_]
    return order, place
