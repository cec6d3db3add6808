"""What rows are ordered by, and how they are sorted by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs

_WHOLE: Final = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Boolean),
    *(pl.Date, pl.Time, pl.Datetime, pl.Duration),
)
_PLACE: Final = "_tm_place"


@dataclass(frozen=True, slots=True)
class Order:
    """A column that rows are ordered by."""

    column: str
    descending: bool = False
    nulls_last: bool = False


def in_order(rows: pl.DataFrame, by: Sequence[Order]) -> pl.DataFrame:
    """The rows in this order, equal ones as they came."""
    return rows[places_in_order(rows, by)]


def places_in_order(rows: pl.DataFrame, by: Sequence[Order]) -> Longs:
    """The positions of the rows in this order, equal ones as they came."""
    if all(rows.schema[one.column].base_type() in _WHOLE for one in by):
        # Several times as quick as sorting by several columns of any type.
        numbers = (column for one in by for column in _as_numbers(rows[one.column], one))
        return stable_order_by(*numbers)
    placed = rows.select({one.column for one in by}).with_row_index(_PLACE)
    ordered = placed.sort(
        [one.column for one in by],
        descending=[one.descending for one in by],
        nulls_last=[one.nulls_last for one in by],
        maintain_order=True,
    )
    return longs(ordered, _PLACE)


def _as_numbers(column: pl.Series, one: Order) -> Iterator[Longs]:
    """Numbers in the same order: whether there is a value, if NULLs are among them; the value."""
    if column.null_count():
        is_null = column.is_null() if one.nulls_last else column.is_not_null()
        yield is_null.cast(pl.Int64).to_numpy()
    values = column.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    # Unlike the negative, the complement exists for each number.
    yield np.invert(values) if one.descending else values
