"""Files as a sink, written by the workers that have the rows as Arrow batches."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.by_workers import noted
from tidemark.connectors.filesystem.delivery import Delivery, job_of
from tidemark.connectors.filesystem.partition_columns import Partitions, can_name
from tidemark.connectors.filesystem.sinks import file_size, folder_of, spread
from tidemark.connectors.formats.base import FileWriter, Format, FormatField, OpenFile
from tidemark.errors import PlanError
from tidemark.physical.writing import Writes
from tidemark.storage import Location
from tidemark.types import STRING, Field

if TYPE_CHECKING:
    import pyarrow as pa

# How many files a task has open. More partitions than these are written to more files.
_MOST_OPEN = 100


def worker_sink(
    target: Target, format_: Format, fields: tuple[FormatField, ...]
) -> WorkerSink | None:
    """For rows that are written by the tasks that have them, in a format that has an encoder, or
    that Arrow writes like Spark.
    """
    options, compacts = target.options, target.options["auto-compaction"]
    if target.table.partitioned_by and (compacts or options["sink.shuffle-by-partition.enable"]):
        return None  # the rows of a partition are brought together first
    sink = local_sink(target, format_, fields)
    return sink and replace(sink, tasks=1 if compacts else options["sink.parallelism"])


def local_sink(
    target: Target, format_: Format, fields: tuple[FormatField, ...]
) -> WorkerSink | None:
    """For rows of one process."""
    folder = folder_of(target, format_)
    by_name = {field.name: field for field in fields}
    keys = tuple(by_name[name] for name in target.table.partitioned_by)
    inside = tuple(field for field in fields if field not in keys)
    writer = _writer(format_, inside, target.options)
    if writer is None or not inside or not can_name(keys):
        return None
    job = job_of(target)
    staging = folder / f".staging-{job or uuid.uuid4().hex}"

    def commit(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        def stage() -> list[tuple[Location, str]]:
            staging.make()  # before anything is computed: there may be no right to do so
            return [_staged(staging, note) for note in notes()]

        # Left by an interrupted attempt.
        staging.remove_all()
        Delivery(target, folder, job, batch_id).run(staging, stage)

    partitions = Partitions(keys, target.options["partition.default-name"])
    places = [fields.index(key) for key in keys]
    files = _Files(staging, writer, partitions, places, file_size(target.options))
    return WorkerSink(files, commit, stages=True)


def _writer(
    format_: Format, fields: tuple[FormatField, ...], options: Mapping[str, Any]
) -> FileWriter | None:
    from tidemark.formats.encoders import has_encoder

    if has_encoder(format_.name, options):
        return _Lines(format_.name, fields, options)
    return format_.by_arrow(fields, options) if format_.by_arrow is not None else None


def leaves_to_spark(format_: Format, inside: tuple[FormatField, ...]) -> bool:
    """Whether Spark writes the rows that it has computed."""
    return format_.write is not None and not format_.only_by_arrow(inside)


def writes(
    format_: Format,
    fields: tuple[FormatField, ...],
    partitioned_by: Sequence[str],
    options: Mapping[str, Any],
) -> Writes:
    """Who writes rows with these fields, and if it is Spark, what is to blame."""
    keys = [field for field in fields if field.name in partitioned_by]
    inside = tuple(field for field in fields if field not in keys)
    if not leaves_to_spark(format_, inside):
        return Writes(any_case=True)
    for option in ("auto-compaction", "sink.shuffle-by-partition.enable"):
        if keys and options[option]:
            return Writes(f"'{option}'")
    unnamed = [field for field in keys if not can_name([field])]
    for field in (*unnamed, *(f for f in inside if _writer(format_, (f,), options) is None)):
        return Writes(_blamed(field, format_, options))
    together = _writer(format_, inside, options) is not None
    return Writes(None if together else "columns of types that are not in one file together")


def _blamed(field: FormatField, format_: Format, options: Mapping[str, Any]) -> str:
    """A column, or an option that would keep any column from being written by workers."""
    plain = replace(field, type=STRING)
    if _writer(format_, (plain,), options) is not None:
        return f"column `{field.name}` of type {field.type.text()}"
    return f"the options of the {format_.name} format"


def write(request: WriteRequest, format_: Format, fields: tuple[FormatField, ...]) -> None:
    """The rows of Spark, in a format that it does not write itself."""
    sink = local_sink(request, format_, fields)
    if sink is None:
        raise PlanError(
            f"cannot write the rows of `{request.table.name}` as {format_.name}",
            source=request.table.source,
            notes={"why": "a partition column has no string, or all columns are of partitions"},
        )
    keys = [field.sql for field in fields if field.name in request.table.partitioned_by]
    rows = request.frame.select(*(field.sql for field in fields))
    tasks = spread(rows, keys, request.options)
    sink.commit(lambda: noted(tasks, sink.write), request.batch_id)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Writes rows as lines."""

    format: str
    fields: tuple[FormatField, ...]
    options: Mapping[str, Any]

    def encoded(self, rows: pa.Table) -> pa.Table:
        import polars as pl
        import pyarrow as pa

        from tidemark.formats.encoders import encoded

        frame = pl.from_arrow(rows)
        assert isinstance(frame, pl.DataFrame)
        of_format = [Field(field.name, field.type) for field in self.fields]
        return pa.table([encoded(self.format, frame, of_format, self.options)], ["line"])

    def start(self, file: pa.NativeFile) -> OpenFile:
        return _FileOfLines(file)


