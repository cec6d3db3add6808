"""The distinct values of windows, each a row of state.

A list of them would be written again whenever a value is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.aggregates.accumulators import SIGN
from tidemark.kernels.aggregates.distinct import DistinctArguments
from tidemark.kernels.aggregates.numbered import group_numbers
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
        counted = records.select(there).to_series().to_numpy()
        added = self._hashed(records.filter(counted))
        stored = self._stored(added)
        both = pl.concat([stored, added])
        number = group_numbers(both, self._identity)
        order = stable_order(number)
        ends = np.append(number[order][1:] != number[order][:-1], True)[: order.size]
        changes, counts = {}, {}
        for change_, name in zip(self.arguments.changes, self._counts, strict=True):
            before, after = _running(longs(both, name)[order], ends)
            change = np.empty(order.size, dtype=np.int64)
            change[order] = (after > 0).astype(np.int64) - (before > 0)
            whole = np.zeros(rows.height, dtype=np.int64)
            whole[counted] = change[stored.height :]
            changes[change_] = whole
            counts[name] = after[ends]
        newest = both[order[ends]].with_columns(pl.Series(n, c) for n, c in counts.items())
        return pl.DataFrame(changes), newest

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

    def _stored(self, added: pl.DataFrame) -> pl.DataFrame:
        """The records of the same values and windows, and perhaps others."""
        found = self.table.probe(distinct(longs(added, HASH)), added.clear())
        return found.unique(self._identity, keep="last", maintain_order=True)


def _running(weights: Longs, ends: npt.NDArray[np.bool_]) -> tuple[Longs, Longs]:
    """The sums of weights before and after each, along groups whose last rows are marked."""
    after = np.cumsum(weights)
    group = np.cumsum(np.append(False, ends[:-1])[: ends.size])
    after -= np.append(0, after[ends])[group]
    return after - weights, after


def _as_arrow(column: pl.Series) -> pa.Array:
    """In a form that can be hashed, if there is any."""
    number = column.to_physical() if column.dtype.is_temporal() else column
    array = number.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return array.cast(short.get(array.type, array.type))
