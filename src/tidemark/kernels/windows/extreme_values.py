"""The least and the greatest value of windows from which rows are retracted.

Values that a step does not touch are there all the time, so only the most preferred of them
matters. That is the extreme as it was, unless all of its rows are retracted: then the next one is
looked up among the values in state, which are in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates.accumulators import Summary
from tidemark.kernels.aggregates.numbered import group_numbers
from tidemark.kernels.aggregates.running import highest, preference
from tidemark.kernels.aggregates.values_apart import Extreme
from tidemark.kernels.columns import HASH
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs, up_to_each
from tidemark.kernels.windows.events import CELL, ROLE, STORED
from tidemark.kernels.windows.ordered_values import first_of_windows, last_of_windows
from tidemark.kernels.windows.spec import WINDOW_END
from tidemark.kernels.windows.value_counts import BORN, Counted, ValueCounts, hash_of

_WINDOW: Final = "_tm_window"  # Int64; the position of a window among those that are looked up
_FEW: Final = 8  # how many values of a window are looked at first


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of events, numbered in order: which one each event is in, and where they are."""

    number: Longs
    start: Longs
    end: Longs

    @classmethod
    def of(cls, events: pl.DataFrame) -> _Cells:
        cell = longs(events, CELL)
        begins = np.append(True, cell[1:] != cell[:-1])[: cell.size]
        start = np.flatnonzero(begins)
        return cls(np.cumsum(begins) - 1, start, np.append(start[1:], cell.size)[: start.size])


def along(
    extreme: Extreme,
    values: ValueCounts,
    events: pl.DataFrame,
    rows: pl.DataFrame,
    places: Longs,
) -> tuple[list[pl.Series], pl.DataFrame]:
    """The extremes at all events, per filter under the name of its accumulator, and the records
    that the rows add to the table. The event of each row is at one of the `places`.
    """
    counted = values.of_rows(rows)
    cells = _Cells.of(events)
    found = [
        _Along(extreme, values, events, cells, counted, places[counted.place], place).extremes()
        for place in range(len(extreme.columns))
    ]
    return found, counted.records


