"""Accumulators that are lists, row by row: some rows at a time.

The lists of all rows together have as many items as a group has pairs of rows. So they are made of
one column of items, for a slice of rows at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates.accumulators import SIGN, VALUE, Merge, Summary, SummaryColumn
from tidemark.kernels.tables import Longs, up_to_each

MOST_ITEMS: Final = 2_000_000  # of the lists of a slice; a single row may have more

_NEVER: Final = 2**62
_GROUP = "_tm_group"
_ROW = "_tm_row"
_NTH = "_tm_nth"


@dataclass(frozen=True, slots=True)
class RunningLists:
    """The items of all rows, group by group. The list of a row is what its group has up to it,
    except the items that are gone.
    """

    name: str
    items: pl.Series
    first: Longs  # per row, the position of its group's first item
    end: Longs  # per row, the position after its own last item
    gone: Longs | None = None  # per item, the row at which it is canceled; None if none ever is

    @classmethod
    def of(cls, lists: pl.Series, how: Merge, starts: Longs) -> RunningLists:
        """From the lists that rows add, in order; with the first row of each row's group."""
        counts = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
        items = lists.explode(empty_as_null=False, keep_nulls=False)
        row = np.repeat(np.arange(counts.size), counts)
        if how is Merge.SET:
            new = _first_of_equal(items, starts[row])
            items, row = items.gather(new), row[new]
            counts = np.bincount(row, minlength=counts.size)
        end = np.cumsum(counts)
        gone = _gone(items, starts[row], row) if how is Merge.LEDGER else None
        return cls(lists.name, items, (end - counts)[starts], end, gone)

    def gone_up_to(self, starts: Longs) -> Longs:
        """Per row, how many items of its group are gone."""
        if self.gone is None:
            return np.zeros_like(starts)
        going = np.bincount(self.gone[self.gone < _NEVER], minlength=starts.size)
        gone = np.cumsum(going)
        return np.asarray(gone - (gone - going)[starts])

    def at(self, rows: Longs) -> pl.Series:
        """The lists of some rows, which ascend."""
        first, end = self.first[rows], self.end[rows]
        if self.gone is None or not rows.size:
            return self._ranges(first, end)
        # What is gone by the first row is not there in the others either.
        there = first[0] + np.flatnonzero(self.gone[first[0] : end[-1]] > rows[0])
        first, end = np.searchsorted(there, first), np.searchsorted(there, end)
        counts = end - first
        place = there[np.repeat(first, counts) + up_to_each(counts)]
        row = np.repeat(np.arange(rows.size), counts)
        left = self.gone[place] > rows[row]
        return self._lists(place[left], np.bincount(row[left], minlength=rows.size))

    def only(self, rows: Longs, chosen: npt.NDArray[np.bool_]) -> pl.Series:
        """The lists of some rows, empty ones except for those that are chosen."""
        made = self.at(rows[chosen])
        counts = np.zeros(rows.size, dtype=np.int64)
        counts[chosen] = made.list.len().to_numpy()
        return self._of_items(made.explode(empty_as_null=False, keep_nulls=False), counts)

    def summary(self, rows: Longs, column: SummaryColumn) -> pl.Series:
        """A summary of the lists of some rows, which ascend."""
        match column.what:
            case Summary.COUNT:
                found = pl.Series((self.end - self.first)[rows])
            case Summary.TOTAL:
                found = self._summed(rows, pl.col(VALUE).cast(column.dtype).cum_sum())
            case Summary.SPREAD:
                found = self._summed(rows, _spread_so_far(pl.col(VALUE).cast(column.dtype)))
            case _:
                found = self._chosen(rows, column.what)
        return found.cast(column.dtype).alias(column.name)

    def _summed(self, rows: Longs, so_far: pl.Expr) -> pl.Series:
        """What is summed up along the items; zero of none."""
        group = self.first[np.searchsorted(self.end, np.arange(len(self.items)), side="right")]
        items = pl.DataFrame({_GROUP: group, VALUE: self.items})
        sums = items.select(so_far.over(_GROUP)).to_series()
        last = pl.Series((self.end - 1)[rows])
        found = sums.gather(last.set(pl.Series(self.end[rows] == self.first[rows]), None))
        return found.fill_null(0)

    def _chosen(self, rows: Longs, what: Summary) -> pl.Series:
        """The item of each list that is preferred to the others; NULL if there is none."""
        assert self.gone is not None
        values, signs = self.items.struct.field(VALUE), self.items.struct.field(SIGN)
        row = np.searchsorted(self.end, np.arange(len(self.items)), side="right")
        ends = np.searchsorted(self.first, self.first, side="right")  # after the row's group
        low = np.searchsorted(rows, row)
        high = np.searchsorted(rows, np.minimum(self.gone, ends[row]))
        order = preference(values, what)
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        there = (signs > 0).to_numpy() & (low < high)
        best = highest(low[there], high[there], rank[there], rows.size)
        found = pl.Series(best)
        return values.gather(order).gather(found.set(found < 0, None))

    def _ranges(self, first: Longs, end: Longs) -> pl.Series:
        """Lists of adjacent items. Many rows may add none: then they are copied as a whole."""
        differs = np.append(True, (end[1:] != end[:-1]) | (first[1:] != first[:-1]))[: first.size]
        counts = (end - first)[differs]
        place = np.repeat(first[differs], counts) + up_to_each(counts)
        lists = self._lists(place, counts)
        return lists if differs.all() else lists.gather(np.cumsum(differs) - 1)

    def _lists(self, place: Longs, counts: Longs) -> pl.Series:
        return self._of_items(self.items.gather(place), counts)

    def _of_items(self, items: pl.Series, counts: Longs) -> pl.Series:
        # By way of Polars: pyarrow itself would load pandas to look at a NumPy array.
        offsets = pl.Series(np.append(0, np.cumsum(counts)), dtype=pl.Int64).to_arrow()
        values = items.to_arrow(compat_level=pl.CompatLevel.newest())
        return pl.Series(self.name, pa.LargeListArray.from_arrays(offsets, values))


