"""The values of windows that aggregates keep apart from their accumulators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.aggregates.accumulators import SIGN
from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, StateTable, follow_each_other, longs, rows_at, run_bounds
from tidemark.kernels.windows import extreme_values
from tidemark.kernels.windows.events import CELL, ROLE, ROW
from tidemark.kernels.windows.ordered_values import ByPreference
from tidemark.kernels.windows.spec import WINDOW_END
from tidemark.kernels.windows.value_counts import BORN, KEY_HASH, OfLiving, ValueCounts

PLACE: Final = "_tm_place"  # Int64; where the row of an event is

Records = dict[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class WindowValues:
    """All such values of the windows of an operator. They are kept as long as the operator says
    with `until`, an expression over an event.
    """

    aggregates: Aggregates
    until: pl.Expr

    @property
    def needs(self) -> list[str]:
        """The columns that rows must keep."""
        kept = [*self.aggregates.distinct, *(e.arguments for e in self.aggregates.extremes)]
        names = [name for each in kept for name in each.names]
        filters = [where for each in kept for where in each.filters if where is not None]
        sign = [SIGN] if self.aggregates.retracts else []
        return list(dict.fromkeys([*names, *filters, *sign]))

    def along(
        self, state: State, events: pl.DataFrame, rows: pl.DataFrame
    ) -> tuple[pl.DataFrame, Records]:
        """The events with BORN and the accumulators that follow from values, and the new records
        per table. Events of rows have their place in `rows`.
        """
        events = events.with_columns(_born(events))
        is_row = events[ROLE] == ROW
        window = events.select(
            BORN,
            WINDOW_END,
            pl.col(HASH).alias(KEY_HASH),
            self.until.cast(pl.Int64).alias(TIME),
            PLACE,
        ).filter(is_row)
        place = longs(window, PLACE)
        needed = rows.select(self.needs)
        caused = rows_at(needed, place).hstack(window.drop(PLACE))
        changed, records = self._changed(state, caused)
        places = np.flatnonzero(is_row.to_numpy())
        events = events.with_columns(
            _with_values_at(events[column.name], places, column) for column in changed
        )
        for extreme in self.aggregates.extremes:
            table = state.keyed(extreme.table)
            values = ValueCounts(extreme.arguments, table, ByPreference(extreme.what))
            found, records[extreme.table] = extreme_values.along(
                extreme, values, events, caused, places
            )
            events = events.with_columns(found)
        return events, records

    def _changed(self, state: State, caused: pl.DataFrame) -> tuple[list[pl.Series], Records]:
        """The accumulators of changes of distinct values, per row."""
        records: Records = {}
        changes = [caused]
        for arguments in self.aggregates.distinct:
            values = ValueCounts(arguments, state.keyed(arguments.table))
            counted = values.of_rows(caused)
            changes.append(counted.of_all_rows())
            records[arguments.table] = counted.records
        whole = pl.concat(changes, how="horizontal")
        return self.aggregates.lifted_changes(whole).get_columns(), records

    def kept(
        self, state: State, records: Records, gone: int, living: OfLiving, compaction: Compaction
    ) -> dict[str, StateTable]:
        """The tables with new records, without those of windows that are gone."""
        return {
            name: values.kept(records[name], gone, living, compaction)
            for name, values in self._tables(state)
            if name in records
        }

    def _tables(self, state: State) -> Iterator[tuple[str, ValueCounts]]:
        for arguments in self.aggregates.distinct:
            yield arguments.table, ValueCounts(arguments, state.keyed(arguments.table))
        for extreme in self.aggregates.extremes:
            yield extreme.table, ValueCounts(extreme.arguments, state.keyed(extreme.table))


def _with_values_at(column: pl.Series, places: Longs, values: pl.Series) -> pl.Series:
    """The column with other values at some places, which ascend."""
    if follow_each_other(places):
        before, after = column[: places[0]], column[places[-1] + 1 :]
        return pl.concat([before, values.cast(column.dtype), after], rechunk=True)
    if not isinstance(column.dtype, pl.Struct):
        return column.clone().scatter(pl.Series(places, dtype=pl.get_index_type()), values)
    found = np.arange(column.len())
    found[places] = np.arange(column.len(), column.len() + places.size)
    return pl.concat([column, values]).gather(found)


def _born(events: pl.DataFrame) -> pl.Series:
    """The position of the first row of each event's cell; events of a cell are adjacent."""
    first, end = run_bounds(longs(events, CELL))
    of_cells = events.select(pl.coalesce(BORN, SEQUENCE).alias(BORN))[first]
    return pl.Series(BORN, np.repeat(longs(of_cells, BORN), end - first))
