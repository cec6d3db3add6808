"""How several workers share a table's files: the parts of each, if they read them quickly."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.filesystem import orc_columns, parquet_columns
from tidemark.connectors.filesystem.file_blocks import (
    BLOCK,
    COMPRESSED,
    UNKNOWN_TO_SPARK,
    Cut,
    blocks,
    can_open,
    is_compressed,
    readable,
    version_of,
)
from tidemark.connectors.filesystem.files_columns import Decoding, ReadFile, reader
from tidemark.connectors.filesystem.layouts import Layout, shared_by_rows
from tidemark.connectors.filesystem.orc_columns import OrcColumns
from tidemark.connectors.filesystem.parquet_columns import ParquetColumns
from tidemark.connectors.filesystem.partition_pruning import files_read
from tidemark.connectors.filesystem.places import existing, wanted_files
from tidemark.connectors.formats.base import FILE, SIZE, FormatField, names_read
from tidemark.errors import DataError
from tidemark.functions.spark_text import string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Several workers read a table that is larger, each about this much at a time, or some times as much
# of a large table: starting a task takes as long as decoding a megabyte.
_SHARED_FROM: Final = 4 << 20
# The same for files of columns, of which a megabyte may be a hundred thousand rows.
_SHARED_COLUMNS_FROM: Final = 256 << 10
_SHARE: Final = 16 << 20
_TIMES_A_SHARE: Final = 4
# Each core gets at least this many parts of large files, so that none waits long for the last one;
# and this many tasks of small files, each of which costs some time to open, too.
_TURNS: Final = 6
_TURNS_OF_FILES: Final = 4
# Files of columns are compressed: as many rows take a quarter of the bytes, or less.
_SHARE_OF_COLUMNS: Final = 4 << 20
# How many times as much memory as bytes the rows of compressed files take, roughly.
_TIMES: Final = 8
# Each of their lines is a record, or may be one.
_BY_LINES: Final = ("csv", "json", "raw")
# Formats with columns of their own.
_OF_COLUMNS: Final = ("orc", "parquet")
# Whether workers are quick is seen from this much of a few files.
_SAMPLE: Final = 64 << 10
_SAMPLED_FILES: Final = 4
# Spark is quicker if a larger share of the records has to be read one by one.
_MOST_SLOW: Final = 0.02
# So many workers share the rows of a row group at most.
_MOST_READERS: Final = 4
# Footers of more files take too long to read one after the other.
_MOST_FOOTERS: Final = 1000


def parts(
    request: ColumnsRequest, fields: Sequence[FormatField]
) -> Sequence[tuple[Part, ...]] | None:
    """What each task reads of a table's files; None if it is small, or better left to Spark."""
    place, name = existing(request.table, request.options), request.options["format"].lower()
    if not place.local or request.options.get(f"{name}.ignore-parse-errors"):
        return None  # only Spark opens such files, or counts the records that are skipped
    files = files_read(request, place)
    sizes = [_size(file) for file in files]
    is_small = sum(sizes) <= (_SHARED_COLUMNS_FROM if name in _OF_COLUMNS else _SHARED_FROM)
    unknown = any(file.endswith(UNKNOWN_TO_SPARK) for file in files)
    if is_small and name != "parquet" and not unknown:
        return None
    read = reader(request, fields, few=1)
    if is_small and not unknown and not _needs_workers(files, read):
        return None
    if isinstance(read, ParquetColumns | OrcColumns):
        return _of_columns(files, sizes, read)
    if not unknown and not _are_quick(name, read, files, sizes):
        return None
    found: list[Part] = []
    total = sum(sizes)
    share = _share(total, _TURNS, _SHARE)
    for file, size in zip(files, sizes, strict=True):
        if size > share and _can_be_cut(name, file, read):
            found += _ranges(file, size, share)
        else:
            found.append(Part(file))
    return _shared(found, total, _SHARE)


def _needs_workers(files: Sequence[str], read: ReadFile) -> bool:
    return (
        isinstance(read, ParquetColumns)
        and len(files) <= _MOST_FOOTERS
        and any(parquet_columns.only_workers_read(file, read) for file in files)
    )


