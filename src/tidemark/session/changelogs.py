"""Changelogs as Arrow tables, and the rows that result from applying one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import Edge
from tidemark.rows import Change
from tidemark.session.arrow import empty
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def changes_of(table: pa.Table) -> Iterator[Change]:
    """The rows of an Arrow table as changes; without a kind column all are inserts."""
    has_kinds = KIND in table.column_names
    for batch in table.to_batches(max_chunksize=10_000):
        rows = batch.to_pylist(maps_as_pydicts="lossy")
        for row in rows:
            yield Change(row.pop(KIND) if has_kinds else "+I", row)


def applied(tables: Iterable[pa.Table], edge: Edge) -> pa.Table:
    """What remains of all inserts after all updates and deletes, in order of arrival."""
    import pyarrow as pa

    whole = pa.concat_tables(list(tables) or [empty(edge)])
    if edge.changelog is Changelog.APPEND:
        return whole
    if edge.changelog is Changelog.UPSERT and edge.keys:
        kept = _last_of_each_key(whole, edge.keys[0])
    else:
        kept = _not_retracted(whole, edge.names)
    return whole.take(kept).drop_columns([KIND])


def _last_of_each_key(table: pa.Table, key: Sequence[str]) -> pa.Array:
    frame = _hashable(table, key)
    last = frame.group_by(list(key), maintain_order=True).agg(_last("at"), _last(KIND))
    return last.filter(~_is_removal()).sort("at")["at"].to_arrow()


def _not_retracted(table: pa.Table, columns: Sequence[str]) -> pa.Array:
    """Each retraction removes one earlier row that is equal to it."""
    import polars as pl

    frame = _hashable(table, columns)
    removed = _is_removal().cast(pl.Int64)
    counted = frame.with_columns(
        taken=removed.sum().over(list(columns)),
        number=(1 - removed).cum_sum().over(list(columns)),
    )
    left = counted.filter(~_is_removal() & (pl.col("number") > pl.col("taken")))
    return left["at"].to_arrow()


def _hashable(table: pa.Table, columns: Sequence[str]) -> pl.DataFrame:
    """The columns with their row kind and position; nested values as strings, to compare them."""
    import polars as pl

    from tidemark.kernels.comparable import encoded

    frame = pl.from_arrow(table.select([*columns, KIND]))
    assert isinstance(frame, pl.DataFrame)
    values = [encoded(name, frame.schema[name]) for name in columns]
    return frame.with_columns(*values, at=pl.int_range(pl.len()))


def _last(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).last()


def _is_removal() -> pl.Expr:
    import polars as pl

    return pl.col(KIND).is_in(["-U", "-D"])
