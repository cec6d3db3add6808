"""Keep-first deduplication: the first row of each key, which is never retracted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, distinct, earliest, longs
from tidemark.kernels.windows.incoming import Incoming

_FIRST: Final = "_tm_first"  # the time of a key's first row; in its records TIME is processing time


@dataclass(frozen=True, slots=True)
class KeepFirstKernel:
    """Emit the earliest row of a key when the watermark reaches it; among equals, the first to
    arrive. An earlier row that is not late replaces one that waits, and rows behind the
    watermark are late: so nothing is earlier than an emitted row.

    With `processing_time`, the first row is the first to arrive, and is emitted at once. With
    `ttl`, a key expires this many milliseconds after its record was last written; its next row is a
    first row again. With `stamps`, rows are emitted with the watermark before them in SEEN; in
    processing time, they bring it along.
    """

    keys: tuple[str, ...]
    processing_time: bool = False
    ttl: int | None = None
    stamps: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = Incoming.of(state, inputs[0], watermark, processing_time)
        is_late = self._is_late(incoming.rows)
        rows, late = incoming.rows.filter(~is_late).drop(STAMP), inputs[0].filter(is_late)
        firsts = self._firsts(state, rows, processing_time)
        records = self._table(state, processing_time).append(
            self._records(firsts, processing_time),
            self.compaction,
            lambda found, _: self._standing(found, processing_time),
        )
        state = state.with_tables(first=records)
        if not self.processing_time:
            firsts, state = self._due(state, firsts, incoming, processing_time)
        state = replace(state, watermark=incoming.watermark, sequence=incoming.end)
        waiting, output = state.queue("waiting"), user_columns(firsts)
        came = (inputs[0].height,)
        metrics = Metrics.of(state, came, (late.height,), output.height, waiting.height)
        return Step(state, output, metrics, earliest(waiting.next), late=(late.drop(HASH),))

    def _is_late(self, rows: pl.DataFrame) -> pl.Series:
        if self.processing_time:
            return pl.Series([False]).new_from_index(0, rows.height)
        return rows.select((pl.col(TIME) < pl.col(STAMP)).alias("late")).to_series()

    # --- the first rows -----------------------------------------------------------------------

    def _firsts(self, state: State, rows: pl.DataFrame, now: int) -> pl.DataFrame:
        """The rows that are earlier than all earlier rows of their key."""
        fresh = self._records(rows, now)
        known = self._known(state, rows, now)
        both = pl.concat([known, fresh])
        _, [key] = Keys.numbering(self.keys, both)
        order = stable_order_by(longs(both, _FIRST), longs(both, SEQUENCE))[::-1]
        first = np.empty(int(key.max(initial=-1)) + 1, dtype=np.int64)
        # Of several values for an element, numpy assigns the last one.
        first[key[order]] = order
        return rows[np.sort(first[first >= known.height]) - known.height]

    def _due(
        self, state: State, firsts: pl.DataFrame, incoming: Incoming, now: int
    ) -> tuple[pl.DataFrame, State]:
        """The first rows whose time the watermark has reached, and the state without them."""
        waiting = state.queue("waiting").push(firsts, TIME, self.compaction)
        due, waiting = waiting.take(incoming.watermark, TIME, firsts.clear())
        # A row that was replaced by an earlier one is no longer in its key's record.
        records = self._known(state, due, now)
        due = due.filter(pl.col(SEQUENCE).is_in(records[SEQUENCE].implode()))
        if self.stamps:
            due = due.with_columns(incoming.before_firing(due))
        return due.sort(TIME, SEQUENCE), state.with_tables(waiting=waiting)

    # --- records ------------------------------------------------------------------------------

    def _records(self, rows: pl.DataFrame, now: int) -> pl.DataFrame:
        """The state of rows: the key, the time, the position in the sequence."""
        time = pl.lit(0, pl.Int64) if self.processing_time else pl.col(TIME)
        written = pl.lit(now, pl.Int64).alias(TIME)
        return rows.select(HASH, *self.keys, SEQUENCE, time.alias(_FIRST), written)

    def _known(self, state: State, rows: pl.DataFrame, now: int) -> pl.DataFrame:
        """The records of the rows' keys, and possibly of others."""
        hashes = distinct(longs(rows, HASH))
        found = self._table(state, now).probe(hashes, self._records(rows.clear(), now))
        return self._standing(found, now)

    def _table(self, state: State, now: int) -> KeyedTable:
        """The table without segments that have expired completely."""
        table = state.keyed("first")
        return table if self.ttl is None else table.without_before(now - self.ttl + 1)

    def _standing(self, records: pl.DataFrame, now: int) -> pl.DataFrame:
        """The newest record of each key, unless it has expired."""
        newest = last_of_each(records, self.keys)
        return newest if self.ttl is None else newest.filter(pl.col(TIME) > now - self.ttl)
