"""Files as a sink, written by Spark, or by the workers that have the rows as Arrow batches."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.files_delivery import Delivery, commit_due
from tidemark.connectors.formats.base import Encode, Format, FormatField, WriteFile
from tidemark.connectors.formats.conversions import to_string
from tidemark.connectors.options import option_error
from tidemark.connectors.partition_commit import PartitionCommit
from tidemark.connectors.places import as_hadoop_glob, is_hidden, partition_folder
from tidemark.dialect.statements import MetadataColumn
from tidemark.errors import PlanError
from tidemark.storage import Found, Location
from tidemark.types import Field

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tidemark.spark.upkeep import Moment, Upkeep

_LINES = {"lineSep": "\n"}
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def _folder_of(target: Target) -> Location:
    """The folder for the files, if the rows can be written there."""
    _refuse_what_files_cannot_do(target)
    folder = Location.of(target.options["path"], target.access)
    if folder.is_file:
        raise option_error(
            target.table,
            "path",
            f"{folder} is a file",
            hint="the path of a sink must be a folder",
        )
    return folder


def _refuse_what_files_cannot_do(target: Target) -> None:
    if any(isinstance(c, MetadataColumn) and not c.virtual for c in target.table.columns):
        raise PlanError(
            f"cannot write the metadata columns of `{target.table.name}`",
            source=target.table.source,
            hint="declare them VIRTUAL",
        )
    if target.changelog is not Changelog.APPEND:
        raise PlanError(
            f"`{target.table.name}` accepts only inserts, but the query produces updates",
            source=target.table.source,
            notes={"changelog": target.changelog.value},
            hint="write windowed or other append-only results to files, or use 'print'",
        )


# --- by the workers ----------------------------------------------------------------------------


def worker_sink(
    target: Target, format_: Format, fields: tuple[FormatField, ...]
) -> WorkerSink | None:
    """For rows that are written to one folder by the tasks that have them, in a format that has an
    encoder, or that Arrow writes like Spark.
    """
    if target.options["sink.parallelism"] is not None or target.options["auto-compaction"]:
        return None
    return local_sink(target, format_, fields)


def local_sink(
    target: Target, format_: Format, fields: tuple[FormatField, ...]
) -> WorkerSink | None:
    """For rows of one process that are written to one folder."""
    from tidemark.formats.encoders import ENCODERS

    folder = _folder_of(target)
    if target.table.partitioned_by:
        return None
    write_file = format_.by_arrow and format_.by_arrow(fields, target.options)
    if format_.name in ENCODERS:
        write_file = _EncodedFile(format_.name, fields, target.options)
    return None if write_file is None else _of_files(target, folder, write_file)


@dataclass(frozen=True, slots=True)
class _EncodedFile:
    """Writes rows as lines."""

    format: str
    fields: tuple[FormatField, ...]
    options: Mapping[str, Any]

    def __call__(self, file: pa.NativeFile, tables: Iterator[pa.Table], enough: int) -> int:
        import polars as pl

        from tidemark.formats.encoders import encoded

        of_format = [Field(field.name, field.type) for field in self.fields]
        rows = 0
        for table in tables:
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)
            file.write(encoded(self.format, frame, of_format, self.options))
            rows += table.num_rows
            if file.tell() >= enough:
                break
        return rows


def _of_files(target: Target, folder: Location, write_file: WriteFile) -> WorkerSink:
    staging = folder / f".staging-{target.job or uuid.uuid4().hex}"

    def commit(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        # Left by an interrupted attempt.
        staging.remove_all()
        delivery = Delivery(target, folder, target.job, batch_id)
        delivery.run(staging, lambda: [(staging / note, "") for note in notes()])

    return WorkerSink(
        _Files(staging, write_file, target.options["sink.rolling-policy.file-size"]), commit
    )


@dataclass(frozen=True, slots=True)
class _Files:
    """Writes the rows of a task, if there are any, to files whose names are the notes."""

    folder: Location
    write: WriteFile
    enough: int  # bytes of a file

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        from tidemark.runtime.combining import gathered

        tables = self._pieces(gathered(batch for batch in batches if batch.num_rows))
        for first in tables:
            self.folder.make()
            name = uuid.uuid4().hex
            with (self.folder / name).output() as file:
                rows = self.write(file, chain([first], tables), self.enough)
            yield rows, name

    def _pieces(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """None much larger than a file is to be."""
        for table in tables:
            parts = max(1, table.nbytes // max(1, self.enough))
            rows = -(-table.num_rows // parts)
            for start in range(0, table.num_rows, rows):
                yield table.slice(start, rows)


def follows_watermark(options: Mapping[str, Any]) -> bool:
    """Whether partitions are committed by it."""
    commit = PartitionCommit.of(options)
    return commit is not None and commit.by_watermark


def upkeep(target: Target) -> Upkeep | None:
    """Partitions that rows alone do not complete are committed between batches."""
    from tidemark.spark.upkeep import Upkeep

    commit = PartitionCommit.of(target.options)
    if commit is None or commit.at_once or not target.table.partitioned_by:
        return None
    folder = Location.of(target.options["path"], target.access)

    def run(query: str, moment: Moment) -> None:
        commit_due(folder, target.job or query, commit, moment)

    every = None if commit.by_watermark else min(max(commit.delay_ms / 10_000, 1.0), 60.0)
    return Upkeep(run, every)


# --- by Spark ----------------------------------------------------------------------------------


def write(request: WriteRequest, format_: Format, fields: tuple[FormatField, ...]) -> None:
    """Append the rows, or replace what they overwrite."""
    folder = _folder_of(request)
    delivery = Delivery(request, folder, _job_of(request), request.batch_id)
    staging = folder / f".staging-{delivery.name}"
    staging.remove_all()
    delivery.run(staging, _BySpark(request, format_, fields, staging))


def _job_of(request: WriteRequest) -> str | None:
    """The streaming job's identity; Spark stores one in each checkpoint."""
    if request.batch_id is None or request.job is not None:
        return request.job
    from pyspark.errors import PySparkException

    try:
        context = request.frame.sparkSession.sparkContext
    except (PySparkException, AttributeError):  # not available over Spark Connect
        return None
    query: str | None = context.getLocalProperty("sql.streaming.queryId")
    return query


