"""Which rows can be among the first ones of their key at all. Most of a stream's rows cannot, and
that is known without sorting them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.keys import Keys
from tidemark.kernels.order import Order
from tidemark.kernels.ranges import Flags
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.tables import Longs

# Rows of one key are looked at in blocks of so many: each is compared with what came before it.
_BLOCK: Final = 1024


def may_be_first(
    stored: pl.DataFrame,
    rows: pl.DataFrame,
    keys: tuple[str, ...],
    order: Sequence[Order],
    high: int,
) -> Flags:
    """Which of the rows, in order of arrival, are not behind `high` others that came before them.

    It goes by the first column of the order, so that it may say yes too often.
    """
    _, numbers = Keys.numbering(keys, stored, rows)
    value = _places(pl.concat([stored[order[0].column], rows[order[0].column]]), order[0])
    mine, theirs = value[stored.height :], value[: stored.height]
    limit = np.full(int(max(map(_top, numbers))) + 1, AFTER_ALL, dtype=np.int64)
    groups, worst = nth(numbers[0], theirs, high)
    limit[groups] = worst
    bound = _bounds(numbers[1], mine, limit, high)
    # A row that equals an earlier one in the only column comes after it.
    return mine < bound if len(order) == 1 else mine <= bound


def _places(values: pl.Series, order: Order) -> Longs:
    """Numbers in the same order."""
    nulls = values.len() + 1 if order.nulls_last else 0
    ranks = values.rank("dense", descending=order.descending).fill_null(nulls)
    return np.asarray(ranks.cast(pl.Int64).to_numpy())


def _top(numbers: Longs) -> int:
    return int(numbers.max(initial=0))


def nth(group: Longs, value: Longs, place: int) -> tuple[Longs, Longs]:
    """The groups that have so many values, and the value at that place of each."""
    order = stable_order_by(group, value)
    group = group[order]
    last = np.arange(place - 1, group.size)
    full = last[group[last] == group[last - (place - 1)]]
    # Of the values at or after the place, the first one of each group.
    first = np.ones(full.size, dtype=bool)
    first[1:] = group[full[1:]] != group[full[:-1]]
    return group[full[first]], value[order][full[first]]


def _bounds(key: Longs, value: Longs, limit: Longs, high: int) -> Longs:
    """Per row the value that it must not exceed: its key's limit, or what is the last one of the
    first in an earlier block.
    """
    bound = limit[key]
    frequent = np.bincount(key, minlength=limit.size) > _BLOCK
    some = np.flatnonzero(frequent[key])
    if some.size:
        number = np.cumsum(frequent) - 1
        bound[some] = np.minimum(bound[some], _earlier(number[key[some]], value[some], high))
    return bound


def _earlier(key: Longs, value: Longs, high: int) -> Longs:
    """Per row the least of the last ones of the first in the earlier blocks of its key."""
    order = stable_order(key)
    block = np.empty(key.size, dtype=np.int64)
    block[order] = (np.arange(key.size) - np.searchsorted(key[order], key[order])) // _BLOCK
    keys, blocks = int(key.max()) + 1, int(block.max()) + 1
    # Before the first block there is nothing.
    best = np.full((keys, blocks + 1), AFTER_ALL, dtype=np.int64)
    groups, worst = nth(key * (blocks + 1) + block + 1, value, high)
    best.ravel()[groups] = worst
    return np.asarray(np.minimum.accumulate(best, axis=1)[key, block], dtype=np.int64)
