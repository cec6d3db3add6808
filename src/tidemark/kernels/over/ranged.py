"""Accumulators of ranges of rows, which overlap: from one position to before another.

Sums of integers and decimals are differences of running sums. Other accumulators are merged by
doubling: those of 1, 2, 4, ... adjacent rows, of which each range needs at most one per length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from tidemark.kernels import decimal_sums
from tidemark.kernels.aggregates import Aggregates, spreads
from tidemark.kernels.aggregates.accumulators import Accumulator, Merge
from tidemark.kernels.aggregates.running import MOST_ITEMS
from tidemark.kernels.over.frames import Values
from tidemark.kernels.tables import Longs, up_to_each
from tidemark.kernels.whole_numbers import digits_of, with_scale

_RANGE: Final = "_tm_range"
_INTEGERS: Final = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Boolean)
_FLOATS: Final = (pl.Float32, pl.Float64)


def results_of_ranges(
    rows: pl.DataFrame, aggregates: Aggregates, first: Longs, end: Longs
) -> pl.DataFrame:
    """The results for each range of lifted rows."""
    differs = np.append(True, (first[1:] != first[:-1]) | (end[1:] != end[:-1]))[: first.size]
    ranges = MergedRanges(rows, first[differs], end[differs])
    results = pl.concat(part.select(aggregates.results) for part in ranges.accumulators(aggregates))
    return results if differs.all() else results[np.cumsum(differs) - 1]


@dataclass(frozen=True, slots=True)
class MergedRanges:
    """Rows with accumulators, and the ranges to merge."""

    rows: pl.DataFrame
    first: Longs
    end: Longs

    def accumulators(self, aggregates: Aggregates) -> Iterator[pl.DataFrame]:
        """The accumulators of all ranges, some ranges at a time if they contain lists."""
        kept = aggregates.accumulators
        if all(a.how in _MERGED for a in kept):
            yield pl.DataFrame([self._merged(accumulator) for accumulator in kept])
            return
        for part in self._slices():
            yield self._listed(aggregates, part)

    def _merged(self, accumulator: Accumulator) -> pl.Series:
        return _MERGED[accumulator.how](self, self.rows[accumulator.name])

    # --- pair by pair ---------------------------------------------------------------------------

    def _slices(self) -> Iterator[slice]:
        """Runs of ranges with a limited number of rows in all; a single range may have more."""
        up_to = np.append(0, np.cumsum(self.end - self.first))
        start = 0
        while start < self.first.size or not start:
            fits = int(np.searchsorted(up_to, up_to[start] + MOST_ITEMS, side="right")) - 1
            stop = min(max(fits, start + 1), self.first.size)
            yield slice(start, stop)
            if stop == self.first.size:
                return
            start = stop

    def _listed(self, aggregates: Aggregates, part: slice) -> pl.DataFrame:
        first, counts = self.first[part], (self.end - self.first)[part]
        member = np.repeat(first, counts) + up_to_each(counts)
        of_range = pl.Series(_RANGE, np.repeat(np.arange(counts.size), counts), pl.Int64)
        pairs = self.rows.select(aggregates.names)[member].with_columns(of_range)
        merged = aggregates.merged(pairs, [_RANGE])
        if merged.height < counts.size:
            every = pl.DataFrame({_RANGE: np.arange(counts.size)})
            merged = every.join(merged, on=_RANGE, how="left", maintain_order="left")
            merged = merged.with_columns(_nothing(a, merged) for a in aggregates.accumulators)
        return merged.drop(_RANGE)

    # --- by kind --------------------------------------------------------------------------------

    def total(self, values: pl.Series) -> pl.Series:
        if values.dtype in _FLOATS:
            return _like(values, self._folded(values.fill_null(0).to_numpy(), np.add, 0.0))
        if values.dtype == pl.Int64:
            sums = np.append(0, np.cumsum(values.fill_null(0).to_numpy()))
            return _like(values, sums[self.end] - sums[self.first])
        return self._decimals(values)

    def _decimals(self, values: pl.Series) -> pl.Series:
        """Sums of decimals. Running sums may overflow their 128 bits: only the differences must
        fit."""
        assert isinstance(values.dtype, pl.Decimal)
        digits = pl.select(digits_of(pl.lit(values.fill_null(0)))).to_series()
        sums = pl.concat([digits.clear(1).fill_null(0), digits.cum_sum()])
        found = sums.gather(self.end) - sums.gather(self.first)
        if decimal_sums.may_not_fit(values):
            about = self._folded(values.cast(pl.Float64).fill_null(0).to_numpy(), np.add, 0.0)
            decimal_sums.check(found, pl.Series(about), values.dtype)
        return pl.select(
            with_scale(pl.lit(found), values.dtype.scale).alias(values.name)
        ).to_series()

    def spread(self, moments: pl.Series) -> pl.Series:
        found = self._folded(spreads.as_array(moments), spreads.both, 0.0)
        return spreads.from_array(found, moments.name)

    def extreme(self, values: pl.Series, merge: Any, smallest: bool) -> pl.Series:
        known = values.is_not_null()
        numbers, back = _as_numbers(values)
        info = np.finfo if np.issubdtype(numbers.dtype, np.floating) else np.iinfo
        nothing = info(numbers.dtype).max if smallest else info(numbers.dtype).min
        if np.issubdtype(numbers.dtype, np.floating):
            nothing = np.inf if smallest else -np.inf
        filled = np.where(known.to_numpy(), numbers, nothing)
        found = self._folded(filled, merge, nothing)
        counts = np.append(0, np.cumsum(known.to_numpy()))
        some = pl.Series(counts[self.end] > counts[self.first])
        return back(pl.Series(found), some).alias(values.name)

    def outermost(self, values: pl.Series, *, first: bool) -> pl.Series:
        """The first or the last value that is not NULL."""
        size = values.len()
        known = values.is_not_null().to_numpy()
        place = np.arange(size)
        if first:
            later = np.where(known, place, size)[::-1]
            found = np.append(np.minimum.accumulate(later)[::-1], size)[self.first]
            there = found < self.end
        else:
            earlier = np.maximum.accumulate(np.where(known, place, -1))
            found = np.append(-1, earlier)[self.end]
            there = found >= self.first
        return values.gather(
            pl.select(pl.when(pl.Series(there)).then(pl.Series(found))).to_series()
        )

    def _folded(self, values: Values, merge: Any, nothing: Any) -> Values:
        """Values merged from left to right, by doubling."""
        shape = (self.first.size, *values.shape[1:])
        result = np.full(shape, nothing, dtype=values.dtype)
        place, left, width = self.first.copy(), self.end - self.first, 1
        while left.any():
            odd = np.flatnonzero(left & width)
            result[odd] = merge(result[odd], values[place[odd]])
            place[odd] += width
            left[odd] -= width
            values = merge(values[:-width], values[width:])
            width *= 2
        return result


_MERGED: Final[dict[Merge, Callable[[MergedRanges, pl.Series], pl.Series]]] = {
    Merge.TOTAL: lambda ranges, values: ranges.total(values),
    Merge.LEAST: lambda ranges, values: ranges.extreme(values, np.fmin, True),
    Merge.GREATEST: lambda ranges, values: ranges.extreme(values, np.fmax, False),
    Merge.FIRST: lambda ranges, values: ranges.outermost(values, first=True),
    Merge.LAST: lambda ranges, values: ranges.outermost(values, first=False),
    Merge.SPREAD: lambda ranges, moments: ranges.spread(moments),
}


def _like(values: pl.Series, numbers: Values) -> pl.Series:
    return pl.Series(values.name, numbers).cast(values.dtype)


def _as_numbers(
    values: pl.Series,
) -> tuple[Values, Callable[[pl.Series, pl.Series], pl.Series]]:
    """The values as numbers in the same order, and how to get back from there."""
    physical = values.to_physical()
    if physical.dtype in (*_INTEGERS, *_FLOATS):
        kind = np.float64 if physical.dtype in _FLOATS else np.int64
        numbers = physical.fill_null(False if physical.dtype == pl.Boolean else 0).to_numpy()

        def restored(found: pl.Series, some: pl.Series) -> pl.Series:
            kept = pl.select(pl.when(some).then(found)).to_series()
            return kept.cast(physical.dtype).cast(values.dtype)

        return numbers.astype(kind), restored
    # Other values by their place among the distinct ones.
    distinct = values.unique().drop_nulls().sort()
    place = values.rank("dense").fill_null(1).cast(pl.Int64) - 1

    def looked_up(found: pl.Series, some: pl.Series) -> pl.Series:
        return distinct.gather(pl.select(pl.when(some).then(found)).to_series())

    return place.to_numpy(), looked_up


def _nothing(accumulator: Accumulator, frame: pl.DataFrame) -> pl.Expr:
    """The accumulator of no rows, where there is none."""
    column = pl.col(accumulator.name)
    if accumulator.how is Merge.TOTAL:
        return column.fill_null(0)
    if accumulator.how.is_list:
        return column.fill_null(pl.lit([], dtype=frame.schema[accumulator.name]))
    return column
