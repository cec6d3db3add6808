"""The filesystem connector: a file, a folder or a glob as a table, and folders as sinks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog, LookupTraits, Table, TableTraits
from tidemark.connectors import (
    decoded_files,
    file_parts,
    files_by_spark,
    files_by_workers,
    files_columns,
    files_sink,
    partition_commit,
    records,
)
from tidemark.connectors.base import (
    ColumnsRequest,
    Connector,
    OptionSpec,
    Part,
    ReadRequest,
    Target,
    WorkerSink,
    WriteRequest,
)
from tidemark.connectors.formats import FORMATS, OF_FILES
from tidemark.connectors.formats.base import (
    FILE,
    MODIFIED,
    SIZE,
    Decode,
    Format,
    FormatField,
    metadata_name,
    names_read,
    raw_name,
)
from tidemark.connectors.formats.conversions import Notation, from_string
from tidemark.connectors.lookup_options import (
    FULL_CACHE_OPTIONS,
    check_reloads,
    full_cache,
    reloads,
)
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.connectors.options import option_error
from tidemark.connectors.places import (
    Place,
    as_glob_of_file,
    as_hadoop_glob,
    escaped,
    existing,
    wanted_files,
)
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError, PlanError, did_you_mean
from tidemark.functions import spark_text
from tidemark.functions.spark_text import string
from tidemark.physical.writing import Writes
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import KIND, PLACE

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_NO_EFFECT = "accepted without effect"
_NEVER_OPEN = "accepted without effect; no file stays open longer than its micro-batch"

OPTIONS = (
    OptionSpec(
        "path", required=True, summary="a file, a folder or a glob; local or a [URI](#paths)"
    ),
    OptionSpec("format", required=True, summary="the format of the files"),
    OptionSpec(
        "source.monitor-interval",
        "duration",
        summary="how often to look for new files; makes the table unbounded",
    ),
    OptionSpec(
        "source.max-files-per-batch",
        "int",
        summary="the maximum number of files that a micro-batch reads, the oldest first; by "
        "default, all new files",
    ),
    OptionSpec("source.path.regex-pattern", summary="read only files whose full path matches"),
    OptionSpec("source.report-statistics", "enum", choices=("all", "none"), summary=_NO_EFFECT),
    OptionSpec(
        "partition.default-name",
        default="__DEFAULT_PARTITION__",
        summary="the folder name for partition values that are NULL or empty",
    ),
    *partition_commit.OPTIONS,
    OptionSpec(
        "sink.rolling-policy.file-size",
        "memory",
        128 << 20,
        summary="a file that has reached this size is closed, and later rows go to a new one",
    ),
    OptionSpec("sink.rolling-policy.rollover-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec("sink.rolling-policy.inactivity-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec("sink.rolling-policy.check-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec(
        "sink.shuffle-by-partition.enable",
        "boolean",
        False,
        summary="whether the rows of a partition are shuffled together before they are written",
    ),
    OptionSpec("sink.parallelism", "int", summary="the number of files per batch"),
    OptionSpec(
        "lookup.cache",
        "enum",
        "FULL",
        choices=("FULL",),
        summary="in a lookup join, workers load the whole table",
    ),
    *FULL_CACHE_OPTIONS,
    OptionSpec("scan.parallelism", "int", summary=_NO_EFFECT),
    OptionSpec(
        "auto-compaction",
        "boolean",
        False,
        summary="whether each micro-batch leaves only one file in a partition, or more if required "
        "by the size",
    ),
    OptionSpec(
        "compaction.file-size",
        "memory",
        summary="the size of these files; by default, that of the rolling policy",
    ),
)

METADATA: Mapping[str, t.DataType] = {
    "file.path": t.VarChar(nullable=False),
    "file.name": t.VarChar(nullable=False),
    "file.size": t.BigInt(nullable=False),
    "file.modification-time": t.TimestampLtz(3, nullable=False),
}
_METADATA_SQL = {
    "file.path": FILE,
    "file.name": f"substring_index({FILE}, '/', -1)",
    "file.size": SIZE,
    "file.modification-time": MODIFIED,
}

# Each file of a small bounded table is read separately: only then are files read in order of name.
_FILES_IN_ORDER = 100
_SMALL = 4 << 20
# The size in bytes of even an empty file.
_NEVER_EMPTY = ("parquet", "orc")


def check(table: Table, options: Mapping[str, Any]) -> None:
    """Check that the format exists and can represent the columns; partition columns must be
    columns.
    """
    format_ = _format(table, options)
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
    format_.check(table, _format_fields(table, tuple(physical), _types(table)), options)


def _types(table: Table) -> tuple[t.DataType, ...]:
    return tuple(c.type for c in table.columns if isinstance(c, PhysicalColumn))


def _format(table: Table, options: Mapping[str, Any]) -> Format:
    name = options["format"].lower()
    if name not in OF_FILES:
        of_messages = f"'{name}' is a format of messages, not of files"
        raise option_error(
            table,
            "format",
            of_messages if name in FORMATS else f"unknown format '{options['format']}'",
            hint=did_you_mean(name, OF_FILES) or f"formats are {', '.join(OF_FILES)}",
        )
    return OF_FILES[name]


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    format_ = _format(table, options)
    return TableTraits(
        bounded=options["source.monitor-interval"] is None,
        changelog=format_.changelog,
        metadata={**METADATA, **format_.metadata},
        ordered=Place.of(options["path"]).is_small_file,
        at_once=options["source.max-files-per-batch"] is None,
        grows=True,
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


def _all_fields(
    table: Table, columns: tuple[str, ...], types: tuple[t.DataType, ...]
) -> tuple[FormatField, ...]:
    names = [c.name for c in table.columns if isinstance(c, PhysicalColumn)]
    return tuple(
        FormatField(name, column, type_)
        for name, column, type_ in zip(names, columns, types, strict=False)
    )


def _format_fields(
    table: Table, columns: tuple[str, ...], types: tuple[t.DataType, ...]
) -> tuple[FormatField, ...]:
    """The fields in the files; partition values are in folder names."""
    fields = _all_fields(table, columns, types)
    return tuple(f for f in fields if f.name not in table.partitioned_by)


def read(request: ReadRequest) -> DataFrame:
    format_ = _format(request.table, request.options)
    fields = _format_fields(request.table, request.columns, request.types)
    # Which fields of an update have changed depends on all of them.
    narrows = format_.changelog is Changelog.APPEND
    read = names_read(fields, request.read if narrows else None)
    decode = Decode(
        open=_opener(request),
        fields=tuple(field for field in fields if field.name in read),
        in_file=fields,
        options=request.options,
        access=access_of(request.spark),
        count_skipped=request.count_skipped,
    )
    kinds = () if format_.changelog is Changelog.APPEND else (KIND,)
    places = () if request.table.watermark is None else (f"{FILE} AS {PLACE}",)
    return format_.read(decode).selectExpr(
        *_physical(request, read), *_metadata(request), *kinds, *places
    )


def _physical(request: ReadRequest, read: frozenset[str]) -> list[str]:
    result = []
    for field in _all_fields(request.table, request.columns, request.types):
        if field.name in request.table.partitioned_by:
            value = _partition_value(field, request)
        elif field.name in read:
            value = field.sql
        else:
            value = f"CAST(NULL AS {spark_text.spark_type(field.type)})"
        result.append(f"{value} AS {field.sql}")
    return result


def _metadata(request: ReadRequest) -> list[str]:
    names = request.columns[len(request.columns) - len(request.metadata) :]
    return [
        f"{_metadata_value(key)} AS {spark_text.name(name)}"
        for key, name in zip(request.metadata, names, strict=True)
    ]


def _metadata_value(key: str) -> str:
    return _METADATA_SQL.get(key) or spark_text.name(metadata_name(key))


def _partition_value(field: FormatField, request: ReadRequest) -> str:
    pattern = rf".*/{re.escape(escaped(field.name))}=([^/]*)/"
    text = f"nullif(regexp_extract({FILE}, {string(pattern)}, 1), '')"
    default = string(request.options["partition.default-name"])
    plain = f"url_decode(replace(nullif({text}, {default}), '+', '%2B'))"

    if isinstance(field.type, t.Timestamp):
        # As Java writes it, with a T and without seconds if they are zero; or as SQL does.
        spaced = f"replace({plain}, 'T', ' ')"
        plain = f"regexp_replace({spaced}, '^([^:]*:[^:]*)$', '$1:00')"

    def on_invalid(value: str, type_: t.DataType) -> str:
        return records.raising(
            file=FILE,
            value=value,
            problem=string(f"cannot read the partition value `{field.name}` as {type_.text()}"),
            reason=string("the folder name does not match the column type"),
        )

    return from_string(plain, field.type, Notation(loose_dates=True, on_invalid=on_invalid))


# --- opening files -----------------------------------------------------------------------------


def _opener(request: ReadRequest) -> Any:
    place = existing(request.table, request.options)
    if request.streaming:
        return _Stream(request, place)
    return _Batch(request, place)


@dataclass(frozen=True, slots=True)
class _Stream:
    """Opens files as a stream: existing and new ones."""

    request: ReadRequest
    place: Place

    def __call__(self, source: str, schema: StructType, options: Mapping[str, str]) -> DataFrame:
        reader = self.request.spark.readStream.schema(schema).options(**options)
        most = self.request.options["source.max-files-per-batch"]
        if most is not None:
            reader = reader.option("maxFilesPerTrigger", most)
        path = self.place.path
        if self.place.local and os.path.isfile(path):
            # Spark watches folders, or what matches a pattern. Of a folder, it would take the
            # partitions of other tables for those of this one.
            path = as_glob_of_file(path)
        elif self.place.local and not self.place.is_glob:
            path = as_hadoop_glob(path)
        reader = reader.option("recursiveFileLookup", "true")
        frame = _with_raw_names(reader.format(source).load(path), schema)
        return _matching(frame, self.request)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Opens the existing files, in order of name if there are few."""

    request: ReadRequest
    place: Place

    def __call__(self, source: str, schema: StructType, options: Mapping[str, str]) -> DataFrame:
        def load(*paths: str) -> DataFrame:
            reader = self.request.spark.read.schema(schema).options(**options)
            reader = reader.option("recursiveFileLookup", "true")
            return _with_raw_names(reader.format(source).load(list(paths)), schema)

        if not self.place.local:
            return _matching(load(self.place.path), self.request)
        files = wanted_files(self.place, self.request.options)
        if not files:
            return self._nothing(schema)
        if source in _NEVER_EMPTY:
            _none_is_empty(files, source)
        paths = [as_hadoop_glob(file) for file in files]
        if len(paths) > _FILES_IN_ORDER:
            return load(*paths)
        frame = reduce(lambda one, two: one.unionAll(two), [load(path) for path in paths])
        # Rows in one partition have an order for everything that follows.
        return frame.coalesce(1) if sum(map(os.path.getsize, files)) <= _SMALL else frame

    def _nothing(self, schema: StructType) -> DataFrame:
        empty = self.request.spark.createDataFrame([], schema)
        about = [
            f"CAST(NULL AS STRING) AS {FILE}",
            f"CAST(NULL AS BIGINT) AS {SIZE}",
            f"CAST(NULL AS TIMESTAMP) AS {MODIFIED}",
        ]
        renamed = empty.toDF(*(raw_name(i) for i in range(len(schema.fields))))
        return renamed.selectExpr("*", *about)


