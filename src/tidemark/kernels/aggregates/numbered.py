"""Numbers groups of rows with small integers, and adds up their values by these numbers.

A library that groups by several columns first makes one value of each row, then hashes it, and
keeps a list of rows per group. If groups can be numbered and accumulators are plain numbers, one
pass over an array for each takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.sorting import largest_so_far
from tidemark.kernels.tables import Longs, in_arrow, longs, of_arrow

# The maximum of numbers per row, or for few rows in total, most of which are unused.
_SPARSE: Final = 4
_FEW: Final = 1 << 16
# A column has few values if this many of its rows have no more than that.
_SAMPLE, _FEW_VALUES = 256, 64
_SIGNED: Final = (pl.Int8, pl.Int16, pl.Int32, pl.Int64)
_OTHERS: Final = (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Boolean, pl.String, pl.Binary)

_PLACE: Final = "_tm_place"

_Values = np.ndarray[tuple[int], np.dtype[Any]]


def merged(
    rows: pl.DataFrame, by: Sequence[str], first: Sequence[str], hows: Mapping[str, Merge]
) -> pl.DataFrame | None:
    """One row per group, in order of their first rows: its key, its first row's `first`, and the
    columns of `hows` merged. None if this needs more than numbers.
    """
    if rows.is_empty() or not all(_is_plain(rows[name], how) for name, how in hows.items()):
        return None
    found = _numbers(rows, by)
    if found is None:
        return None
    number, size = found
    places = _first_places(number, size)
    group = number[places]
    columns = (
        pl.Series(name, _merged(rows[name], how, number, size)[group]).cast(rows.schema[name])
        for name, how in hows.items()
    )
    return rows.select(*by, *first)[places].with_columns(columns)


def group_numbers(rows: pl.DataFrame, by: Sequence[str]) -> Longs:
    """Per row a number that is the same exactly for rows of the same group; not much more numbers
    than rows.
    """
    found = _numbers(rows, by) if rows.height else None
    if found is not None:
        return found[0]
    places = rows.select(by).with_row_index(_PLACE).select(pl.col(_PLACE).first().over(by))
    return longs(places, _PLACE)


def dense(number: Longs) -> tuple[Longs, Longs]:
    """The numbers without gaps, and the first position of each.

    >>> [column.tolist() for column in dense(np.array([7, 3, 7]))]
    [[1, 0, 1], [1, 0]]
    """
    place = np.full(int(number.max(initial=-1)) + 1, -1)
    place[number[::-1]] = np.arange(number.size)[::-1]
    used = np.flatnonzero(place >= 0)
    rank = np.empty(place.size, dtype=np.int64)
    rank[used] = np.arange(used.size)
    return rank[number], place[used]


def merged_runs(
    rows: pl.DataFrame, first: Longs, end: Longs, hows: Mapping[str, Merge]
) -> pl.DataFrame | None:
    """The columns of `hows` merged over runs of rows, each from one position to before another;
    runs may overlap, and none is empty. None if this needs more than numbers.
    """
    if not all(_is_plain(rows[name], how) for name, how in hows.items()):
        return None
    bounds = np.column_stack((first, end)).ravel()
    columns = (
        pl.Series(name, _merged_runs(rows[name], how, bounds)).cast(rows.schema[name])
        for name, how in hows.items()
    )
    return pl.DataFrame(columns)


def can_run(column: pl.Series, how: Merge) -> bool:
    """Whether `running` has the values of the column."""
    return column.dtype == pl.Int64 and how in _MERGING


def running(column: pl.Series, how: Merge, starts: Longs) -> pl.Series:
    """Per row the values of its group up to it, merged; NULL counts for nothing. Rows of a group
    are adjacent; each has the position of the group's first one.
    """
    if how is Merge.TOTAL:
        return pl.Series(column.name, _running_total(column.fill_null(0).to_numpy(), starts))
    known = column.is_not_null().to_numpy()
    values, run = column.drop_nulls().to_numpy(), np.cumsum(starts == np.arange(starts.size)) - 1
    # Unlike the negative, the complement exists for each number.
    signed = values if how is Merge.GREATEST else ~values
    found = largest_so_far(signed, run[known])
    found = found if how is Merge.GREATEST else ~found
    if known.all():
        return pl.Series(column.name, found)
    # A row without a value has the extreme of the last one before it that has one.
    place = np.cumsum(known) - 1
    nothing_yet = _running_total(known.astype(np.int64), starts) == 0
    return pl.Series(column.name, np.append(found, 0)[place]).set(pl.Series(nothing_yet), None)


def _running_total(values: _Values, starts: Longs) -> _Values:
    sums = np.cumsum(values)
    if starts[-1:].any():
        sums -= (sums - values)[starts]
    return sums


def _merged_runs(column: pl.Series, how: Merge, bounds: Longs) -> _Values:
    values = _as_numbers(column, how)
    # A run may end where there is no row any more.
    closed = np.append(values, values[:1])
    return _MERGING[how].reduceat(closed, bounds)[::2] if bounds.size else values[:0]


def _is_plain(column: pl.Series, how: Merge) -> bool:
    if how is Merge.TOTAL:
        return column.dtype in (pl.Int64, pl.Float64)
    extreme = how in (Merge.LEAST, Merge.GREATEST)
    return extreme and column.dtype in (*_SIGNED, pl.Boolean) and not column.null_count()


def _merged(column: pl.Series, how: Merge, number: Longs, size: int) -> _Values:
    """The merged value per number."""
    values = _as_numbers(column, how)
    bounds = np.iinfo(np.int64)
    nothing = {Merge.TOTAL: 0, Merge.LEAST: bounds.max, Merge.GREATEST: bounds.min}
    result = np.full(size, nothing[how], dtype=values.dtype)
    _MERGING[how].at(result, number, values)
    return result


_MERGING: Final = {Merge.TOTAL: np.add, Merge.LEAST: np.minimum, Merge.GREATEST: np.maximum}


def _as_numbers(column: pl.Series, how: Merge) -> _Values:
    return (column.fill_null(0) if how is Merge.TOTAL else column.cast(pl.Int64)).to_numpy()


def _first_places(number: Longs, size: int) -> Longs:
    """The first position of each number, ascending."""
    place = np.full(size, number.size)
    np.minimum.at(place, number, np.arange(number.size))
    is_first = np.zeros(number.size, dtype=np.bool_)
    is_first[place[place < number.size]] = True
    return np.flatnonzero(is_first)


def _numbers(rows: pl.DataFrame, by: Sequence[str]) -> tuple[Longs, int] | None:
    """Per row the number of its group, and an upper bound of all numbers."""
    limit = max(_SPARSE * rows.height, _FEW)
    number, size = np.zeros(rows.height, dtype=np.int64), 1
    for name in by:
        found = _numbers_of(rows[name], limit)
        if found is None:
            return None
        own, width = found
        number, size = number * width + own, size * width
        if size > limit:
            number, size = _encoded(in_arrow(number))
    return number, size


def _numbers_of(column: pl.Series, limit: int) -> tuple[Longs, int] | None:
    """Per row the number of its value: the difference from the minimum, or by a dictionary."""
    column = column.to_physical()
    if column.dtype in _SIGNED and not column.null_count():
        values = column.cast(pl.Int64).to_numpy()
        least, width = int(values.min()), int(values.max()) - int(values.min()) + 1
        if width <= limit and (width <= _FEW_VALUES or not _repeats(values)):
            return values - least, width
        return _encoded(in_arrow(values))
    if column.dtype in (*_SIGNED, *_OTHERS):
        return _encoded(column.to_arrow(compat_level=pl.CompatLevel.oldest()))
    # Floating-point numbers have two zeros, other types have parts.
    return None


def _repeats(values: Longs) -> bool:
    """Whether the column seems to have few values, however far apart."""
    some = values[:: max(1, values.size // _SAMPLE)].tolist()
    return len(set(some)) <= min(len(some) // 2, _FEW_VALUES)


def _encoded(values: pa.Array) -> tuple[Longs, int]:
    encoded = values.dictionary_encode(null_encoding="encode")
    return of_arrow(encoded.indices), len(encoded.dictionary)
