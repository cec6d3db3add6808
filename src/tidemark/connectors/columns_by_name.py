"""The columns of a file that has names and types, as those of a table: found by name, not cast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import NotSupported

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# How many rows are read at a time.
ROWS = 1 << 16
ON_SPARK = "change the type of the column, or run on Spark, which converts some types"


def names_in(schema: pa.Schema, fields: Sequence[FormatField]) -> list[str | None]:
    """The columns of the fields in the file. Case does not matter."""
    there = {name.lower(): name for name in schema.names}
    return [there.get(field.name.lower()) for field in fields]


def misfit(
    schema: pa.Schema,
    fields: Sequence[FormatField],
    fits: Callable[[str, pa.DataType, t.DataType], bool],
) -> str | None:
    """What is wrong with the file's columns; `fits` says whether one is of the wanted type."""
    counts = Counter(map(str.lower, schema.names))
    for field, name in zip(fields, names_in(schema, fields), strict=True):
        if name is None:
            continue
        if counts[name.lower()] > 1:
            return f"columns of the file differ from `{name}` only in case"
        found = schema.field(name).type
        if not fits(name, found, field.type):
            return f"column `{name}` is {found}, which cannot be read as {field.type.text()}"
    return None


_WIDER = (t.TinyInt, t.SmallInt, t.Int, t.BigInt)


def reads(found: pa.DataType, wanted: t.DataType) -> bool:
    """Whether each value of the one type is a value of the other."""
    from tidemark.columns import polars_type
    from tidemark.functions.arrow_types import from_arrow

    if "[ns" in str(found):
        return False
    try:
        own = from_arrow(found)
    except NotSupported:
        return False
    if polars_type(own) == polars_type(wanted):
        return True
    if isinstance(own, t.Decimal) and isinstance(wanted, t.Decimal):
        digits = wanted.precision - wanted.scale
        return own.scale <= wanted.scale and own.precision - own.scale <= digits
    if isinstance(own, _WIDER) and isinstance(wanted, _WIDER):
        return _WIDER.index(type(own)) <= _WIDER.index(type(wanted))
    return isinstance(own, t.Float) and isinstance(wanted, t.Double)


def frame_of(batch: pa.RecordBatch) -> pl.DataFrame:
    """The columns of a batch. Fields of rows have safe names, as in all frames."""
    import polars as pl

    rows = pl.from_arrow(with_safe_names(batch))
    assert isinstance(rows, pl.DataFrame)
    return rows


def with_safe_names(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with the names that fields of rows have in frames, and in Spark."""
    import pyarrow as pa

    from tidemark.functions.arrow_types import safely_named

    columns = []
    for values in batch.columns:
        safe = safely_named(values.type)
        columns.append(values if safe == values.type else values.view(safe))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def column(field: FormatField, name: str | None) -> pl.Expr:
    import polars as pl

    from tidemark.columns import polars_type

    value = pl.lit(None) if name is None else pl.col(name)
    # Times of instants may lack their zone: it is UTC.
    return value.cast(polars_type(field.type)).alias(field.name)


def nulls(fields: Sequence[FormatField], rows: int) -> pl.DataFrame:
    """Rows of a file that has none of the columns."""
    import polars as pl

    from tidemark.columns import polars_type

    columns = [
        pl.repeat(None, rows, dtype=polars_type(field.type), eager=True).alias(field.name)
        for field in fields
    ]
    return pl.DataFrame(columns)
