"""The distinct values of windows, each a row of state.

A list of them would be written again whenever a value is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.aggregates.accumulators import SIGN
from tidemark.kernels.aggregates.distinct import DistinctArguments
from tidemark.kernels.aggregates.numbered import dense, group_numbers
from tidemark.kernels.columns import AFTER_ALL, HASH, SEQUENCE, TIME
from tidemark.kernels.hashing import can_hash, xxhash64
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import (
    KeyedTable,
    Longs,
    StateTable,
    distinct,
    longs,
    stable_order,
)
from tidemark.kernels.windows.events import CELL, ROLE, ROW
from tidemark.kernels.windows.spec import WINDOW_END

PLACE: Final = "_tm_place"  # Int64; where the row of an event is
BORN: Final = "_tm_born"  # Int64; the position in the sequence of a window's first row
KEY_HASH: Final = "_tm_key_hash"  # Int64; the hash of the window's key


Records = dict[str, pl.DataFrame]
# Leaves out records of windows that are gone.
OfLiving = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class WindowValues:
    """All distinct values of the windows of an operator. They are kept as long as the operator
    says with `until`, an expression over an event.
    """

    aggregates: Aggregates
    until: pl.Expr

    @property
    def needs(self) -> list[str]:
        """The columns that rows must keep."""
        distinct_ = self.aggregates.distinct
        names = [name for each in distinct_ for name in each.names]
        filters = [where for each in distinct_ for where in each.filters if where is not None]
        sign = [SIGN] if self.aggregates.retracts else []
        return list(dict.fromkeys([*names, *filters, *sign]))

    def with_changes(
        self, state: State, events: pl.DataFrame, rows: pl.DataFrame
    ) -> tuple[pl.DataFrame, Records]:
        """The events with BORN and the accumulators of changes, and the new records per table.
        Events of rows have their place in `rows`.
        """
        born = pl.coalesce(BORN, SEQUENCE).first().over(CELL)
        events = events.with_columns(born.alias(BORN))
        is_row = events[ROLE] == ROW
        mine = events.filter(is_row)
        caused = rows[longs(mine, PLACE)].select(self.needs)
        window = mine.select(
            BORN, WINDOW_END, pl.col(HASH).alias(KEY_HASH), self.until.cast(pl.Int64).alias(TIME)
        )
        records: Records = {}
        changes = []
        for values in self._tables(state):
            change, records[values.name] = values.of_rows(caused.hstack(window))
            changes.append(change)
        lifted = self.aggregates.lifted_changes(pl.concat([caused, *changes], how="horizontal"))
        place = pl.when(is_row).then(is_row.cum_sum() - 1)
        at = events.select(place.cast(pl.Int64).alias(PLACE))[PLACE]
        return events.with_columns(
            pl.when(is_row).then(lifted[name].gather(at)).otherwise(name).alias(name)
            for name in lifted.columns
        ), records

    def kept(
        self, state: State, records: Records, gone: int, living: OfLiving, compaction: Compaction
    ) -> dict[str, StateTable]:
        """The tables with new records, without those of windows that are gone."""
        return {
            values.name: values.kept(records[values.name], gone, living, compaction)
            for values in self._tables(state)
        }

    def _tables(self, state: State) -> Iterator[DistinctValues]:
        for arguments in self.aggregates.distinct:
            yield DistinctValues(arguments, state.keyed(arguments.table))


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """How often windows have each value of some arguments, per filter.

    A window is known by its first row and its end, since a row may open several. A record has a
    HASH of all that identifies it, and is kept until a TIME; the newest one counts.
    """

    arguments: DistinctArguments
    table: KeyedTable

    @property
    def name(self) -> str:
        return self.arguments.table

    def of_rows(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The changes that rows cause, in order, and the new records. Rows have the arguments,
        filters, BORN, WINDOW_END, KEY_HASH and TIME; and SIGN, if they can be retracted.
        """
        records = self._as_records(rows)
        there = pl.any_horizontal(pl.col(self._counts) != 0)
        place = np.flatnonzero(records.select(there).to_series().to_numpy())
        some = records if place.size == records.height else records[place]
        number, first = dense(group_numbers(some, self._identity))
        values = self._hashed(some[first])
        stored = self._stored(values)
        counting = _Balance.of(number) if SIGN in rows.columns else _Presence(number)
        changes, counts = {}, {}
        for change, name in zip(self.arguments.changes, self._counts, strict=True):
            of_rows, counts[name] = counting.counted(longs(some, name), stored[name])
            changes[change] = np.zeros(rows.height, dtype=np.int64)
            changes[change][place] = of_rows
        differs = np.any([counts[name] != stored[name] for name in self._counts], axis=0)
        newest = values.with_columns(pl.Series(n, c, pl.Int64) for n, c in counts.items())
        return pl.DataFrame(changes), newest.filter(pl.Series(differs))

    def kept(
        self, records: pl.DataFrame, gone: int, living: OfLiving, compaction: Compaction
    ) -> KeyedTable:
        def settle(rows: pl.DataFrame, is_all: bool) -> pl.DataFrame:
            left = living(rows.unique(self._identity, keep="last", maintain_order=True))
            # Where there may be older records, one without a count hides them.
            return left.filter(pl.any_horizontal(pl.col(self._counts) != 0)) if is_all else left

        table = self.table.without_before(min(gone, AFTER_ALL - 1) + 1)
        return table.append(records.filter(pl.col(TIME) > gone), compaction, settle)

    @property
    def _identity(self) -> list[str]:
        return [BORN, WINDOW_END, *self._values]

    @property
    def _values(self) -> list[str]:
        return [f"_tm_value({name})" for name in self.arguments.names]

    @property
    def _counts(self) -> list[str]:
        return ["_tm_count" if f is None else f"_tm_count?{f}" for f in self.arguments.filters]

    def _as_records(self, rows: pl.DataFrame) -> pl.DataFrame:
        names = self.arguments.names
        known = pl.all_horizontal(pl.col(name).is_not_null() for name in names)
        sign = pl.col(SIGN) if SIGN in rows.columns else pl.lit(1, pl.Int64)
        counts = [
            pl.when(known & (pl.lit(True) if where is None else pl.col(where)))
            .then(sign)
            .otherwise(pl.lit(0, pl.Int64))
            for where in self.arguments.filters
        ]
        return rows.select(
            *(BORN, WINDOW_END, KEY_HASH, TIME),
            *(pl.col(n).alias(value) for n, value in zip(names, self._values, strict=True)),
            *(count.alias(name) for count, name in zip(counts, self._counts, strict=True)),
        )

    def _hashed(self, records: pl.DataFrame) -> pl.DataFrame:
        arrays = [_as_arrow(records[name]) for name in self._identity]
        hashes = xxhash64([array for array in arrays if can_hash(array.type)])
        return records.select(pl.Series(HASH, hashes), pl.all())

    def _stored(self, values: pl.DataFrame) -> dict[str, Longs]:
        """The stored counts of values, zero of those that are new."""
        found = self.table.probe(distinct(longs(values, HASH)), values.clear())
        found = found.unique(self._identity, keep="last", maintain_order=True)
        both = pl.concat([frame.select(self._identity) for frame in (found, values)])
        number = group_numbers(both, self._identity)
        place = np.full(int(number.max(initial=-1)) + 1, found.height)
        place[number[: found.height]] = np.arange(found.height)
        mine = place[number[found.height :]]
        return {name: np.append(longs(found, name), 0)[mine] for name in self._counts}


