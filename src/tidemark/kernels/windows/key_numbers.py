"""Numbers for keys, fast if hashes are unique."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.sorting import ascends, stable_order
from tidemark.kernels.tables import Longs, longs

_PLACE: Final = "_tm_place"


def key_numbers(rows: pl.DataFrame, keys: tuple[str, ...]) -> Longs:
    """Per row a number below the number of rows, the same exactly for the same key."""
    order, along = by_key(rows, keys)
    numbers = np.empty(rows.height, dtype=np.int64)
    numbers[order] = along
    return numbers


def by_key(rows: pl.DataFrame, keys: tuple[str, ...]) -> tuple[Longs, Longs]:
    """An order in which rows of a key are adjacent and otherwise as they came; and, in that
    order, the numbers of the keys, which do not decrease.
    """
    if rows.is_empty():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    ordered = rows.select(HASH, *keys)
    order = np.arange(rows.height)
    if not ascends(longs(ordered, HASH)):
        order = _places(rows.select(pl.arg_sort_by(HASH, maintain_order=True).alias(_PLACE)))
        ordered = ordered[order]
    hashes = longs(ordered, HASH)
    differs = np.append(False, hashes[1:] != hashes[:-1])
    if not keys or not _collide(ordered.select(keys), differs):
        return order, np.cumsum(differs)
    # A key's number is the position of its first row.
    placed = rows.select(HASH, *keys).with_row_index(_PLACE)
    numbers = _places(placed.select(pl.col(_PLACE).first().over(HASH, *keys)))
    order = stable_order(numbers)
    return order, numbers[order]


def _places(rows: pl.DataFrame) -> Longs:
    return longs(rows, _PLACE)


def _collide(keys: pl.DataFrame, differs: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """Whether adjacent rows with one hash have different keys anywhere."""
    changes = pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1))).alias(HASH)
    changed = keys.select(changes)[HASH].to_numpy()
    return bool((changed[1:] & ~differs[1:]).any())
