"""OVER in any order, as a changelog: a row changes the results of others in its partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import ACCUMULATE, HASH, KIND, SEQUENCE, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys, equal_rows
from tidemark.kernels.kinds import AFTER, BEFORE, DELETE, INSERT, kind_column
from tidemark.kernels.order import Order
from tidemark.kernels.over.spec import OverCall
from tidemark.kernels.over.whole import with_results
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import places_among, stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, longs

_ROWS = "rows"
_GONE: Final = "_tm_gone"  # Boolean; whether the record removes the row with its number
_ROW: Final = "_tm_row"  # Int64; the row's number in the sequence


@dataclass(frozen=True, slots=True)
class Within:
    """Which rows are emitted: those whose result `output` is a number from `low` to `high`. It is
    emitted itself if it is `shown`. More rows never make numbers smaller.
    """

    output: str
    low: int
    high: int
    shown: bool = True

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        wanted = rows.filter(pl.col(self.output).is_between(self.low, self.high))
        return wanted if self.shown else wanted.drop(self.output)


@dataclass(frozen=True, slots=True)
class OverUpdatingKernel:
    """Emit each row with its results, and the changes of the results of others.

    Of the changes that the rows of one step make to a row, only the last one is emitted. If rows
    are retracted (`retracts`), the oldest equal one goes. With `ttl`, a partition expires when
    none of its rows has arrived for so many milliseconds of processing time. Of `within`, only
    some rows are emitted: the first ones by a rank.

    State: all rows; if only the first ones are emitted and rows are not retracted, no more than
    those. A step reads the partitions that it changes.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    calls: tuple[OverCall, ...]
    retracts: bool = False
    ttl: int | None = None
    within: Within | None = None
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [arrived] = number(state, inputs)
        now, table = processing_time, self._unexpired(state.keyed(_ROWS), processing_time)
        before = self._recalled(table, arrived, now)
        after = self._applied(before, arrived.with_columns(pl.lit(now, pl.Int64).alias(TIME)))
        old, new = self._results(before), self._results(after)
        output = self._changes(old, new)
        after = self._needed(after, new)
        is_left = places_among(longs(after, SEQUENCE), longs(before, SEQUENCE)) >= 0
        removed = before.filter(pl.Series(~is_left))
        added = after.filter(pl.col(SEQUENCE) >= state.sequence)
        records = pl.concat(
            rows.with_columns(pl.lit(gone).alias(_GONE), pl.lit(now, pl.Int64).alias(TIME))
            for rows, gone in ((removed, True), (added, False))
        )
        table = table.append(records, self.compaction, lambda rows, _: _settled(rows))
        state = replace(
            state.with_tables(**{_ROWS: table}),
            watermark=max(state.watermark, watermark),
            sequence=end_of(state, [arrived]),
        )
        metrics = Metrics.of(state, (arrived.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    # --- the rows ---------------------------------------------------------------------------

    def _recalled(self, table: KeyedTable, arrived: pl.DataFrame, now: int) -> pl.DataFrame:
        """The rows of the arriving rows' keys, in order of arrival."""
        keys = Keys.of(self.keys, arrived)
        like = arrived.clear().drop(KIND, strict=False).with_columns(pl.lit(False).alias(_GONE))
        found = table.probe(keys.hashes, like)
        found = found.filter(pl.Series(keys.number(found, self.keys) >= 0))
        if self.ttl is not None:
            newest = pl.col(TIME).max().over(HASH, *self.keys)
            found = found.filter(newest > now - self.ttl)
        return _settled(found).filter(~pl.col(_GONE)).drop(_GONE).sort(SEQUENCE)

    def _applied(self, before: pl.DataFrame, arrived: pl.DataFrame) -> pl.DataFrame:
        """The rows after the changes: the n-th retraction of a row removes the n-th equal one."""
        if not self.retracts:
            return pl.concat([before, arrived.select(before.columns)])
        adds = pl.lit("+I").alias(KIND)
        rows = pl.concat([before.with_columns(adds), arrived.select(*before.columns, KIND)])
        rows = rows.with_columns(pl.col(KIND).is_in(ACCUMULATE).alias(_GONE))
        value = [name for name in before.columns if name not in (SEQUENCE, TIME)]
        nth = pl.int_range(pl.len()).over(*value, _GONE)
        retractions = (~pl.col(_GONE)).sum().over(value)
        left = rows.filter(pl.col(_GONE) & (nth >= retractions))
        return left.select(before.columns)

    def _unexpired(self, table: KeyedTable, now: int) -> KeyedTable:
        """The table without segments that have expired completely."""
        return table if self.ttl is None else table.without_before(now - self.ttl + 1)

    def _needed(self, rows: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
        """The rows without those that can never be among the first ones again."""
        if self.within is None or self.retracts:
            return rows
        first = results.filter(pl.col(self.within.output) <= self.within.high)
        return rows.join(first.select(pl.col(_ROW).alias(SEQUENCE)), on=SEQUENCE, how="semi")

    # --- the changes ------------------------------------------------------------------------

    def _changes(self, old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
        """What was emitted for the `old` rows, retracted where it is no longer so, and what is
        emitted for the `new` ones. What was retracted comes first, an update after its retraction.
        """
        if self.within is not None:
            old, new = self.within.of(old), self.within.of(new)
        outputs = [call.output for call in self.calls if call.output in new.columns]
        rows, earlier = longs(new, _ROW), longs(old, _ROW)
        was = places_among(earlier, rows)
        there = np.flatnonzero(was >= 0)
        both = pl.concat([old, new], rechunk=True)
        updated = there[~equal_rows(both, was[there], old.height + there, outputs)]
        updated = updated[stable_order(rows[updated])]
        fresh = np.flatnonzero(was < 0)
        fresh = fresh[stable_order(rows[fresh])]
        gone = np.flatnonzero(places_among(rows, earlier) < 0)
        pairs = np.column_stack((was[updated], old.height + updated)).ravel()
        place = np.concatenate([gone, pairs, old.height + fresh])
        kinds = [
            np.full(gone.size, DELETE),
            np.tile([BEFORE, AFTER], updated.size),
            np.full(fresh.size, INSERT),
        ]
        changes = user_columns(both[place]).drop(_ROW)
        return changes.with_columns(kind_column(np.concatenate(kinds)))

    def _results(self, rows: pl.DataFrame) -> pl.DataFrame:
        numbered = rows.with_columns(pl.col(SEQUENCE).alias(_ROW))
        return with_results(numbered, self.keys, self.order, self.calls)


def _settled(records: pl.DataFrame) -> pl.DataFrame:
    """The records without rows that are gone, and without what removed them."""
    if not records[_GONE].any():
        return records
    return records.filter(pl.len().over(SEQUENCE) == 1)