def _none_is_empty(files: Sequence[str], source: str) -> None:
    """Spark skips empty files, even in formats in which they are not valid."""
    for file in files:
        if os.path.getsize(file) == 0:
            raise DataError(
                f"{file}  cannot read the file",
                notes={"why": f"it is empty; even without rows a {source} file has a footer"},
            )


_METADATA = "_tm_metadata"
_ABOUT_FILE = (
    # Spark escapes paths, but a plus in one is a plus, not a blank.
    f"regexp_replace(url_decode(replace({_METADATA}.file_path, '+', '%2B')), '^file:/+', '/')"
    f" AS {FILE}",
    f"{_METADATA}.file_size AS {SIZE}",
    f"{_METADATA}.file_modification_time AS {MODIFIED}",
)


def _with_raw_names(frame: DataFrame, schema: StructType) -> DataFrame:
    """The columns renamed by position, because a file may call them anything.

    It takes few calls of Spark: a dozen for each column took longer than reading a small file.
    """
    columns = [raw_name(i) for i in range(len(schema.fields))]
    described = frame.select("*", frame.metadataColumn("_metadata"))
    renamed = described.toDF(*columns, _METADATA)
    return renamed.selectExpr(f"* EXCEPT ({_METADATA})", *_ABOUT_FILE)


