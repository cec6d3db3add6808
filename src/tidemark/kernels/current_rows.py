"""The rows that a changelog leaves."""

from __future__ import annotations

import polars as pl

from tidemark.kernels.columns import ACCUMULATE, KIND

_COUNT = "_tm_count"


def current_rows(changes: pl.DataFrame) -> pl.DataFrame:
    """The rows after all changes, each of which retracts or adds a whole row."""
    columns = [name for name in changes.columns if name != KIND]
    change = pl.when(pl.col(KIND).is_in(ACCUMULATE)).then(1).otherwise(-1)
    counts = changes.group_by(columns, maintain_order=True).agg(change.sum().alias(_COUNT))
    left = counts.filter(pl.col(_COUNT) > 0)
    places = pl.int_range(pl.len()).repeat_by(_COUNT).explode()
    return left.select(pl.col(columns).gather(places))
