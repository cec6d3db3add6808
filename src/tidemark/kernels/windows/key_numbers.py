"""Numbers for keys, fast where hashes tell them apart."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.tables import Longs, longs

_PLACE: Final = "_tm_place"


def key_numbers(rows: pl.DataFrame, keys: tuple[str, ...]) -> Longs:
    """Per row a number below the number of rows, the same exactly for the same key."""
    if rows.is_empty():
        return np.zeros(0, dtype=np.int64)
    order = rows[HASH].arg_sort().to_numpy().astype(np.int64)
    hashes = longs(rows, HASH)[order]
    differs = np.append(False, hashes[1:] != hashes[:-1])
    if keys and _collide(rows.select(keys)[order], differs):
        # A key's number is the place of its first row.
        placed = rows.select(HASH, *keys).with_row_index(_PLACE)
        return longs(placed.select(pl.col(_PLACE).first().over(HASH, *keys)), _PLACE)
    numbers = np.empty(rows.height, dtype=np.int64)
    numbers[order] = np.cumsum(differs)
    return numbers


def _collide(keys: pl.DataFrame, differs: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """Whether neighbours of one hash are different keys anywhere."""
    changes = pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1))).alias(HASH)
    changed = keys.select(changes)[HASH].to_numpy()
    return bool((changed[1:] & ~differs[1:]).any())