def _matching(frame: DataFrame, request: ReadRequest) -> DataFrame:
    pattern = request.options["source.path.regex-pattern"]
    if pattern is None:
        return frame
    return frame.where(f"{FILE} RLIKE {string(f'^(?:{pattern})$')}")


# --- writing -----------------------------------------------------------------------------------


def write(request: WriteRequest) -> None:
    format_ = _format(request.table, request.options)
    fields = _all_fields(request.table, request.columns, request.types)
    inside = _format_fields(request.table, request.columns, request.types)
    by = files_by_spark if files_by_workers.leaves_to_spark(format_, inside) else files_by_workers
    by.write(request, format_, fields)


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    fields = _format_fields(request.table, request.columns, request.types)
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
    return file_parts.parts(request, _format_fields(request.table, request.columns, request.types))


def reads_once(request: ColumnsRequest, streaming: bool) -> bool:
    fields = _format_fields(request.table, request.columns, request.types)
    return file_parts.reads_once(request, fields, streaming)


def size(request: ColumnsRequest) -> int | None:
    return file_parts.size(request, _format_fields(request.table, request.columns, request.types))


def can_stream_columns(request: ColumnsRequest) -> bool:
    return file_parts.can_stream(
        request, _format_fields(request.table, request.columns, request.types)
    )


def arriving(request: ReadRequest) -> DataFrame:
    """The files of a stream as they come, in parts; what is in them is not read."""
    opener = _Stream(request, existing(request.table, request.options))
    return file_parts.arriving(decoded_files.listed(opener), request)


def worker_sink(target: Target) -> WorkerSink | None:
    fields = _all_fields(target.table, target.columns, target.types)
    return files_by_workers.worker_sink(target, _format(target.table, target.options), fields)


def writes(table: Table, options: Mapping[str, Any], types: tuple[t.DataType, ...]) -> Writes:
    names = tuple(c.name for c in table.columns if isinstance(c, PhysicalColumn))
    format_, fields = _format(table, options), _all_fields(table, names, types)
    return files_by_workers.writes(format_, fields, table.partitioned_by, options)


def local_sink(target: Target) -> WorkerSink | None:
    fields = _all_fields(target.table, target.columns, target.types)
    return files_by_workers.local_sink(target, _format(target.table, target.options), fields)


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
    upkeep=files_sink.upkeep,
    follows_watermark=files_sink.follows_watermark,
    formats=tuple(OF_FILES),
    check=check,
)
