"""Parquet files as columns: by row groups, with only the columns and types of the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.base import Part
from tidemark.connectors.columns_by_name import (
    ON_SPARK,
    ROWS,
    column,
    frame_of,
    misfit,
    names_in,
    nulls,
)
from tidemark.connectors.filesystem.file_blocks import Unchanged, readable, unreadable
from tidemark.connectors.filesystem.layouts import Layout, RowGroup
from tidemark.connectors.filesystem.parquet_types import at_precision, fits, in_nanoseconds
from tidemark.connectors.filesystem.row_groups import Footer, footer_of, needed, needed_of
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.statistics import StatisticsTest
from tidemark.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData, ParquetFile


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """Reads the columns of these names; those that a file lacks are NULL. Row groups whose
    statistics do not pass the test are left out.
    """

    fields: tuple[FormatField, ...]
    count: Callable[[int, int], None] | None = None
    test: StatisticsTest | None = None

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        import polars as pl
        import pyarrow as pa

        unchanged = Unchanged(part)
        try:
            with readable(part.file), _opened(part.file) as file:
                if (wrong := misfit_of(file, self.fields)) is not None:
                    raise DataError(f"{part.file}  {wrong}", hint=ON_SPARK)
                names = names_in(file.schema_arrow, self.fields)
                columns = _columns(self.fields, names, _of_old_times(file))
                wanted = [name for name in names if name is not None]
                groups, rows = self._needed(file, part)
                unchanged.check()
                batches = file.iter_batches(ROWS, row_groups=groups, columns=wanted)
                for batch in _within(batches, rows):
                    unchanged.check()
                    if self.count is not None:
                        self.count(batch.num_rows, 0)
                    if not wanted:  # a batch without columns has no height
                        yield nulls(self.fields, batch.num_rows), {}
                        continue
                    yield frame_of(batch).select(columns), {}
        except pa.ArrowException as problem:
            raise unreadable(part.file, str(problem)) from None
        except pl.exceptions.InvalidOperationError as problem:  # an integer that does not fit
            raise unreadable(part.file, str(problem).partition("\n")[0]) from None

    def _needed(self, file: ParquetFile, part: Part) -> tuple[list[int], tuple[int, int] | None]:
        """The row groups to read of a part, and which of their rows."""
        every = _groups(file, part)
        if part.rows is None:
            return needed(file, every, self.fields, self.test), None
        rows = _rows_inside(file, every, part.rows)
        found = needed(file, [*rows], self.fields, self.test)
        # Only of the first and the last group some may be left out.
        sizes = [file.metadata.row_group(group).num_rows for group in found]
        if not found:
            return [], None
        left = sizes[-1] - rows[found[-1]][1]
        return found, (rows[found[0]][0], sum(sizes) - left)


def _columns(
    fields: Sequence[FormatField], names: Sequence[str | None], old: Collection[str]
) -> list[pl.Expr]:
    values = []
    for field, name in zip(fields, names, strict=True):
        value = column(field, name)
        is_old = name in old and isinstance(field.type, (t.Timestamp, t.TimestampLtz))
        values.append(at_precision(_before_1970(value, field) if is_old else value, field.type))
    return values


# What Arrow adds to a time in 96 bits whose nanoseconds within the day are negative.
_WRAPPED: Final = 2**64 // 1000
_SECOND: Final = 1_000_000
_LARGEST_IN_NANOSECONDS: Final = 2**63 // 1000


def _before_1970(times: pl.Expr, field: FormatField) -> pl.Expr:
    """Times in 96 bits as they are in the file: of whole seconds before 1970, Flink writes negative
    nanoseconds, which Arrow takes for others, so that 1965 becomes 2549.
    """
    import polars as pl

    from tidemark.columns import polars_type

    micros = times.dt.epoch("us")
    real = micros - _WRAPPED
    negative = (micros >= _LARGEST_IN_NANOSECONDS) & (real < 0) & (real % _SECOND == 0)
    meant = pl.when(negative).then(real.cast(polars_type(field.type))).otherwise(times)
    return meant.alias(field.name)


def size_of(file: str, names: Collection[str]) -> int:
    """About how many bytes the columns of these names take in memory."""
    with _opened(file) as opened:
        about = opened.metadata
    size = 0
    for group in map(about.row_group, range(about.num_row_groups)):
        for column_ in map(group.column, range(group.num_columns)):
            if column_.path_in_schema.split(".")[0] in names:
                size += column_.total_uncompressed_size
    return size


def _opened(file: str) -> ParquetFile:
    import pyarrow as pa
    from pyarrow import parquet

    with readable(file):
        if os.path.getsize(file) == 0:
            raise unreadable(file, "it is empty; even without rows a parquet file has a footer")
        try:
            return parquet.ParquetFile(
                file,
                coerce_int96_timestamp_unit="us",  # in nanoseconds, times would end in 2262
                page_checksum_verification=True,  # if the file has any
            )
        except pa.ArrowException as problem:
            raise unreadable(file, str(problem)) from None


def _within(
    batches: Iterator[pa.RecordBatch], rows: tuple[int, int] | None
) -> Iterator[pa.RecordBatch]:
    """Those of the rows that have these numbers; all if none are given."""
    if rows is None:
        yield from batches
        return
    first, end = rows
    position = 0
    for batch in batches:
        low, high = max(first - position, 0), min(end - position, batch.num_rows)
        if low < high:
            yield batch.slice(low, high - low)
        position += batch.num_rows
        if position >= end:
            return


def _rows_inside(
    file: ParquetFile, groups: Sequence[int], rows: tuple[int, int]
) -> dict[int, tuple[int, int]]:
    """The groups that have rows with these numbers, and which of their own rows these are."""
    found, before = {}, 0
    for group in groups:
        size = file.metadata.row_group(group).num_rows
        first, end = max(rows[0] - before, 0), min(rows[1] - before, size)
        if first < end:
            found[group] = (first, end)
        before += size
    return found


def layouts(files: Sequence[str], read: ParquetColumns) -> list[Layout]:
    """Where the row groups of files begin, and which of them are needed."""
    found = [_layout(file, read) for file in files]
    needed = needed_of([footer for _, footer in found], read.fields, read.test)
    return [layout.only(groups) for (layout, _), groups in zip(found, needed, strict=True)]


def _layout(file: str, read: ParquetColumns) -> tuple[Layout, Footer]:
    import pyarrow as pa

    unknown = Footer((), (), ())
    try:
        with _opened(file) as opened:
            if misfit_of(opened, read.fields) is not None:
                return Layout(fits=False), unknown
            about = opened.metadata
            every = range(about.num_row_groups)
            groups = [RowGroup(_start_of(about, n), about.row_group(n).num_rows) for n in every]
            return Layout(groups=groups), footer_of(opened, every, read.fields, read.test)
    except (pa.ArrowException, DataError):
        return Layout(), unknown


def _groups(file: ParquetFile, part: Part) -> list[int]:
    """The row groups that begin in the part."""
    about, end = file.metadata, part.end
    starts = (_start_of(about, group) for group in range(about.num_row_groups))
    return [
        group
        for group, start in enumerate(starts)
        if part.start <= start and (end is None or start < end)
    ]


def _start_of(about: FileMetaData, group: int) -> int:
    column = about.row_group(group).column(0)
    pages = (column.dictionary_page_offset, column.data_page_offset)
    return min(int(page) for page in pages if page)


def only_workers_read(file: str, read: ParquetColumns) -> bool:
    """Whether a file has columns of the table that workers read, but not Spark."""
    try:
        with _opened(file) as opened:
            names = names_in(opened.schema_arrow, read.fields)
            return misfit_of(opened, read.fields) is None and in_nanoseconds(
                opened.schema_arrow, names
            )
    except DataError:
        return False  # who reads it says what is wrong


def misfit_of(file: ParquetFile, fields: Sequence[FormatField]) -> str | None:
    """What is wrong with the file's columns, if anything."""
    old = _of_old_times(file)

    def reads(name: str, found: pa.DataType, wanted: t.DataType) -> bool:
        return fits(found, _without_zones(wanted) if name in old else wanted)

    return misfit(file.schema_arrow, fields, reads)


def _of_old_times(file: ParquetFile) -> set[str]:
    """The columns with times in 96 bits, which do not say whether they are instants. Spark writes
    instants so, Flink TIMESTAMP as well.
    """
    leaves = map(file.schema.column, range(len(file.schema.names)))
    return {leaf.path.partition(".")[0] for leaf in leaves if leaf.physical_type == "INT96"}


def _without_zones(type_: t.DataType) -> t.DataType:
    """The type with TIMESTAMP in place of TIMESTAMP_LTZ."""
    match type_:
        case t.TimestampLtz(precision=precision):
            return t.Timestamp(precision)
        case t.Array(element=element):
            return t.Array(_without_zones(element))
        case t.Map(key=key, value=value):
            return t.Map(_without_zones(key), _without_zones(value))
        case t.Row(fields=fields):
            return t.Row(tuple(replace(each, type=_without_zones(each.type)) for each in fields))
    return type_
