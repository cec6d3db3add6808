"""Changelogs as Arrow tables, and the rows that result from applying one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.errors import DataError
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
        for row in python_rows(batch):
            yield Change(row.pop(KIND) if has_kinds else "+I", row)


def python_rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows as values of Python, which has no dates beyond 9999. Maps whose keys are arrays or
    rows are lists of pairs, because such keys cannot be those of a dict."""
    try:
        rows: list[dict[str, Any]] = table.to_pylist(maps_as_pydicts="lossy")
    except UnicodeDecodeError:
        # Spark keeps the bytes of a file as strings, whatever they are.
        rows = _with_valid_strings(table).to_pylist(maps_as_pydicts="lossy")
    except TypeError:
        names, columns = table.schema.names, map(_values, table.columns)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    except (OverflowError, ValueError) as problem:
        raise _beyond_python(table) or problem from None
    return rows


def _values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except TypeError:
        values = column.to_pylist()
    return values


def _with_valid_strings(table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """The rows with U+FFFD for bytes of strings that are not UTF-8, as in Flink."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            values = table.column(place).cast(pa.large_binary()).to_pylist()
            strings = [None if v is None else v.decode("utf-8", "replace") for v in values]
            table = table.set_column(place, field, pa.array(strings, field.type))
    return table


def _beyond_python(table: pa.Table | pa.RecordBatch) -> DataError | None:
    columns = zip(table.schema.names, table.columns, strict=True)
    names = [f"`{name}`" for name, values in columns if not _has_python_values(values)]
    if not names:
        return None
    return DataError(
        f"column {' and '.join(names)} has a date or time beyond the years 1 to 9999",
        hint="exclude such rows, or cast the column to STRING",
    )


def _has_python_values(values: pa.Array | pa.ChunkedArray) -> bool:
    try:
        values.to_pylist(maps_as_pydicts="lossy")
    except (OverflowError, ValueError):
        return False
    return True


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
