"""Keep-last deduplication: the newest row of each key, as a changelog or once at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

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
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs
from tidemark.kernels.windows.incoming import Incoming

_EVENT: Final = "_tm_event"  # the time of a row; in records that expire, TIME is processing time


@dataclass(frozen=True, slots=True)
class KeepLastKernel:
    """Emit a key's row when it arrives, unless a newer one of the key came before it.

    Among equals, the last to arrive wins. The first row of a key is an insert, each later one an
    update with the row it replaces. No row is too late: there is nothing to wait for. With
    `ttl`, a key expires this many milliseconds after its newest row was written; its next row is a
    first row again. With `stamps`, changes have the watermark before the row that arrives in SEEN.
    With `upserts`, updates come without the rows that they replace.
    """

    keys: tuple[str, ...]
    stamps: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    ttl: int | None = None
    upserts: bool = False

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = Incoming.of(state, inputs[0], watermark, processing_time)
        rows = incoming.rows.drop(STAMP)
        state = self._with_times(state, rows.clear(), processing_time)
        stored = self._stored(state, rows, processing_time)
        history, key = self._by_key(pl.concat([stored, rows]))
        kept, previous = _newest_so_far(history, key)
        fresh = kept[longs(history, SEQUENCE)[kept] >= state.sequence]
        changes = _upserts if self.upserts else _updates
        output, cause = changes(history, fresh, previous[fresh])
        if self.stamps:
            output = output.with_columns(incoming.before_causes(cause))
        newest = history[fresh[_lasts(key[fresh])]]
        state = replace(
            self._written(state, newest, processing_time),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        metrics = Metrics.of(state, (rows.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    # --- state -----------------------------------------------------------------------------------

    @property
    def _table(self) -> str:
        return "latest" if self.ttl is None else "expiring"

    def _stored(self, state: State, rows: pl.DataFrame, now: int) -> pl.DataFrame:
        """The rows of the keys that arrive, and possibly of others, unless they have expired."""
        hashes = distinct(longs(rows, HASH))
        if self.ttl is None:
            return state.keyed(self._table).probe(hashes, rows.clear())
        table = state.keyed(self._table).without_before(now - self.ttl + 1)
        found = self._standing(table.probe(hashes, _record(rows.clear(), now)), now)
        return found.with_columns(pl.col(_EVENT).alias(TIME)).drop(_EVENT).select(rows.columns)

    def _written(self, state: State, rows: pl.DataFrame, now: int) -> State:
        """The state with newer rows."""
        table = state.keyed(self._table)
        if self.ttl is not None:
            rows, table = _record(rows, now), table.without_before(now - self.ttl + 1)
        table = table.append(rows, self.compaction, lambda found, _: self._last(found, now))
        return state.with_tables(**{self._table: table})

    def _with_times(self, state: State, like: pl.DataFrame, now: int) -> State:
        """The state in which rows without a time to expire are written now: they come from
        checkpoints of earlier versions, in which keys never expired.
        """
        if self.ttl is None or not state.keyed("latest").segments:
            return state
        old = pl.concat([like, *(segment.rows() for segment in state.keyed("latest").segments)])
        state = self._written(state, self._last(old, None), now)
        return state.with_tables(latest=KeyedTable())

    def _standing(self, records: pl.DataFrame, now: int) -> pl.DataFrame:
        return records if self.ttl is None else records.filter(pl.col(TIME) > now - self.ttl)

    def _by_key(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, Longs]:
        """The rows by key and arrival, and the numbers of their keys."""
        _, [number] = Keys.numbering(self.keys, rows)
        order = stable_order_by(number, longs(rows, SEQUENCE))
        return rows[order], number[order]

    def _last(self, rows: pl.DataFrame, now: int | None) -> pl.DataFrame:
        """The last row of each key to arrive, unless it has expired."""
        ordered, key = self._by_key(rows if now is None else self._standing(rows, now))
        return ordered[_lasts(key)]


def _record(rows: pl.DataFrame, now: int) -> pl.DataFrame:
    """The state of rows whose keys expire: with the processing time at which they are written."""
    written = pl.lit(now, pl.Int64).alias(TIME)
    return rows.with_columns(pl.col(TIME).alias(_EVENT)).with_columns(written)


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


def _upserts(history: pl.DataFrame, fresh: Longs, previous: Longs) -> tuple[pl.DataFrame, Longs]:
    """What `_updates` returns, without the rows that are replaced."""
    cause = longs(history, SEQUENCE)[fresh]
    order = stable_order(cause)
    kinds = np.where(previous[order] >= 0, AFTER, INSERT)
    return user_columns(history[fresh[order]]).with_columns(kind_column(kinds)), cause[order]


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
