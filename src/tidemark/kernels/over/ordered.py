"""Sorts the rows of partitions by columns of any type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.order import Order, in_order
from tidemark.kernels.over.frames import Values
from tidemark.kernels.over.partitions import RowPartitions, changes
from tidemark.kernels.over.sorted_rows import PARTITION, SortedRows
from tidemark.kernels.ranges import Flags
from tidemark.kernels.tables import Longs, longs

_MS_PER_DAY = 86_400_000


def ordered(rows: pl.DataFrame, partition: Longs, order: Sequence[Order]) -> SortedRows:
    """The rows of each partition in this order, equal ones as they arrived. Their position is
    their number in the sequence."""
    numbered = rows.with_columns(pl.Series(PARTITION, partition, pl.Int64))
    numbered = in_order(numbered, (Order(PARTITION), *order, Order(SEQUENCE)))
    numbered = numbered.with_columns(pl.Series(SEQUENCE, np.arange(rows.height), pl.Int64))
    begins = changes(longs(numbered, PARTITION))
    partitions = RowPartitions.of(begins, begins | _differs(numbered, order))
    if len(order) != 1:
        return SortedRows(numbered, partitions, np.zeros(rows.height, dtype=np.int64))
    column = numbered[order[0].column]
    values, unit = _as_numbers(column)
    values, known = -values if order[0].descending else values, column.is_not_null().to_numpy()
    return SortedRows(numbered, partitions, values, known, unit)


def _differs(rows: pl.DataFrame, order: Sequence[Order]) -> Flags:
    """Whether a row differs from the one before it in what rows are ordered by."""
    differs = np.zeros(rows.height, dtype=np.bool_)
    for one in order:
        column = rows[one.column]
        differs |= column.ne_missing(column.shift(1)).to_numpy()
    return differs


def _as_numbers(column: pl.Series) -> tuple[Values, int]:
    """What the values are as numbers, and how many make the unit of a frame's distances: one, or a
    millisecond. Values that have no distance are zeros.
    """
    match column.dtype:
        case pl.Date():
            return _longs(column) * _MS_PER_DAY, 1
        case pl.Datetime():
            return _longs(column.cast(pl.Datetime("us"))), 1000
        case pl.Time():
            return _longs(column), 1_000_000
        case pl.Decimal(scale=scale):
            scaled = (column.cast(pl.Decimal(38, scale)) * 10**scale).cast(pl.Int64, strict=False)
            return _longs(scaled), 10**scale
        case dtype if dtype.is_integer():
            return _longs(column), 1
        case dtype if dtype.is_float():
            return column.fill_null(0).cast(pl.Float64).to_numpy(), 1
    return np.zeros(column.len(), dtype=np.int64), 1


def _longs(column: pl.Series) -> Values:
    return column.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