def _of_columns(
    files: Sequence[str], sizes: Sequence[int], read: ParquetColumns | OrcColumns
) -> Sequence[tuple[Part, ...]] | None:
    """What each task reads of files that have columns of their own, without what no row is needed
    of.
    """
    if len(files) > _MOST_FOOTERS:
        return None
    layouts = _layouts(files, read)
    if not all(layout.fits for layout in layouts):
        return None
    needed = [layout.needed_bytes(size) for layout, size in zip(layouts, sizes, strict=True)]
    share = _share(sum(needed), _TURNS, _SHARE_OF_COLUMNS)
    found: list[tuple[Part, Layout]] = []
    for file, size, layout, most in zip(files, sizes, layouts, needed, strict=True):
        if most > share:
            found += ((part, layout) for part in _cut(file, layout.bounds(size, share)))
        elif most:
            found.append((Part(file), layout))
    parts = [part for part, _ in found]
    if isinstance(read, ParquetColumns) and len(found) < _cores():
        parts = [piece for part, layout in found for piece in _by_rows(part, layout, len(found))]
    return _shared(parts, sum(needed), _SHARE_OF_COLUMNS)


def _layouts(files: Sequence[str], read: ParquetColumns | OrcColumns) -> list[Layout]:
    if isinstance(read, ParquetColumns):
        return parquet_columns.layouts(files, read)
    return orc_columns.layouts(files, read)