@dataclass(frozen=True, slots=True)
class _BySpark:
    request: WriteRequest
    format: Format
    fields: tuple[FormatField, ...]
    staging: Location

    def __call__(self) -> Iterator[tuple[Location, str]]:
        self._write()
        for found in self.staging.files():
            folder, name = posixpath.split(found.name)
            if not is_hidden(name) and self._has_rows(found):
                for file in self._in_pieces(found):
                    yield file, self._partition(folder)

    def _write(self) -> None:
        from pyspark.sql import functions as f

        partitioned = self.request.table.partitioned_by
        inside = tuple(x for x in self.fields if x.name not in partitioned)
        by_name = {x.name: x for x in self.fields}
        keys = tuple(f"_tm_key_{i}" for i in range(len(partitioned)))
        frame = self.request.frame.select(
            *(f.col(x.sql) for x in inside),
            *(
                f.expr(_key_string(by_name[name])).alias(key)
                for name, key in zip(partitioned, keys, strict=True)
            ),
        )
        assert self.format.write is not None  # otherwise the planner has rejected the sink
        encoded = self.format.write(Encode(frame, inside, self.request.options, keys))
        encoded = self._spread(encoded, keys)
        writer = encoded.write.format(self.format.spark_source).options(**self._spark_options())
        (writer.partitionBy(*keys) if keys else writer).save(self.staging.for_spark)

    def _spread(self, encoded: DataFrame, keys: tuple[str, ...]) -> DataFrame:
        """The rows over as many tasks as there are to be files."""
        options = self.request.options
        parallelism = options["sink.parallelism"]
        if options["auto-compaction"] or (options["sink.shuffle-by-partition.enable"] and keys):
            width = () if parallelism is None else (parallelism,)
            return encoded.repartition(*width, *keys) if keys else encoded.coalesce(1)
        return encoded if parallelism is None else encoded.coalesce(parallelism)

    def _in_pieces(self, found: Found) -> Iterator[Location]:
        """The file, or several with its rows if it is larger than files should be. Spark can only
        limit the rows of a file, and their size is not known until the file is written.
        """
        options = self.request.options
        enough = options["sink.rolling-policy.file-size"]
        if options["auto-compaction"]:
            enough = options["compaction.file-size"] or enough
        if found.size <= enough:
            yield self.staging / found.name
            return
        rows = self._rows(found) * enough // found.size
        pieces = self.staging / f"_pieces-{found.name.replace('/', '-')}"
        source, spark = self.format.spark_source, self.request.frame.sparkSession
        reader = spark.read.format(source).options(recursiveFileLookup="true", **_LINES)
        whole = reader.load(as_hadoop_glob((self.staging / found.name).for_spark)).coalesce(1)
        settings = {**self._spark_options(), "maxRecordsPerFile": str(max(rows, 1))}
        whole.write.format(source).options(**settings).save(pieces.for_spark)
        for piece in pieces.files():
            if not is_hidden(piece.name):
                yield pieces / piece.name

    def _spark_options(self) -> dict[str, str]:
        options = self.request.options
        for key in ("parquet.compression", "orc.compress"):
            if options.get(key) is not None:
                return {"compression": options[key].lower()}
        return _LINES

    @property
    def _in_lines(self) -> bool:
        return self.format.name not in ("parquet", "orc")

    def _has_rows(self, found: Found) -> bool:
        return found.size > 0 if self._in_lines else self._rows(found) > 0

    def _rows(self, found: Found) -> int:
        """How many rows a file has; of a file of lines, more or less."""
        from pyarrow import orc, parquet

        if self._in_lines:
            return self._lines(found)
        with (self.staging / found.name).input() as file:
            if self.format.name == "parquet":
                return int(parquet.read_metadata(file).num_rows)
            return int(orc.ORCFile(file).nrows)

    def _lines(self, found: Found) -> int:
        """Guessed from the first of them, of a file with any."""
        with (self.staging / found.name).input() as file:
            start = file.read(1 << 20)
        return max(1, int(start.count(b"\n")) * found.size // len(start))

    def _partition(self, staged: str) -> str:
        """The folder of the rows in one that Spark has named, both below the table's."""
        if not staged:
            return ""
        values = [unquote(part.split("=", 1)[1]) for part in staged.split("/")]
        named = {
            name: None if value == _HIVE_NULL else value
            for name, value in zip(self.request.table.partitioned_by, values, strict=True)
        }
        return partition_folder(named, self.request.options["partition.default-name"])


def _key_string(field: FormatField) -> str:
    return f"nullif({to_string(field.sql, field.type)}, '')"
