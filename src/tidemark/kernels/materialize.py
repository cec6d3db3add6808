"""The rows of a query by the primary key of their sink: Flink's SinkUpsertMaterializer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from tidemark.errors import DataError
from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import AFTER_ALL, HASH, SEQUENCE
from tidemark.kernels.cuts import ByArrival, Cut, Nowhere
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys, equal_rows
from tidemark.kernels.kinds import AFTER, DELETE, INSERT, kind_column
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Flags
from tidemark.kernels.regular_join.lifetimes import JoinInput, Present
from tidemark.kernels.regular_join.sides import StoredSide
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

Strategy = Literal["last", "first", "only"]


@dataclass(frozen=True, slots=True)
class MaterializeKernel:
    """Emit, by key, the row that the sink should have: an insert, an update without the row before
    it, or a delete; at most one change of each key in a step, when all of its rows have arrived.

    A retraction removes the oldest row that is equal to it in all columns, wherever that is. So
    changes of a key that come in the wrong order, because their rows were in different places
    before, do no harm. What rows with the same key mean depends on the strategy:

    - `last`: all are kept, in order of arrival, and the last one counts. If it is retracted, the
      one before it does.
    - `first`: the first one counts, and the others of the step and later are dropped.
    - `only`: a second row at the end of a step is an error.

    With `ttl`, a row silently expires this many milliseconds after it was written. Errors call the
    keys `key_names`.
    """

    keys: tuple[str, ...]
    strategy: Strategy = "last"
    ttl: int | None = None
    key_names: tuple[str, ...] = ()
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [rows] = number(state, inputs)
        side = self._side
        touched = distinct(longs(rows, HASH))
        present = Present.of(side.input, side.stored(state, rows, touched, processing_time), rows)
        output = self._settled(present)
        nothing = np.zeros(present.died.size, dtype=np.bool_)
        state = replace(
            side.write(state, present, None, nothing, processing_time),
            watermark=max(state.watermark, watermark),
            sequence=end_of(state, [rows]),
        )
        metrics = Metrics.of(state, (rows.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        """Which row is the only one is known when all of them have arrived."""
        return ByArrival() if self.strategy == "last" else Nowhere()

    @property
    def _side(self) -> StoredSide:
        input_ = JoinInput(self.keys, retracts=True)
        return StoredSide("rows", input_, counts=False, ttl=self.ttl, compaction=self.compaction)

    def _settled(self, present: Present) -> pl.DataFrame:
        """The changes. Rows that are not kept are dead afterwards."""
        keys, [key, of_events] = Keys.numbering(self.keys, present.lives, present.events)
        alive = present.died == AFTER_ALL
        before = self._counting(present, key, ~present.is_new, len(keys))
        after = self._counting(present, key, alive, len(keys))
        if self.strategy != "last":
            others = alive.copy()
            others[after[after >= 0]] = False
            if self.strategy == "only":
                self._refuse(present.lives.filter(others))
            present.died[others] = present.places.max(initial=0)
        last_change = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(last_change, of_events, present.places)
        return _changes(present.lives, before, after, last_change)

    def _counting(self, present: Present, key: Longs, there: Flags, keys: int) -> Longs:
        """Per key the position of the row that counts among those that are there; -1 if none is."""
        places = np.flatnonzero(there)
        sequence = longs(present.lives, SEQUENCE)[places]
        # Of several values for an element, numpy assigns the last one.
        order = stable_order(sequence if self.strategy == "last" else -sequence)
        counting = np.full(keys, -1, dtype=np.int64)
        counting[key[places[order]]] = places[order]
        return counting

    def _refuse(self, others: pl.DataFrame) -> None:
        if others.is_empty():
            return
        values = others.sort(SEQUENCE).row(0, named=True)
        pairs = zip(self.key_names or self.keys, self.keys, strict=True)
        key = ", ".join(f"{name}={values[column]}" for name, column in pairs)
        raise DataError(
            f"ON CONFLICT DO ERROR: several rows of the query have the same primary key ({key})",
            hint="use ON CONFLICT DO NOTHING to keep the first row, or ON CONFLICT DO DEDUPLICATE "
            "for the last",
        )


def _changes(rows: pl.DataFrame, before: Longs, after: Longs, last_change: Longs) -> pl.DataFrame:
    """From the row that counted for each key to the one that counts now, in the order of the last
    changes.
    """
    rows = user_columns(rows)
    both = np.flatnonzero((before >= 0) & (after >= 0) & (before != after))
    updated = both[~equal_rows(rows, before[both], after[both], rows.columns)]
    inserted = np.flatnonzero((before < 0) & (after >= 0))
    deleted = np.flatnonzero((before >= 0) & (after < 0))
    key = np.concatenate([inserted, updated, deleted])
    position = np.concatenate([after[inserted], after[updated], before[deleted]])
    sizes = (inserted.size, updated.size, deleted.size)
    kinds = np.repeat([INSERT, AFTER, DELETE], sizes)
    order = stable_order(last_change[key])
    changed = rows[position[order]]
    return changed.with_columns(kind_column(kinds[order]))