@dataclass(frozen=True, slots=True)
class _Presence:
    """Counts values that are only added, by their numbers: whether each is there is enough."""

    number: Longs

    def counted(self, weights: Longs, stored: Longs) -> tuple[Longs, Longs]:
        """Per row whether its value is new, and per value its count after all of them."""
        place = np.flatnonzero(weights)
        first = np.full(stored.size, -1)
        first[self.number[place][::-1]] = place[::-1]
        change = np.zeros(self.number.size, dtype=np.int64)
        change[first[(first >= 0) & (stored == 0)]] = 1
        return change, np.where(first >= 0, np.maximum(stored, 1), stored)


@dataclass(frozen=True, slots=True)
class _Balance:
    """Counts values that are added and retracted. One is there if it was added more often."""

    order: Longs  # of rows by number
    sizes: Longs  # per number

    @classmethod
    def of(cls, number: Longs) -> _Balance:
        return cls(stable_order(number), np.bincount(number))

    def counted(self, weights: Longs, stored: Longs) -> tuple[Longs, Longs]:
        """Per row how its value comes (1) or vanishes (-1), and per value its count after all."""
        ordered = weights[self.order]
        sums = np.cumsum(ordered)
        ends = np.cumsum(self.sizes)
        total = np.append(0, sums[ends - 1])
        after = sums - np.repeat(total[:-1] - stored, self.sizes)
        change = np.empty(self.order.size, dtype=np.int64)
        change[self.order] = (after > 0).astype(np.int64) - (after - ordered > 0)
        return change, np.diff(total) + stored


def _as_arrow(column: pl.Series) -> pa.Array:
    """In a form that can be hashed, if there is any."""
    number = column.to_physical() if column.dtype.is_temporal() else column
    array = number.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return array.cast(short.get(array.type, array.type))