@dataclass(frozen=True, slots=True)
class _FileOfLines:
    file: pa.NativeFile

    def add(self, rows: pa.Table) -> None:
        from tidemark.formats.encoders import bytes_of

        for lines in rows.column(0).chunks:
            self.file.write(bytes_of(lines))

    def finish(self) -> None:
        """Nothing follows the last line."""


# --- the files of a task -----------------------------------------------------------------------


def _staged(staging: Location, note: str) -> tuple[Location, str]:
    """The file that a note is about, and its partition's folder."""
    folder, name = posixpath.split(note)
    return staging / name, folder


@dataclass(frozen=True, slots=True)
class _Files:
    """Writes the rows of a task, if there are any, to files of their partitions. Notes are the
    folders of these and the names of files.
    """

    staging: Location
    writer: FileWriter
    partitions: Partitions
    keys: Sequence[int]  # the places of their columns
    enough: int  # bytes of a file

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        from tidemark.runtime.combining import gathered

        with _OpenFiles(self.staging, self.writer, self.enough) as files:
            for table in gathered(batch for batch in batches if batch.num_rows):
                inside = [n for n in range(table.num_columns) if n not in self.keys]
                rows = self.writer.encoded(table.select(inside))
                for folder, own in self.partitions.divide(table.select(self.keys), rows):
                    yield from files.add(folder, own)
            yield from files.finish()


@dataclass(slots=True)
class _Growing:
    """A file that is being written."""

    name: str
    native: pa.NativeFile
    content: OpenFile
    rows: int = 0


class _OpenFiles:
    """The files that a task adds rows to, one for each folder."""

    def __init__(self, staging: Location, writer: FileWriter, enough: int) -> None:
        self._staging, self._writer, self._enough = staging, writer, enough
        self._open: dict[str, _Growing] = {}  # those added to last come last

    def __enter__(self) -> _OpenFiles:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes what a failed task has not finished; their names were never reported."""
        with ExitStack() as closing:
            for file in self._open.values():
                closing.callback(file.native.close)

    def add(self, folder: str, rows: pa.Table) -> Iterator[tuple[int, str]]:
        """Adds rows to the folder's file; the sizes and notes of files that are finished then."""
        for piece in _pieces(rows, self._enough):
            file = self._open.pop(folder, None) or self._new()
            self._open[folder] = file
            file.content.add(piece)
            file.rows += piece.num_rows
            if file.native.tell() >= self._enough:
                yield self._finished(folder)
        if len(self._open) > _MOST_OPEN:
            yield self._finished(next(iter(self._open)))

    def finish(self) -> Iterator[tuple[int, str]]:
        for folder in [*self._open]:
            yield self._finished(folder)

    def _new(self) -> _Growing:
        self._staging.make()
        name = uuid.uuid4().hex
        native = (self._staging / name).output()
        return _Growing(name, native, self._writer.start(native))

    def _finished(self, folder: str) -> tuple[int, str]:
        file = self._open[folder]
        file.content.finish()
        file.native.close()
        del self._open[folder]
        return file.rows, posixpath.join(folder, file.name)


def _pieces(rows: pa.Table, enough: int) -> Iterator[pa.Table]:
    """None much larger than a file is to be."""
    parts = max(1, rows.nbytes // max(1, enough))
    count = -(-rows.num_rows // parts)
    for start in range(0, rows.num_rows, count):
        yield rows.slice(start, count)