def highest(low: Longs, high: Longs, values: Longs, size: int) -> Longs:
    """Per position the highest of the values, none negative, whose ranges `[low, high)` it is in;
    -1 if it is in none. No range is empty.
    """
    best = np.full(size, -1, dtype=np.int64)
    level = np.frexp((high - low).astype(np.float64))[1] - 1
    for power in range(int(level.max(initial=-1)), -1, -1):
        # Here the value at each position is that of a range of 2**power, from there on.
        mine = level == power
        np.maximum.at(best, low[mine], values[mine])
        np.maximum.at(best, high[mine] - 2**power, values[mine])
        half = 2**power // 2
        if half:
            best[half:] = np.maximum(best[half:], best[:-half])
    return best


def preference(values: pl.Series, what: Summary) -> Longs:
    """The positions of the values, the one that is preferred to all others last."""
    if what in (Summary.FIRST, Summary.LAST):
        order = np.arange(len(values))
        return order if what is Summary.LAST else order[::-1]
    order = values.arg_sort(descending=what is Summary.LEAST).to_numpy().astype(np.int64)
    if not values.dtype.is_float():
        return order
    is_nan = values.is_nan().fill_null(False).to_numpy()[order]  # as in lists: not preferred to any
    return np.concatenate([order[is_nan], order[~is_nan]])


def slices(rows: Longs, starts: Longs, lists: Sequence[RunningLists]) -> Iterator[slice]:
    """Cuts some rows, which ascend, into runs whose lists are made of at most so many items."""
    if not lists:
        yield slice(None)
        return
    made_of = np.sum([each.end - each.first for each in lists], axis=0)[rows]
    gone = np.sum([each.gone_up_to(starts) for each in lists], axis=0)[rows]
    up_to = np.append(0, np.cumsum(made_of))
    ends = np.searchsorted(starts[rows], starts[rows], side="right")

    def items(start: int, stop: int) -> int:
        # What is gone by the first row is spared in the others of its group.
        of_group = min(stop, int(ends[start])) - start
        return int(up_to[stop] - up_to[start] - of_group * gone[start])

    start = 0
    while start < rows.size:
        stops = range(start + 1, rows.size + 1)
        fitting = bisect_right(stops, MOST_ITEMS, key=partial(items, start))
        stop = start + max(fitting, 1)
        yield slice(start, stop)
        start = stop


def _first_of_equal(items: pl.Series, group: Longs) -> Longs:
    """The positions of the items that their group does not have before."""
    frame = pl.DataFrame({_GROUP: group, VALUE: items}).with_row_index(_ROW)
    kept = frame.unique([_GROUP, VALUE], keep="first", maintain_order=True)
    return kept[_ROW].cast(pl.Int64).to_numpy()


def _gone(items: pl.Series, group: Longs, row: Longs) -> Longs:
    """Per item the row at which it cancels another, or is canceled: the n-th retraction of a value
    and the n-th item added cancel each other, whichever came first.
    """
    adds = pl.col(SIGN) > 0
    frame = items.struct.unnest().select(
        pl.Series(_GROUP, group), pl.Series(_ROW, row), VALUE, adds.alias(SIGN)
    )
    nth = pl.int_range(pl.len()).over(_GROUP, VALUE, SIGN)
    pair = [_GROUP, VALUE, _NTH]
    met = pl.when(pl.len().over(pair) == 2).then(pl.col(_ROW).max().over(pair))
    gone = frame.with_columns(nth.alias(_NTH)).select(met.fill_null(_NEVER).cast(pl.Int64))
    return gone.to_series().to_numpy()


def _spread_so_far(number: pl.Expr) -> pl.Expr:
    """The sum of the squared distances from the mean. Numbers far from zero keep their digits."""
    away = number - number.first()
    total = away.cum_sum()
    return ((away * away).cum_sum() - total * total / number.cum_count()).clip(0)
