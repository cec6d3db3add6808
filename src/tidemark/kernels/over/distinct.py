"""How many distinct values are in each of many frames, without lists of values.

Where frames only move forward, a value counts from when its row enters the frame until the row
leaves it or the next row with the same value enters. So each row changes the count twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemark.kernels.aggregates.scope import AggregateScope
from tidemark.kernels.over.spec import OverCall
from tidemark.kernels.sorting import ascends
from tidemark.kernels.tables import Longs

_VALUE = "_tm_value"
_PLACE = "_tm_place"


def counts_distinct(call: OverCall) -> bool:
    return call.function == "COUNT" and call.call.distinct


def move_forward(first: Longs, end: Longs) -> bool:
    return ascends(first) and ascends(end)


def counts_of_distinct(
    rows: pl.DataFrame, calls: Sequence[OverCall], first: Longs, end: Longs
) -> list[pl.Series]:
    """The results of calls of COUNT(DISTINCT) for frames that move forward."""
    results = []
    for call in calls:
        value = AggregateScope(call.call, retracts=False, by_arrival=False).value
        counts = _counts(rows.select(value.alias(_VALUE)).to_series(), first, end)
        results.append(pl.Series(call.output, counts).cast(call.call.dtype))
    return results


def _counts(values: pl.Series, first: Longs, end: Longs) -> Longs:
    place = np.flatnonzero(values.is_not_null().to_numpy())
    following = pl.col(_PLACE).shift(-1).over(_VALUE).fill_null(values.len())
    placed = values.to_frame(_VALUE).with_columns(pl.Series(_PLACE, np.arange(values.len())))
    again = placed.select(following).to_series().to_numpy()[place]
    # The frames that are the first to contain the row, to be past it, and to contain the next one.
    enters = np.searchsorted(end, place, side="right")
    passed = np.searchsorted(first, place, side="right")
    replaced = np.searchsorted(end, again, side="right")
    leaves = np.maximum(enters, np.minimum(passed, replaced))
    size = first.size + 1
    changes = np.bincount(enters, minlength=size) - np.bincount(leaves, minlength=size)
    return np.asarray(np.cumsum(changes)[:-1], dtype=np.int64)
