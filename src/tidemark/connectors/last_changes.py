"""Of several changes of a key the last one, as sinks that write by key need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidemark.kernels.columns import KIND

if TYPE_CHECKING:
    import polars as pl

# Whether a row goes.
GONE: Final = "gone"


def with_gone(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The columns under these names, and whether rows go; those of an append-only query come."""
    import polars as pl

    if KIND not in rows.columns:
        rows = rows.with_columns(pl.lit("+I").alias(KIND))
    rows = rows.rename(dict(zip(rows.drop(KIND).columns, columns, strict=True)))
    return rows.with_columns(pl.col(KIND).is_in(["-U", "-D"]).alias(GONE)).drop(KIND)


def last_changes(rows: pl.DataFrame, keys: Sequence[str], *, retracts: bool) -> pl.DataFrame:
    """The last change of each key, in a task. Rows that `retract` come with those they replace."""
    import polars as pl

    marked = rows.with_columns(pl.col(GONE).first().over(keys).alias("went_first"))
    last = marked.unique(keys, keep="last", maintain_order=True)
    # What has come and gone within the task was never there: the row that the table has may be one
    # of another task.
    kept = last.filter(~pl.col(GONE) | pl.col("went_first")) if retracts else last
    return kept.drop("went_first")


def of_tasks(pieces: Sequence[Sequence[pl.DataFrame]], keys: Sequence[str]) -> pl.DataFrame:
    """The last change of each key, given the pieces of tasks. If a row stays in one task and goes
    in another, it has moved between them: it stays."""
    import polars as pl

    latest = [
        pl.concat(task).unique(keys, keep="last", maintain_order=True) for task in pieces if task
    ]
    every = pl.concat(latest).sort(GONE, maintain_order=True)
    return every.unique(keys, keep="first", maintain_order=True)
