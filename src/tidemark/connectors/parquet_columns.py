"""Parquet files as columns: by row groups, with only the columns and types of the table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.base import Part
from tidemark.connectors.file_blocks import Unchanged, readable, unreadable
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError, NotSupported

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

_ROWS = 1 << 16
_ON_SPARK = "change the type of the column, or run on Spark, which converts some types"


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """Reads the columns of these names; those that a file lacks are NULL."""

    fields: tuple[FormatField, ...]
    count: Callable[[int, int], None] | None = None

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        import polars as pl
        import pyarrow as pa

        unchanged = Unchanged(part)
        try:
            with readable(part.file), _opened(part.file) as file:
                misfit = _misfit(file, self.fields)
                if misfit is not None:
                    raise DataError(f"{part.file}  {misfit}", hint=_ON_SPARK)
                names = _names(file, self.fields)
                wanted = [name for name in names if name is not None]
                groups = _groups(file, part)
                unchanged.check()
                for batch in file.iter_batches(_ROWS, row_groups=groups, columns=wanted):
                    unchanged.check()
                    if self.count is not None:
                        self.count(batch.num_rows, 0)
                    if not wanted:  # a batch without columns has no height
                        yield _empty(self.fields, batch.num_rows), {}
                        continue
                    rows = pl.from_arrow(batch)
                    assert isinstance(rows, pl.DataFrame)
                    yield rows.select(map(_column, self.fields, names)), {}
        except pa.ArrowException as problem:
            raise unreadable(part.file, str(problem)) from None


def fit(files: Sequence[str], fields: Sequence[FormatField]) -> bool:
    """Whether the columns of all files have types that are read without a cast of values."""
    import pyarrow as pa

    try:
        for name in files:
            with _opened(name) as file:
                if _misfit(file, fields) is not None:
                    return False
    except (pa.ArrowException, DataError):
        return True  # which is for the worker that reads the file to say
    return True


def _opened(file: str) -> ParquetFile:
    from pyarrow import parquet

    with readable(file):
        if os.path.getsize(file) == 0:
            raise unreadable(file, "it is empty; even without rows a parquet file has a footer")
        return parquet.ParquetFile(
            file,
            coerce_int96_timestamp_unit="us",  # in nanoseconds, times would end in the year 2262
            page_checksum_verification=True,  # if the file has any
        )


def _groups(file: ParquetFile, part: Part) -> list[int]:
    """The row groups that begin in the part."""
    about = file.metadata
    starts = [_start(about.row_group(group).column(0)) for group in range(about.num_row_groups)]
    end = part.end
    return [
        group
        for group, start in enumerate(starts)
        if part.start <= start and (end is None or start < end)
    ]


def _start(column: pa.parquet.ColumnChunkMetaData) -> int:
    pages = (column.dictionary_page_offset, column.data_page_offset)
    return min(int(page) for page in pages if page)


def _names(file: ParquetFile, fields: Sequence[FormatField]) -> list[str | None]:
    """The columns of the fields in the file. Case does not matter."""
    there = {name.lower(): name for name in file.schema_arrow.names}
    return [there.get(field.name.lower()) for field in fields]


def _misfit(file: ParquetFile, fields: Sequence[FormatField]) -> str | None:
    """What is wrong with the file's columns."""
    counts, old = Counter(map(str.lower, file.schema_arrow.names)), _of_old_times(file)
    for field, name in zip(fields, _names(file, fields), strict=True):
        if name is None:
            continue
        if counts[name.lower()] > 1:
            return f"columns of the file differ from `{name}` only in case"
        found = file.schema_arrow.field(name).type
        if name in old:
            fits = found == old[name] and isinstance(field.type, t.TimestampLtz)
        else:
            fits = _reads(found, field.type)
        if not fits:
            return f"column `{name}` is {found}, which cannot be read as {field.type.text()}"
    return None


def _of_old_times(file: ParquetFile) -> dict[str, pa.DataType]:
    """The columns with times in 96 bits, which are instants without saying so."""
    import pyarrow as pa

    leaves = map(file.schema.column, range(len(file.schema.names)))
    roots = {leaf.path.partition(".")[0] for leaf in leaves if leaf.physical_type == "INT96"}
    return dict.fromkeys(roots, pa.timestamp("us"))


_WIDER = (t.TinyInt, t.SmallInt, t.Int, t.BigInt)


def _reads(found: pa.DataType, wanted: t.DataType) -> bool:
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


def _column(field: FormatField, name: str | None) -> pl.Expr:
    import polars as pl

    from tidemark.columns import polars_type

    value = pl.lit(None) if name is None else pl.col(name)
    # Times of instants may lack their zone: it is UTC.
    return value.cast(polars_type(field.type)).alias(field.name)


def _empty(fields: Sequence[FormatField], rows: int) -> pl.DataFrame:
    import polars as pl

    from tidemark.columns import polars_type

    columns = [
        pl.repeat(None, rows, dtype=polars_type(field.type), eager=True).alias(field.name)
        for field in fields
    ]
    return pl.DataFrame(columns)
