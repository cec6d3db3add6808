"""Puts matching rows of two sides next to each other."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.tables import Longs

JoinType = Literal["inner", "left"]


def user_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without what only kernels need; a row kind is kept."""
    return frame.drop(HASH, TIME, SEQUENCE, strict=False)


def join_rows(
    left: pl.DataFrame,
    right: pl.DataFrame,
    match: Longs,
    how: JoinType,
) -> pl.DataFrame:
    """Each left row next to the right row at its position in `match`; -1 means no match."""
    if how == "left":
        return left.hstack(_rows_or_nulls(right, match))
    matched = np.flatnonzero(match >= 0)
    if matched.size < match.size:
        left, match = left[matched], match[matched]
    return left.hstack(right[match])


def _rows_or_nulls(rows: pl.DataFrame, positions: Longs) -> pl.DataFrame:
    if rows.is_empty():
        return rows.clear(len(positions))
    known = pl.Series(positions).replace(-1, None)
    return rows.select(pl.all().gather(known))
