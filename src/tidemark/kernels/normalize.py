"""Upserts by a key as a changelog with whole rows: Flink's ChangelogNormalize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.columns import ACCUMULATE, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys, equal_rows, last_of_each
from tidemark.kernels.kinds import AFTER, BEFORE, DELETE, INSERT, kind_column
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Flags
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, longs
from tidemark.kernels.windows.incoming import Incoming


@dataclass(frozen=True, slots=True)
class NormalizeKernel:
    """Keep the row of each key. The first one is an insert, a later one an update with the row it
    replaces, and a delete retracts the row that is kept, because it may itself have nothing but the
    key. Rows before updates are not needed, and ignored. What would change nothing is dropped: a
    delete of a key without a row, and a row that is equal to the one that is kept in the columns
    `compared`. With a column `condition`, which is not emitted, a row for which that is not true is
    a delete.

    With `ttl`, a row silently expires this many milliseconds after it was written. Equal rows are
    then emitted too, so that they renew the state of operators that follow. With `stamps`, changes
    have the watermark before the row that arrives in SEEN.
    """

    keys: tuple[str, ...]
    compared: tuple[str, ...]
    ttl: int | None = None
    condition: str | None = None
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
        numbered = incoming.rows.drop(STAMP)
        written = pl.lit(processing_time, pl.Int64).alias(TIME)
        changes = numbered.filter(pl.col(KIND) != "-U")
        rows = self._tested(changes).with_columns(written)
        keys = Keys.of(self.keys, rows)
        kept = self._table(state, processing_time)
        stored = self._standing(kept.probe(keys.hashes, rows.clear()), processing_time)
        history = self._history(pl.concat([stored, rows]), keys, state.sequence)
        output, cause = history.output()
        if self.stamps:
            output = output.with_columns(incoming.before_causes(cause))
        kept = kept.append(
            history.records(),
            self.compaction,
            lambda found, oldest: self._settled(found, processing_time, oldest=oldest),
        )
        state = replace(
            state.with_tables(rows=kept),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        metrics = Metrics.of(state, (numbered.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    def _tested(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows, of which those that do not pass the condition are deletes."""
        if self.condition is None:
            return rows
        passes = pl.col(self.condition).fill_null(False)
        kind = pl.when(passes).then(KIND).otherwise(pl.lit("-D")).alias(KIND)
        return rows.with_columns(kind).drop(self.condition)

    def _history(self, rows: pl.DataFrame, keys: Keys, since: int) -> _History:
        """The rows of the keys, in the order in which they arrived for each."""
        key, sequence = keys.number(rows, keys.names), longs(rows, SEQUENCE)
        known = np.flatnonzero(key >= 0)
        order = known[stable_order_by(key[known], sequence[known])]
        compared = () if self.ttl is not None else self.compared
        return _History.of(rows[order], key[order], since, compared)

    # --- state --------------------------------------------------------------------------------

    def _table(self, state: State, now: int) -> KeyedTable:
        """The table without segments that have expired completely."""
        table = state.keyed("rows")
        return table if self.ttl is None else table.without_before(now - self.ttl + 1)

    def _standing(self, records: pl.DataFrame, now: int) -> pl.DataFrame:
        """The row of each key that has one."""
        return self._settled(records, now, oldest=True)

    def _settled(self, records: pl.DataFrame, now: int, *, oldest: bool) -> pl.DataFrame:
        """The newest record of each key. One that says that there is no row any more is only needed
        if there are older ones.
        """
        newest = last_of_each(records, self.keys)
        if oldest:
            newest = newest.filter(pl.col(KIND).is_in(ACCUMULATE))
        return newest if self.ttl is None else newest.filter(pl.col(TIME) > now - self.ttl)


@dataclass(frozen=True, slots=True)
class _History:
    """Rows by key and arrival: first the stored one, if there is one, then those that arrive, which
    are `fresh`. Each is a row or a delete; it changes something if it `inserts`, `updates` or
    `deletes`. `previous` is the position of the row of its key before it, or of some other row.
    """

    rows: pl.DataFrame
    fresh: Flags
    is_last: Flags
    was_stored: Flags  # whether the key had a row before the step
    inserts: Flags
    updates: Flags
    deletes: Flags
    previous: Longs

    @classmethod
    def of(cls, rows: pl.DataFrame, key: Longs, since: int, compared: Sequence[str]) -> _History:
        """Updates are dropped if they are equal in the columns `compared`, if there are any."""
        fresh = longs(rows, SEQUENCE) >= since
        exists = rows[KIND].is_in(ACCUMULATE).to_numpy()
        follows = np.zeros(key.size, dtype=bool)
        follows[1:] = key[1:] == key[:-1]
        existed = np.zeros(key.size, dtype=bool)
        existed[1:] = follows[1:] & exists[:-1]
        updates = exists & existed
        if compared:
            places = np.flatnonzero(updates)
            updates[places] = ~equal_rows(rows, places, places - 1, compared)
        inserts = exists & ~existed
        changed = np.where(inserts | updates, np.arange(key.size), -1)
        previous = np.full(key.size, -1, dtype=np.int64)
        previous[1:] = np.maximum.accumulate(changed)[:-1]
        first = np.flatnonzero(~follows)
        was_stored = np.repeat(~fresh[first], np.diff(np.append(first, key.size)))
        is_last = np.append(~follows[1:], True)[: key.size]
        deletes = ~exists & existed
        return cls(rows, fresh, is_last, was_stored, inserts, updates, deletes, previous)

    def output(self) -> tuple[pl.DataFrame, Longs]:
        """The changes in the order of arrival, the old row of an update just before the new one;
        and the position in the sequence of the row that causes each."""
        inserted, updated, deleted = (
            np.flatnonzero(self.fresh & flags)
            for flags in (self.inserts, self.updates, self.deletes)
        )
        position = np.concatenate(
            [inserted, self.previous[updated], updated, self.previous[deleted]]
        )
        causes = np.concatenate([inserted, updated, updated, deleted])
        sizes = (inserted.size, updated.size, updated.size, deleted.size)
        kinds = np.repeat([INSERT, BEFORE, AFTER, DELETE], sizes)
        cause = longs(self.rows, SEQUENCE)[causes]
        order = stable_order(cause)
        rows = user_columns(self.rows[position[order]])
        return rows.with_columns(kind_column(kinds[order])), cause[order]

    def records(self) -> pl.DataFrame:
        """What must be written: of each key that has changed the row that is left, or that there is
        none any more.
        """
        changed = self.inserts | self.updates
        # An equal row at the end has not replaced the one before it.
        newest = np.where(changed, np.arange(changed.size), self.previous)[self.is_last]
        exists = self.rows[KIND].is_in(ACCUMULATE).to_numpy()
        left = newest[exists[self.is_last]]
        gone = np.flatnonzero(self.is_last & ~exists & self.was_stored)
        return self.rows[np.sort(np.concatenate([left[self.fresh[left]], gone]))]