def _shared(parts: Sequence[Part], total: int, least: int) -> list[tuple[Part, ...]]:
    """The parts, of so many bytes, as tasks."""
    return [*in_tasks(parts, min(_share(total, _TURNS_OF_FILES, least), total // _cores()))]


def _share(total: int, turns: int, least: int) -> int:
    """How much a task should read, so that each core gets about so many of them."""
    return min(max(total // (turns * _cores()), least), _TIMES_A_SHARE * least)


def in_tasks(parts: Sequence[Part], share: int) -> Iterator[tuple[Part, ...]]:
    """What each task reads, in order: small files go together until they are about a share."""
    task: list[Part] = []
    taken = 0
    for part in parts:
        size = share if part.end is not None else _size(part.file)
        if is_compressed(part.file):
            size *= _TIMES
        if task and taken + size // 2 > share:
            yield tuple(task)
            task, taken = [], 0
        task.append(part)
        taken += size
    yield tuple(task)


def reads_once(
    request: ColumnsRequest, fields: Sequence[FormatField], streaming: bool = False
) -> bool:
    """Whether a worker should read a part once for several inputs of operators. Columns are
    decoded quickly. Of a stream, the parts are known when they come.
    """
    if request.options["format"].lower() not in _BY_LINES:
        return False
    if streaming:
        return True
    each = [part for task in parts(request, fields) or () for part in task]
    return bool(each) and all(map(_can_be_kept, each))


def pieces(parts: Sequence[Part]) -> Iterator[tuple[Sequence[Part], bool]]:
    """What a task should read at a time if several inputs need the rows, and whether these can be
    kept meanwhile; those of a larger file cannot.
    """
    for few in in_tasks(parts, _SHARE):
        yield few, all(map(_can_be_kept, few))


def _can_be_kept(part: Part) -> bool:
    """Whether the rows of a part fit into memory; those of a compressed file may be too many."""
    if part.end is not None:
        return True
    return _size(part.file) * (_TIMES if is_compressed(part.file) else 1) <= _SHARE


def size(request: ColumnsRequest, fields: Sequence[FormatField]) -> int | None:
    """About how many bytes the rows of a table's files are; None if only Spark can open them, or
    counts the records that are skipped.
    """
    place, name = existing(request.table, request.options), request.options["format"].lower()
    if not place.local or request.options.get(f"{name}.ignore-parse-errors"):
        return None
    files = wanted_files(place, request.options)
    if name == "parquet" and len(files) <= _MOST_FOOTERS:
        read = names_read(fields, request.read)
        return sum(parquet_columns.size_of(file, read) for file in files)
    packed = name in _OF_COLUMNS or name == "avro"
    return sum(_size(file) * (_TIMES if packed or is_compressed(file) else 1) for file in files)


def can_stream(request: ColumnsRequest, fields: Sequence[FormatField]) -> bool:
    """Whether workers should read a stream of files, as far as those say that are there now."""
    place = existing(request.table, request.options)
    if not place.local:
        return False
    files = wanted_files(place, request.options)
    sizes = [_size(file) for file in files]
    if not all(map(can_open, files)):
        return False
    # Which of the rows are needed does not matter here.
    read = reader(replace(request, conditions=()), fields, few=1)
    name = request.options["format"].lower()
    if isinstance(read, ParquetColumns | OrcColumns):
        return all(layout.fits for layout in _layouts(files[:_MOST_FOOTERS], read))
    return _are_quick(name, read, files, sizes)


def arriving(files: DataFrame, request: ReadRequest) -> DataFrame:
    """The parts of files that come in a stream: all of each file, or if there are large ones at the
    start, ranges of them, which tasks share in order.
    """
    if not _has_large(request):
        return files.selectExpr(f"{FILE} AS file", "0L AS start", "CAST(NULL AS BIGINT) AS end")
    tasks = int(request.spark.conf.get("spark.sql.shuffle.partitions") or 1)
    compressed = "|".join(re.escape(ending.removeprefix(".")) for ending in COMPRESSED)
    count = (
        f"IF({FILE} RLIKE {string(f'[.]({compressed})$')}, 1L, "
        f"greatest(1L, CAST(ceil({SIZE} / {_SHARE}) AS BIGINT)))"
    )
    numbered = files.selectExpr(FILE, SIZE, f"{count} AS n").selectExpr(
        "*", "explode(sequence(0L, n - 1)) AS i"
    )
    parts = numbered.selectExpr(
        f"{FILE} AS file",
        f"{SIZE} * i div n AS start",
        f"IF(n = 1, NULL, {SIZE} * (i + 1) div n) AS end",
        f"CAST(IF(n = 1, pmod(hash({FILE}), {tasks}), i * {tasks} div n) AS INT) AS task",
    )
    return parts.repartitionById(tasks, "task").drop("task")


def _has_large(request: ReadRequest) -> bool:
    """Whether there is a file now of which several parts can be read."""
    place, name = existing(request.table, request.options), request.options["format"].lower()
    if name == "csv":
        return False  # what is in its files is not known yet
    files = wanted_files(place, request.options)
    return any(_size(file) > _SHARE for file in files if not is_compressed(file))


def _size(file: str) -> int:
    with readable(file):
        return os.path.getsize(file)


def _can_be_cut(format_: str, file: str, read: ReadFile) -> bool:
    if is_compressed(file):
        return False
    if not isinstance(read, Decoding):
        return True  # by the blocks of Avro files
    if format_ not in _BY_LINES:
        return False
    with readable(file):
        found = os.stat(file)
    return _is_by_lines(file, read.cut, found.st_size, found.st_mtime_ns)


@lru_cache(1000)
def _is_by_lines(file: str, cut: Cut, size: int, modified_ns: int) -> bool:
    """Whether each line of a file is a record, so that it can be read from any of them on. For some
    formats, all of it has to be read to know that.
    """
    return cut.all_at_lines(blocks(Part(file), BLOCK))


def _ranges(file: str, size: int, share: int) -> Iterator[Part]:
    """Ranges of about the same size."""
    count = max(1, -(-size // share))
    return _cut(file, [size * place // count for place in range(count + 1)])


def _cut(file: str, bounds: Sequence[int]) -> Iterator[Part]:
    version = version_of(file)
    for start, end in itertools.pairwise(bounds):
        yield Part(file, start, end, version=version)


def _by_rows(part: Part, layout: Layout, parts: int) -> Iterator[Part]:
    """The rows of a part shared by as many workers as there are for so many parts. Each of them has
    to read what is before its own, so it is not worth it for many."""
    count = min(_cores() // parts, _MOST_READERS)
    if count < 2 or part.end is None or layout.groups is None:
        yield part
        return
    inside = [group for group in layout.groups if part.start <= group.start < part.end]
    yield from (replace(part, rows=rows) for rows in shared_by_rows(inside, count))


def _cores() -> int:
    """Of this machine, which may be as many as those of a cluster."""
    return os.cpu_count() or 1


def _are_quick(format_: str, read: ReadFile, files: Sequence[str], sizes: Sequence[int]) -> bool:
    """Whether workers are quicker than Spark, for a format that Spark reads itself."""
    if format_ == "csv" or not isinstance(read, Decoding):
        return True
    return _share_of_slow(read, files, sizes) <= _MOST_SLOW


def _share_of_slow(read: Decoding, files: Sequence[str], sizes: Sequence[int]) -> float:
    """The share of records that are read one by one, in a sample."""
    slow = records = 0
    step = max(1, len(files) // _SAMPLED_FILES)
    for file, size in [*zip(files, sizes, strict=True)][::step]:
        for start in {0} if is_compressed(file) else {0, size // 2}:
            try:
                decoded = read.sample(Part(file, start), _SAMPLE)
            except DataError:
                continue  # the worker that reads it will say what is wrong
            slow, records = slow + decoded.slow, records + decoded.records
    return slow / max(1, records)
