"""Rows of PostgreSQL as Polars' columns, and the keys that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.postgres.connections import name
from tidemark.connectors.jdbc.postgres.types import as_wanted, staged, stored
from tidemark.connectors.jdbc.values import WrongValue, read_values
from tidemark.functions.arrow_types import loose_arrow
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from adbc_driver_manager.dbapi import Cursor

# How much of a table a frame has, about.
_BLOCK_BYTES: Final = 16 << 20
# Years that Python and Spark have, in days and microseconds since 1970.
_DAYS: Final = -719_162, 2_932_896
_MICROSECONDS: Final = -62_135_596_800_000_000, 253_402_300_799_999_999
# The last microsecond of a day.
_LAST_TIME: Final = 86_399_999_999


def fetched(
    cursor: Cursor,
    query: str,
    types: Mapping[str, DataType],
    parameters: pa.RecordBatch | None = None,
) -> Iterator[pl.DataFrame]:
    """The rows of a query whose columns were asked for as these types."""
    import polars as pl

    hint = {"adbc.postgresql.batch_size_hint_bytes": str(_BLOCK_BYTES)}
    cursor.adbc_statement.set_options(**hint)
    cursor.execute(query, parameters)
    for batch in cursor.fetch_record_batch():
        if batch.num_rows:
            _check_midnights(batch)
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield read_values(frame, types, _value)


def _value(values: pl.Series, wanted: DataType) -> pl.Series:
    _check_years(values)
    return as_wanted(values, wanted)


def _check_midnights(batch: pa.RecordBatch) -> None:
    """That no time, also in arrays, is 24:00:00, of which Polars makes NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for field, column in zip(batch.schema, batch.columns, strict=True):
        single = column.flatten() if pa.types.is_list(field.type) else column
        if not pa.types.is_time64(single.type):
            continue
        last = pc.max(single.cast(pa.int64())).as_py()
        if last is not None and last > _LAST_TIME:
            raise WrongValue(field.name, "the time 24:00:00", "which only PostgreSQL has")


def _check_years(values: pl.Series) -> None:
    """That dates and times, also those in arrays, have years that exist elsewhere, too."""
    import polars as pl

    single = values.explode() if isinstance(values.dtype, pl.List) else values
    if single.dtype == pl.Date:
        what, (first, last) = "a date", _DAYS
    elif isinstance(single.dtype, pl.Datetime):
        what, (first, last) = "a time", _MICROSECONDS
    else:
        return
    if not single.cast(pl.Int64).is_between(first, last).all():
        raise WrongValue(
            values.name,
            f"{what} that is not in the years 1 to 9999",
            "such as 'infinity', which only PostgreSQL has",
        )


# --- keys --------------------------------------------------------------------------------------


def with_keys(query: str, columns: Sequence[StoredColumn], types: Sequence[DataType]) -> str:
    """The same rows, but only those of keys, which come as one array each."""
    numbered = list(enumerate(zip(columns, types, strict=True), start=1))
    arrays = ", ".join(f"${place}::{staged(type_)}[]" for place, (_, type_) in numbered)
    names = ", ".join(f"k{place}" for place, _ in numbered)
    same = " AND ".join(_same(f"wanted.k{n}", column, type_) for n, (column, type_) in numbered)
    return f"{query} JOIN unnest({arrays}) AS wanted ({names}) ON {same}"


def _same(wanted: str, column: StoredColumn, type_: DataType) -> str:
    return f"own.{name(column.name)} = {stored(wanted, type_, column) or wanted}"


def row_of_keys(keys: pl.DataFrame, types: Sequence[DataType]) -> pa.RecordBatch:
    """A row with all keys."""
    import polars as pl
    import pyarrow as pa

    arrays = []
    for type_, values in zip(types, keys.iter_columns(), strict=True):
        plain = values.to_arrow(compat_level=pl.CompatLevel.oldest())
        typed = plain.cast(sent_as(type_))
        arrays.append(pa.ListArray.from_arrays(pa.array([0, len(typed)], pa.int32()), typed))
    return pa.RecordBatch.from_arrays(arrays, [f"k{n}" for n in range(len(arrays))])


def sent_as(type_: DataType) -> pa.DataType:
    """The Arrow type of what is sent. PostgreSQL has no integers of one byte."""
    match type_:
        case t.TinyInt():
            return loose_arrow(t.SmallInt())
        case t.Array(element=t.TinyInt()):
            return loose_arrow(t.Array(t.SmallInt()))
    return loose_arrow(type_)
