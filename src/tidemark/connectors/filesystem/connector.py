"""The filesystem connector: a file, a folder or a glob as a table, and folders as sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog, LookupTraits, Table, TableTraits
from tidemark.connectors.base import (
    ColumnsRequest,
    Connector,
    Part,
    ReadRequest,
    Target,
    WorkerSink,
    WriteRequest,
)
from tidemark.connectors.filesystem import (
    decoded_files,
    file_parts,
    files_columns,
    partition_commit,
    sink_by_spark,
    sink_by_workers,
    sinks,
)
from tidemark.connectors.filesystem.options import OPTIONS
from tidemark.connectors.filesystem.places import Place, existing
from tidemark.connectors.filesystem.rows import FilesOfStream, read
from tidemark.connectors.filesystem.table_fields import (
    METADATA,
    all_fields,
    fields_in_files,
    format_of,
    types_of,
)
from tidemark.connectors.formats import OF_FILES
from tidemark.connectors.formats.base import Format
from tidemark.connectors.lookup_options import check_reloads, full_cache, reloads
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError, did_you_mean
from tidemark.physical.writing import Writes

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame


def check(table: Table, options: Mapping[str, Any]) -> None:
    """Check that the format exists and can represent the columns; partition columns must be
    columns.
    """
    format_ = format_of(table, options)
    physical = {c.name: c for c in table.columns if isinstance(c, PhysicalColumn)}
    for name in table.partitioned_by:
        if name not in physical:
            raise PlanError(
                f"partition column `{name}` is not a physical column of `{table.name}`",
                source=table.source,
                hint=did_you_mean(name, physical),
            )
    if (most := options["source.max-files-per-batch"]) is not None and most < 1:
        raise option_error(
            table,
            "source.max-files-per-batch",
            "option 'source.max-files-per-batch' must be 1 or more",
        )
    partition_commit.check(table, options)
    check_reloads(table, options)
    format_.check(table, fields_in_files(table, tuple(physical), types_of(table)), options)


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    format_ = format_of(table, options)
    return TableTraits(
        bounded=options["source.monitor-interval"] is None,
        changelog=format_.changelog,
        metadata={**METADATA, **format_.metadata},
        ordered=Place.of(options["path"]).is_small_file,
        at_once=options["source.max-files-per-batch"] is None,
        grows=True,
        looks_every_ms=options["source.monitor-interval"],
        readable=True,
        writable=format_.write is not None or format_.by_arrow is not None,
        accepts_updates=format_.changelog is not Changelog.APPEND,
        lookup=_lookup_traits(format_, options),
    )


def _lookup_traits(format_: Format, options: Mapping[str, Any]) -> LookupTraits | None:
    """Files are looked up as a whole. Those of a stream too, if something says how often they are
    loaded again.
    """
    endless = options["source.monitor-interval"] is not None
    if format_.changelog is not Changelog.APPEND or (endless and not reloads(options)):
        return None
    return LookupTraits("whole", full_cache(options))


# --- writing -----------------------------------------------------------------------------------


def write(request: WriteRequest) -> None:
    format_ = format_of(request.table, request.options)
    fields = all_fields(request.table, request.columns, request.types)
    inside = fields_in_files(request.table, request.columns, request.types)
    by = sink_by_spark if sink_by_workers.leaves_to_spark(format_, inside) else sink_by_workers
    by.write(request, format_, fields)


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    fields = fields_in_files(request.table, request.columns, request.types)
    return files_columns.read(request, fields, METADATA)


def lookup(request: LookupRequest) -> Lookup:
    """The rows of all files, which a worker reads as it would those of a table. The path is made
    absolute here, where it is known what it is relative to.
    """
    path = Place.of(request.options["path"]).path
    columns = ColumnsRequest(
        table=request.table,
        options={**request.options, "path": path},
        columns=request.columns,
        types=request.types,
        metadata=request.metadata,
        zone=request.zone,
        now=datetime.now(UTC),
        read=request.read,
    )
    read_columns(columns)  # raises NeedsSpark
    return Lookup(load=_Load(columns))


@dataclass(frozen=True, slots=True)
class _Load:
    """Reads the files that there are when it is called."""

    request: ColumnsRequest

    def __call__(self) -> Iterator[pl.DataFrame]:
        return read_columns(self.request)()


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]] | None:
    return file_parts.parts(request, fields_in_files(request.table, request.columns, request.types))


def reads_once(request: ColumnsRequest, streaming: bool) -> bool:
    fields = fields_in_files(request.table, request.columns, request.types)
    return file_parts.reads_once(request, fields, streaming)


def size(request: ColumnsRequest) -> int | None:
    return file_parts.size(request, fields_in_files(request.table, request.columns, request.types))


def can_stream_columns(request: ColumnsRequest) -> bool:
    return file_parts.can_stream(
        request, fields_in_files(request.table, request.columns, request.types)
    )


def arriving(request: ReadRequest) -> DataFrame:
    """The files of a stream as they come, in parts; what is in them is not read."""
    opener = FilesOfStream(request, existing(request.table, request.options))
    return file_parts.arriving(decoded_files.listed(opener), request)


def worker_sink(target: Target) -> WorkerSink | None:
    fields = all_fields(target.table, target.columns, target.types)
    return sink_by_workers.worker_sink(target, format_of(target.table, target.options), fields)


def writes(table: Table, options: Mapping[str, Any], types: tuple[t.DataType, ...]) -> Writes:
    names = tuple(c.name for c in table.columns if isinstance(c, PhysicalColumn))
    format_, fields = format_of(table, options), all_fields(table, names, types)
    return sink_by_workers.writes(format_, fields, table.partitioned_by, options)


def local_sink(target: Target) -> WorkerSink | None:
    fields = all_fields(target.table, target.columns, target.types)
    return sink_by_workers.local_sink(target, format_of(target.table, target.options), fields)


FILESYSTEM = Connector(
    name="filesystem",
    options=OPTIONS,
    summary="files in a folder, in one of several formats",
    traits=traits,
    read=read,
    write=write,
    worker_sink=worker_sink,
    writes=writes,
    read_columns=read_columns,
    lookup=lookup,
    reads_files=True,
    local_sink=local_sink,
    parts=parts,
    size=size,
    reads_once=reads_once,
    can_stream_columns=can_stream_columns,
    arriving=arriving,
    upkeep=sinks.upkeep,
    follows_watermark=sinks.follows_watermark,
    formats=tuple(OF_FILES),
    check=check,
)
