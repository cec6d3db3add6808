"""Files read as columns in this process, without Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem import partition_values
from tidemark.connectors.filesystem.avro_columns import AvroFiles
from tidemark.connectors.filesystem.file_blocks import (
    BLOCK,
    Cut,
    LineCut,
    blocks,
    can_open,
    lines_before,
)
from tidemark.connectors.filesystem.orc_columns import OrcColumns
from tidemark.connectors.filesystem.parquet_columns import ParquetColumns
from tidemark.connectors.filesystem.partition_pruning import files_read, may_have_rows
from tidemark.connectors.filesystem.places import existing
from tidemark.connectors.formats.base import FormatField, names_read
from tidemark.connectors.statistics import StatisticsTest
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError, NeedsSpark
from tidemark.kernels.columns import KIND, PLACE
from tidemark.runtime.ahead import ahead

if TYPE_CHECKING:
    import polars as pl

    from tidemark.formats.decoded import Decoded, Decoder

Frames = Iterator["pl.DataFrame"]


def read(
    request: ColumnsRequest, fields: Sequence[FormatField], metadata: Mapping[str, t.DataType]
) -> Callable[[], Frames]:
    """The rows of a table's files, in order of name."""
    _check_partitions(request)
    # Who asks for parts has seen the files; where a worker is, a relative path may be another one.
    parts = _all_files(request) if request.parts is None else request.parts
    described = _Described(request, metadata)
    read_file = reader(request, fields)
    wanted = may_have_rows(request)

    def frames() -> Frames:
        for part in parts:
            if not wanted(part.file):
                continue
            for rows, about in read_file(part):
                yield described.rows(rows, about, part.file)

    return frames


def _all_files(request: ColumnsRequest) -> Sequence[Part]:
    place = existing(request.table, request.options)
    if not place.local:
        raise NeedsSpark(f"reading {place.path}", source=request.table.source)
    files = files_read(request, place)
    for file in files:
        if not can_open(file):
            raise NeedsSpark(f"reading {file}", source=request.table.source)
    return [*map(Part, files)]


def _check_partitions(request: ColumnsRequest) -> None:
    for column in request.table.columns:
        if not isinstance(column, PhysicalColumn) or partition_values.can_read(column.type):
            continue
        if column.name in request.table.partitioned_by:
            what = f"a partition column of type {column.type.text()}"
            raise NeedsSpark(what, source=request.table.source)


# Takes the number of rows of a block, and of bad records that were left out.
Count = Callable[[int, int], None]
# Reads a part of a file: columns by their names in the table, and metadata and kinds of records.
ReadFile = Callable[[Part], Iterator[tuple["pl.DataFrame", Mapping[str, "pl.Series"]]]]


# Formats whose files say which columns they have.
WITH_COLUMNS: Mapping[str, Callable[[tuple[FormatField, ...], Count | None], ReadFile]] = {
    "avro": AvroFiles,
    "orc": OrcColumns,
    "parquet": ParquetColumns,
}


def reader(
    request: ColumnsRequest, fields: Sequence[FormatField], few: int | None = None
) -> ReadFile:
    name = request.options["format"].lower()
    read = names_read(fields, request.read)
    from tidemark.formats.decoders import CHANGELOG_DECODERS, DECODERS

    if name not in (*WITH_COLUMNS, *DECODERS, *CHANGELOG_DECODERS):
        raise NeedsSpark(f"the format '{name}'", source=request.table.source)
    keys = [key for key in request.metadata if key not in _ABOUT_FILES]
    return reading(
        name,
        fields,
        request.options,
        read=read,
        metadata=keys,
        few=few,
        count=request.count,
        narrow=dict(request.rows_read),
        threads=request.threads,
        test=StatisticsTest.of(request),
    )