@dataclass(frozen=True, slots=True)
class _Along:
    """The extremes with one filter."""

    extreme: Extreme
    values: ValueCounts
    events: pl.DataFrame
    cells: _Cells
    counted: Counted
    at: Longs  # where the events of the counted rows are
    filter: int

    def extremes(self) -> pl.Series:
        touched = self.counted.values[self.values.values[0]]
        low, high, value = self._presence()
        others = self._others(touched)
        cell = np.flatnonzero(others.is_not_null().to_numpy())
        every = pl.concat([touched, others.drop_nulls()])
        low = np.concatenate([low, self.cells.start[cell]])
        high = np.concatenate([high, self.cells.end[cell]])
        value = np.concatenate([value, touched.len() + np.arange(cell.size)])
        order = preference(every, self.extreme.what)
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        there = low < high
        best = pl.Series(highest(low[there], high[there], rank[value[there]], self.events.height))
        found = every.gather(order).gather(best.set(best < 0, None))
        return found.alias(self.extreme.columns[self.filter])

    @property
    def _change(self) -> Longs:
        return self.counted.changes[self.extreme.arguments.changes[self.filter]]

    @property
    def _was_there(self) -> Longs:
        """The values that were there before the step."""
        return np.flatnonzero(self.counted.stored[self.values.counts[self.filter]] > 0)

    @property
    def _cell(self) -> Longs:
        """The cell of each value."""
        cell = np.empty(self.counted.values.height, dtype=np.int64)
        cell[self.counted.number] = self.cells.number[self.at]
        return cell

    def _presence(self) -> tuple[Longs, Longs, Longs]:
        """From which event on, and up to which, a value is there; a value may come and go."""
        number, change, cell = self.counted.number, self._change, self._cell
        before = self._was_there
        comes, goes = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
        balance = np.zeros(cell.size, dtype=np.int64)
        balance[before] = 1
        np.add.at(balance, number, change)
        after = np.flatnonzero(balance > 0)
        opening = np.concatenate([before, number[comes]])
        opens = np.concatenate([self.cells.start[cell[before]], self.at[comes]])
        closing = np.concatenate([number[goes], after])
        closes = np.concatenate([self.at[goes], self.cells.end[cell[after]]])
        # In order, each end belongs to a beginning.
        first, last = stable_order_by(opening, opens), stable_order_by(closing, closes)
        return opens[first], closes[last], opening[first]

    def _others(self, touched: pl.Series) -> pl.Series:
        """Per cell the extreme of the values that no row of the step has; NULL if it does not
        matter, because a value that is preferred to it is there all the time.
        """
        column, cell = self.extreme.columns[self.filter], self._cell
        stored = self.events[column].gather(self.cells.start)
        was_stored = self.events[ROLE].gather(self.cells.start) == STORED
        stored = pl.select(pl.when(was_stored).then(stored)).to_series()
        mine = stored.gather(cell)
        same = (mine.eq_missing(touched) & mine.is_not_null()).to_numpy()
        vanishes = np.zeros(touched.len(), dtype=np.bool_)
        vanishes[self.counted.number[self._change < 0]] = True
        wanted = np.unique(cell[same & vanishes])
        others = stored.set(_marked(stored.len(), cell[same]), None)
        if not wanted.size:
            return others
        found = self._looked_up(self.events[self.cells.start[wanted]].select(BORN, WINDOW_END))
        place = np.full(stored.len(), -1)
        place[wanted] = np.arange(wanted.size)
        at = pl.Series(place)
        instead = found.gather(at.set(at < 0, None))
        return pl.select(pl.coalesce(instead, others)).to_series()

    # --- values in state ---------------------------------------------------------------------

    def _looked_up(self, windows: pl.DataFrame) -> pl.Series:
        """Per window the most preferred value in state that no row of the step has."""
        hashes = hash_of(windows, [BORN, WINDOW_END])
        name = self.values.values[0]
        result = pl.Series(name, [None] * windows.height, self.counted.values.schema[name])
        left, few = np.arange(windows.height), _FEW
        while left.size:
            found, floor = self._last_records(hashes[left], few)
            found = self._living(found, windows[left], floor)
            best = _best(found, self.extreme.what, name, left.size)
            known = np.flatnonzero(best >= 0)
            if known.size:
                result = result.scatter(left[known], found[name].gather(best[known]))
            left = left[(best < 0) & (floor > np.iinfo(np.int64).min)]
            few *= 4
        return result

    def _last_records(self, hashes: Longs, few: int) -> tuple[pl.DataFrame, Longs]:
        """So many records of each window from the end of each segment; and per window the place up
        to which there may be more.
        """
        like = self.counted.values.clear()
        parts = [like.with_columns(pl.lit(0, pl.Int64).alias(_WINDOW))]
        floor = np.full(hashes.size, np.iinfo(np.int64).min)
        for segment in self.values.table.segments:
            rows = segment.rows()
            there = longs(rows, HASH)
            start = np.searchsorted(there, first_of_windows(hashes), side="left")
            end = np.searchsorted(there, last_of_windows(hashes), side="right")
            first = np.maximum(start, end - few)
            more = np.flatnonzero(first > start)
            floor[more] = np.maximum(floor[more], there[first[more]])
            place = np.repeat(first, end - first) + up_to_each(end - first)
            window = pl.Series(_WINDOW, np.repeat(np.arange(hashes.size), end - first), pl.Int64)
            parts.append(rows[place].with_columns(window))
        return pl.concat(parts), floor

    def _living(self, found: pl.DataFrame, windows: pl.DataFrame, floor: Longs) -> pl.DataFrame:
        """The newest record of each value that is there, of these windows and above the floor,
        without the values of the step's rows.
        """
        identity = self.values.identity
        newest = found.unique([_WINDOW, *identity], keep="last", maintain_order=True)
        window = longs(newest, _WINDOW)
        mine = longs(newest, BORN) == longs(windows, BORN)[window]
        mine &= longs(newest, WINDOW_END) == longs(windows, WINDOW_END)[window]
        above = longs(newest, HASH) > floor[window]
        there = longs(newest, self.values.counts[self.filter]) > 0
        newest = newest.filter(pl.Series(mine & above & there))
        both = pl.concat([f.select(identity) for f in (newest, self.counted.values)])
        number = group_numbers(both, identity)
        touched = np.isin(number[: newest.height], number[newest.height :])
        return newest.filter(pl.Series(~touched))


def _best(found: pl.DataFrame, what: Summary, name: str, windows: int) -> Longs:
    """Per window the position of its most preferred value; -1 if there is none."""
    order = preference(found[name], what)
    best = np.full(windows, -1)
    # The last one assigned counts.
    best[longs(found, _WINDOW)[order]] = order
    return best


def _marked(size: int, places: Longs) -> pl.Series:
    marks = np.zeros(size, dtype=np.bool_)
    marks[places] = True
    return pl.Series(marks)
