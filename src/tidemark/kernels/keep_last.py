"""Keep-last deduplication: the newest row of each key, as a changelog or once at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.cuts import Cut, Nowhere
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys
from tidemark.kernels.kinds import AFTER, BEFORE, INSERT, kind_column
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import largest_so_far, stable_order, stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs
from tidemark.kernels.windows.incoming import Incoming


@dataclass(frozen=True, slots=True)
class KeepLastKernel:
    """Emit a key's row when it arrives, unless a newer one of the key came before it.

    Among equals, the last to arrive wins. The first row of a key is an insert, each later one an
    update with the row it replaces. No row is too late: there is nothing to wait for. With
    `stamps`, changes have the watermark before the row that arrives in SEEN.
    """

    keys: tuple[str, ...]
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
        rows = incoming.rows.drop(STAMP)
        stored = state.keyed("latest").probe(distinct(longs(rows, HASH)), rows.clear())
        history, key = self._by_key(pl.concat([stored, rows]))
        kept, previous = _newest_so_far(history, key)
        fresh = kept[longs(history, SEQUENCE)[kept] >= state.sequence]
        output, cause = _updates(history, fresh, previous[fresh])
        if self.stamps:
            output = output.with_columns(incoming.before_causes(cause))
        latest = state.keyed("latest").append(
            history[fresh[_lasts(key[fresh])]], self.compaction, lambda found, _: self._last(found)
        )
        state = replace(
            state.with_tables(latest=latest),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        metrics = Metrics.of(state, (rows.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    def _by_key(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, Longs]:
        """The rows by key and arrival, and the numbers of their keys."""
        _, [number] = Keys.numbering(self.keys, rows)
        order = stable_order_by(number, longs(rows, SEQUENCE))
        return rows[order], number[order]

    def _last(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The last row of each key to arrive."""
        ordered, key = self._by_key(rows)
        return ordered[_lasts(key)]


@dataclass(frozen=True, slots=True)
class KeepLastAtEndKernel:
    """Emit the newest row of each key; all rows arrive in one step. Among equals, the last to
    arrive wins.
    """

    keys: tuple[str, ...]

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [rows] = number(state, inputs)
        output = user_columns(rows[self._newest(rows)])
        watermark = max(state.watermark, watermark)
        state = replace(state, watermark=watermark, sequence=end_of(state, [rows]))
        return Step(state, output, Metrics.of(state, (rows.height,), (0,), output.height, 0))

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return Nowhere()

    def _newest(self, rows: pl.DataFrame) -> Longs:
        """The positions of the newest rows, in order of arrival; the rows are in this order."""
        keys = Keys.of(self.keys, rows)
        key = keys.number(rows, keys.names)
        order = stable_order_by(key, longs(rows, TIME), longs(rows, SEQUENCE))
        is_last = np.append(np.diff(key[order]) != 0, True)[: order.size]
        return np.sort(order[is_last])


def _newest_so_far(history: pl.DataFrame, key: Longs) -> tuple[Longs, Longs]:
    """Of rows by key and arrival, the positions of those that are the newest of their key when they
    arrive; and per row the position of the newest one before it, or -1.
    """
    time = longs(history, TIME)
    kept = time >= largest_so_far(time, key)
    # The first row of a key is the newest one until then, so none before it is found for others.
    newest = np.maximum.accumulate(np.where(kept, np.arange(key.size), -1))
    before = np.where(key == _shifted(key), _shifted(newest), -1)
    return np.flatnonzero(kept), before


def _shifted(values: Longs) -> Longs:
    """At each position the value before it, or -1."""
    return np.append(-1, values)[: values.size]


def _lasts(key: Longs) -> Longs:
    """The positions at which runs of a key end."""
    return np.flatnonzero(np.append(key[1:] != key[:-1], True)[: key.size])


def _updates(history: pl.DataFrame, fresh: Longs, previous: Longs) -> tuple[pl.DataFrame, Longs]:
    """In order of arrival, an insert per new key, and an update pair if there was a row before;
    and the position in the sequence of the row that causes each."""
    sequence = longs(history, SEQUENCE)[fresh]
    replaced = previous >= 0
    position = np.concatenate([previous[replaced], fresh])
    kinds = np.concatenate(
        [np.full(int(replaced.sum()), BEFORE), np.where(replaced, AFTER, INSERT)]
    )
    # The old row is emitted just before the one that replaces it.
    cause = np.concatenate([sequence[replaced], sequence])
    order = stable_order(cause)
    rows = user_columns(history[position[order]])
    return rows.with_columns(kind_column(kinds[order])), cause[order]