def reading(
    format_: str,
    fields: Sequence[FormatField],
    options: Mapping[str, Any],
    *,
    read: frozenset[str],
    metadata: Sequence[str] = (),
    few: int | None = None,
    count: Count | None = None,
    narrow: Mapping[str, t.Row] | None = None,
    threads: int = 1,
    test: StatisticsTest | None = None,
) -> ReadFile:
    """What reads files of a format that workers know; of rows, perhaps only `narrow` ones, and none
    that do not pass the test.
    """
    if format_ in WITH_COLUMNS:
        found = WITH_COLUMNS[format_](tuple(f for f in fields if f.name in read), count)
        return replace(found, test=test) if isinstance(found, ParquetColumns) else found
    from tidemark.formats.csv_cut import CsvCut
    from tidemark.formats.csv_style import Style
    from tidemark.formats.decoders import decoder

    of_format = [t.Field(field.name, field.type) for field in fields]
    cut = CsvCut(Style.of(options)) if format_ == "csv" else LineCut()
    decode = decoder(format_, of_format, options, metadata, few, read, narrow)
    return Decoding(decode, cut, count, threads)


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decodes a file block by block."""

    decoder: Decoder
    cut: Cut
    count: Count | None
    threads: int = 1

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        first = 1
        # A part ends before the end of its file only if all lines of the file are records.
        cut = self.cut if part.end is None else LineCut()
        decode = partial(self.decoder, file=part.file)
        for block, result in ahead(decode, blocks(part, BLOCK, cut), self.threads):
            try:
                decoded = result()
            except DataError:
                # Only now it matters how many lines there are before the block.
                decoded = decode(block, first=first + lines_before(part))
            first += decoded.records
            if self.count is not None:
                self.count(decoded.rows.height, decoded.skipped)
            if decoded.rows.height:
                yield decoded.rows, _about(decoded)

    def sample(self, part: Part, size: int) -> Decoded:
        """The first lines of a part, about as many bytes."""
        block = next(blocks(part, size), b"")
        return self.decoder(block, file=part.file)


def _about(decoded: Decoded) -> dict[str, pl.Series]:
    kinds = {} if decoded.kinds is None else {KIND: decoded.kinds}
    return {**decoded.metadata, **kinds}


@dataclass(frozen=True, slots=True)
class _Described:
    """Adds what is known of a file to its rows, and names columns as the plan does."""

    request: ColumnsRequest
    metadata: Mapping[str, t.DataType]

    def rows(self, rows: pl.DataFrame, about: Mapping[str, pl.Series], file: str) -> pl.DataFrame:
        import polars as pl

        made = [*self._physical(rows, file), *self._metadata(rows, about, file)]
        named = [value.alias(name) for value, name in zip(made, self.request.columns, strict=True)]
        kinds = [about[KIND].alias(KIND)] if KIND in about else []
        place = pl.repeat(file, rows.height, eager=True).alias(PLACE)
        return pl.DataFrame([*named, *kinds, *[place] * self.request.placed])

    def _physical(self, rows: pl.DataFrame, file: str) -> Iterator[pl.Series]:
        import polars as pl

        from tidemark.columns import polars_type

        table = self.request.table
        for column in table.columns:
            if isinstance(column, PhysicalColumn) and column.name in table.partitioned_by:
                default = self.request.options["partition.default-name"]
                value = partition_values.value_of(file, column.name, column.type, default)
                yield value.new_from_index(0, rows.height)
            elif isinstance(column, PhysicalColumn) and column.name in rows.columns:
                yield rows[column.name]
            elif isinstance(column, PhysicalColumn):
                yield pl.repeat(None, rows.height, dtype=polars_type(column.type), eager=True)

    def _metadata(
        self, rows: pl.DataFrame, about: Mapping[str, pl.Series], file: str
    ) -> Iterator[pl.Series]:
        import polars as pl

        from tidemark.columns import polars_type

        for key in self.request.metadata:
            if key in self.metadata:
                value, dtype = _ABOUT_FILES[key](file), polars_type(self.metadata[key])
                yield pl.repeat(value, rows.height, dtype=dtype, eager=True)
            else:
                yield about[key]


def _modified(file: str) -> datetime:
    """As Spark reads it, in milliseconds."""
    return datetime.fromtimestamp(os.stat(file).st_mtime_ns // 1_000_000 / 1000, UTC)


_ABOUT_FILES: Mapping[str, Callable[[str], Any]] = {
    "file.path": lambda file: file,
    "file.name": os.path.basename,
    "file.size": os.path.getsize,
    "file.modification-time": _modified,
}
