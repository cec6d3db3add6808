"""Files read as columns in this process, without Spark."""

from __future__ import annotations

import bz2
import gzip
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.places import escaped, existing, wanted_files
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError, NeedsSpark
from tidemark.kernels.columns import KIND

if TYPE_CHECKING:
    import polars as pl

    from tidemark.formats.decoded import Decoded, Decoder

# How much of a file is decoded at once.
_BLOCK: Final = 16 << 20
# Its records may contain line ends.
_WHOLE: Final = ("csv",)
# So it is in memory as a whole, and Spark reads larger files piece by piece.
_LARGEST_WHOLE: Final = 64 << 20
# Each of its lines is a record.
_SPLITTABLE: Final = ("json", "raw")
# Several workers read a table that is larger, each about this much at a time.
_SHARED_FROM: Final = 4 << 20
_SHARE: Final = 32 << 20
_OPENERS: Mapping[str, Callable[[str], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_COMPRESSED: Final = (".deflate", ".snappy", ".lz4", ".zst", ".xz", ".lzo")

Frames = Iterator["pl.DataFrame"]


def read(
    request: ColumnsRequest, fields: Sequence[FormatField], metadata: Mapping[str, t.DataType]
) -> Callable[[], Frames]:
    """The rows of a table's files, in order of name."""
    place = existing(request.table, request.options)
    if not place.local:
        raise NeedsSpark(f"reading {place.path}", source=request.table.source)
    files = wanted_files(place, request.options)
    for file in files:
        if file.endswith(_COMPRESSED):
            raise NeedsSpark(f"reading {file}", source=request.table.source)
    _check_partitions(request)
    described = _Described(request, metadata)
    read_file = _reader(request, fields)

    wanted = request.parts if request.parts is not None else [*map(Part, files)]

    def frames() -> Frames:
        for part in wanted:
            for rows, about in read_file(part):
                yield described.rows(rows, about, part.file)

    return frames


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]] | None:
    """The parts of a table's files for several workers; None if one is enough."""
    place, name = existing(request.table, request.options), request.options["format"].lower()
    if not place.local or request.options.get(f"{name}.ignore-parse-errors"):
        return None  # only Spark opens such files, or counts the records that are skipped
    files = wanted_files(place, request.options)
    sizes = [os.path.getsize(file) for file in files]
    if sum(sizes) <= _SHARED_FROM:
        return None
    if name in _WHOLE and max(sizes) > _LARGEST_WHOLE:
        return None
    splittable = name in _SPLITTABLE
    found: list[tuple[Part, ...]] = []
    for file, size in zip(files, sizes, strict=True):
        if splittable and os.path.splitext(file)[1] not in _OPENERS:
            found += [(part,) for part in _ranges(file, size)]
        else:
            found.append((Part(file),))
    return found


