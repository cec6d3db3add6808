"""The values of windows, counted: each is a row of state.

A list of them would be written again whenever a value is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates.accumulators import SIGN
from tidemark.kernels.aggregates.numbered import dense, group_numbers
from tidemark.kernels.aggregates.values_apart import ValueArguments
from tidemark.kernels.columns import AFTER_ALL, HASH, TIME
from tidemark.kernels.hashing import can_hash, xxhash64
from tidemark.kernels.keys import last_of_each
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs, rows_at
from tidemark.kernels.windows.spec import WINDOW_END

BORN: Final = "_tm_born"  # Int64; the position in the sequence of a window's first row
KEY_HASH: Final = "_tm_key_hash"  # Int64; the hash of the window's key

# Leaves out records of windows that are gone.
OfLiving = Callable[[pl.DataFrame], pl.DataFrame]
# The HASH of values, given those of their windows.
Place = Callable[[Longs, pl.Series], Longs]


@dataclass(frozen=True, slots=True)
class Counted:
    """What rows change: those at `place` have values, each with a number. Per value, in order of
    numbers, how often it was there before, per count; and per row at `place` and change, whether
    its value comes (1), vanishes (-1), or neither (0).
    """

    height: int  # of all rows
    place: Longs
    number: Longs
    values: pl.DataFrame
    stored: dict[str, Longs]
    changes: dict[str, Longs]
    records: pl.DataFrame  # to be added to the table

    def of_all_rows(self) -> pl.DataFrame:
        """The changes of all rows."""
        if self.place.size == self.height:
            return pl.DataFrame(self.changes)
        whole = {}
        for name, change in self.changes.items():
            whole[name] = np.zeros(self.height, dtype=np.int64)
            whole[name][self.place] = change
        return pl.DataFrame(whole)


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """How often windows have each value of some arguments, per filter.

    A window is known by its first row and its end, since a row may open several. A record has a
    HASH of all that identifies it, and is kept until a TIME; the newest one counts. `place` says
    where in the table the values of a window are, if not anywhere.
    """

    arguments: ValueArguments
    table: KeyedTable
    place: Place | None = None

    def of_rows(self, rows: pl.DataFrame) -> Counted:
        """The changes that rows cause, in order. Rows have the arguments, filters, BORN,
        WINDOW_END, KEY_HASH and TIME; and SIGN, if they can be retracted.
        """
        records = self._as_records(rows)
        there = pl.any_horizontal(pl.col(self.counts) != 0)
        place = np.flatnonzero(records.select(there).to_series().to_numpy())
        some = rows_at(records, place)
        number, first = dense(group_numbers(some, self.identity))
        values = self._hashed(some[first])
        stored = self._stored(values)
        counting = _Balance.of(number) if SIGN in rows.columns else _Presence(number, first)
        changes, counts = {}, {}
        for change, name in zip(self.arguments.changes, self.counts, strict=True):
            changes[change], counts[name] = counting.counted(longs(some, name), stored[name])
        differs = np.any([counts[name] != stored[name] for name in self.counts], axis=0)
        newest = values.with_columns(pl.Series(n, c, pl.Int64) for n, c in counts.items())
        records = newest.filter(pl.Series(differs))
        return Counted(rows.height, place, number, values, stored, changes, records)

    def kept(
        self, records: pl.DataFrame, gone: int, living: OfLiving, compaction: Compaction
    ) -> KeyedTable:
        def settle(rows: pl.DataFrame, is_all: bool) -> pl.DataFrame:
            left = living(last_of_each(rows, self.identity))
            # Where there may be older records, one without a count hides them.
            return left.filter(pl.any_horizontal(pl.col(self.counts) != 0)) if is_all else left

        table = self.table.without_before(min(gone, AFTER_ALL - 1) + 1)
        return table.append(records.filter(pl.col(TIME) > gone), compaction, settle)

    @property
    def identity(self) -> list[str]:
        return [BORN, WINDOW_END, *self.values]

    @property
    def values(self) -> list[str]:
        return [f"_tm_value({name})" for name in self.arguments.names]

    @property
    def counts(self) -> list[str]:
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
            *(pl.col(n).alias(value) for n, value in zip(names, self.values, strict=True)),
            *(count.alias(name) for count, name in zip(counts, self.counts, strict=True)),
        )

    def _hashed(self, records: pl.DataFrame) -> pl.DataFrame:
        if self.place is not None:
            [value] = self.values
            hashes = self.place(hash_of(records, [BORN, WINDOW_END]), records[value])
        else:
            hashes = hash_of(records, self.identity)
        return records.select(pl.Series(HASH, hashes), pl.all())

    def _stored(self, values: pl.DataFrame) -> dict[str, Longs]:
        """The stored counts of values, zero of those that are new."""
        found = self.table.probe(distinct(longs(values, HASH)), values.clear())
        found = last_of_each(found, self.identity)
        both = pl.concat([frame.select(self.identity) for frame in (found, values)])
        number = group_numbers(both, self.identity)
        place = np.full(int(number.max(initial=-1)) + 1, found.height)
        place[number[: found.height]] = np.arange(found.height)
        mine = place[number[found.height :]]
        return {name: np.append(longs(found, name), 0)[mine] for name in self.counts}


@dataclass(frozen=True, slots=True)
class _Presence:
    """Counts values that are only added, by their numbers: whether each is there is enough."""

    number: Longs  # per row, that of its value
    first: Longs  # per number, the first row

    def counted(self, weights: Longs, stored: Longs) -> tuple[Longs, Longs]:
        """Per row whether its value is new, and per value its count after all of them."""
        first = self.first if weights.all() else self._first_of(np.flatnonzero(weights != 0))
        change = np.zeros(self.number.size, dtype=np.int64)
        change[first[(first >= 0) & (stored == 0)]] = 1
        return change, np.where(first >= 0, np.maximum(stored, 1), stored)

    def _first_of(self, place: Longs) -> Longs:
        """Per number the first of some rows; -1 if it has none of them."""
        first = np.full(self.first.size, -1)
        first[self.number[place][::-1]] = place[::-1]
        return first


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


def hash_of(rows: pl.DataFrame, names: Sequence[str]) -> Longs:
    """A hash of some columns, as far as their types have one."""
    arrays = [_as_arrow(rows[name]) for name in names]
    return xxhash64([array for array in arrays if can_hash(array.type)])


def _as_arrow(column: pl.Series) -> pa.Array:
    """In a form that can be hashed, if there is any."""
    number = column.to_physical() if column.dtype.is_temporal() else column
    array = number.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return array.cast(short.get(array.type, array.type))