def _ranges(file: str, size: int) -> Iterator[Part]:
    """Ranges of about the same size."""
    count = max(1, round(size / _SHARE))
    bounds = [size * place // count for place in range(count + 1)]
    yield from (Part(file, start, end) for start, end in itertools.pairwise(bounds))


def _check_partitions(request: ColumnsRequest) -> None:
    for column in request.table.columns:
        if not isinstance(column, PhysicalColumn) or isinstance(column.type, t.VarChar):
            continue
        if column.name in request.table.partitioned_by:
            what = f"a partition column of type {column.type.text()}"
            raise NeedsSpark(what, source=request.table.source)


# Reads a part of a file: columns by their names in the table, and metadata and kinds of records.
_ReadFile = Callable[[Part], Iterator[tuple["pl.DataFrame", Mapping[str, "pl.Series"]]]]


def _reader(request: ColumnsRequest, fields: Sequence[FormatField]) -> _ReadFile:
    name = request.options["format"].lower()
    if name == "parquet":
        return _Parquet(tuple(fields))
    from tidemark.formats.decoders import CHANGELOG_DECODERS, DECODERS, decoder

    if name not in (*DECODERS, *CHANGELOG_DECODERS):
        raise NeedsSpark(f"the format '{name}'", source=request.table.source)
    of_format = [t.Field(field.name, field.type) for field in fields]
    keys = [key for key in request.metadata if key not in _ABOUT_FILES]
    return _Decoding(decoder(name, of_format, request.options, keys), name in _WHOLE)


@dataclass(frozen=True, slots=True)
class _Decoding:
    decoder: Decoder
    whole: bool

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        first = 1
        for block in _blocks(part, None if self.whole else _BLOCK):
            try:
                decoded = self.decoder(block, file=part.file, first=first)
            except DataError:
                if part.start == 0:
                    raise
                # Only now it matters how many lines there are before the part.
                before = _lines_before(part)
                decoded = self.decoder(block, file=part.file, first=first + before)
            first += decoded.records
            if decoded.rows.height:
                yield decoded.rows, _about(decoded)


def _about(decoded: Decoded) -> dict[str, pl.Series]:
    kinds = {} if decoded.kinds is None else {KIND: decoded.kinds}
    return {**decoded.metadata, **kinds}


def _blocks(part: Part, size: int | None) -> Iterator[bytes]:
    """The part in blocks of whole lines."""
    with _opened(part.file) as content:
        left = sys.maxsize
        if part.end is not None:
            begin, left = _line_from(content, part.start), _line_from(content, part.end)
            left -= content.seek(begin)
        rest = b""
        while block := content.read(-1 if size is None else min(size, left)):
            left -= len(block)
            end = len(block) if size is None else block.rfind(b"\n") + 1
            if end:
                yield rest + block[:end]
                rest = block[end:]
            else:
                rest += block
        if rest:
            yield rest


def _line_from(content: IO[bytes], position: int) -> int:
    """Where the first line begins that does not begin before this position."""
    if position == 0:
        return 0
    content.seek(position - 1)
    content.readline()
    return content.tell()


def _lines_before(part: Part) -> int:
    with _opened(part.file) as content:
        left, lines = _line_from(content, part.start), 0
        content.seek(0)
        while block := content.read(min(_BLOCK, left)):
            left -= len(block)
            lines += block.count(b"\n")
        return lines


def _opened(file: str) -> AbstractContextManager[IO[bytes]]:
    opener = _OPENERS.get(os.path.splitext(file)[1], None)
    opened: IO[bytes] = open(file, "rb") if opener is None else opener(file)  # noqa: SIM115
    return opened


@dataclass(frozen=True, slots=True)
class _Parquet:
    """Reads the columns of these names; those that a file lacks are NULL."""

    fields: tuple[FormatField, ...]

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        import polars as pl
        from pyarrow import parquet

        file = part.file
        if os.path.getsize(file) == 0:
            raise DataError(
                f"{file}  cannot read the file",
                notes={"why": "it is empty; even without rows a parquet file has a footer"},
            )
        with parquet.ParquetFile(file) as opened:
            there = {name.lower(): name for name in opened.schema_arrow.names}
            names = [there.get(field.name.lower()) for field in self.fields]
            wanted = [name for name in names if name is not None]
            for batch in opened.iter_batches(1 << 16, columns=wanted):
                rows = pl.from_arrow(batch)
                assert isinstance(rows, pl.DataFrame)
                yield rows.select(map(_column, self.fields, names)), {}


def _column(field: FormatField, name: str | None) -> pl.Expr:
    import polars as pl

    from tidemark.columns import polars_type

    value = pl.lit(None) if name is None else pl.col(name)
    return value.cast(polars_type(field.type)).alias(field.name)


@dataclass(frozen=True, slots=True)
class _Described:
    """Adds what is known of a file to its rows, and names columns as the plan does."""

    request: ColumnsRequest
    metadata: Mapping[str, t.DataType]

    def rows(self, rows: pl.DataFrame, about: Mapping[str, pl.Series], file: str) -> pl.DataFrame:
        import polars as pl

        made = [*self._physical(rows, file), *self._metadata(rows, about, file)]
        named = [value.alias(name) for value, name in zip(made, self.request.columns, strict=True)]
        return pl.DataFrame([*named, *([about[KIND].alias(KIND)] if KIND in about else [])])

    def _physical(self, rows: pl.DataFrame, file: str) -> Iterator[pl.Series]:
        import polars as pl

        table = self.request.table
        for column in table.columns:
            if isinstance(column, PhysicalColumn) and column.name in table.partitioned_by:
                yield pl.repeat(self._of_folder(column.name, file), rows.height, eager=True)
            elif isinstance(column, PhysicalColumn):
                yield rows[column.name]

    def _of_folder(self, column: str, file: str) -> str | None:
        """The value of a partition."""
        found = re.search(rf".*/{re.escape(escaped(column))}=([^/]*)/", file)
        text = found[1] if found else ""
        default = self.request.options["partition.default-name"]
        return None if text in ("", default) else unquote(text)

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
