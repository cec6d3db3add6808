"""Writes to tables of Iceberg: tasks write files, and one snapshot has them all.

The snapshot's summary says which micro-batch of which job it is, so one that comes again after a
failure changes nothing.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.by_workers import noted
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.creating import create
from tidemark.connectors.iceberg.merging import IcebergMerge
from tidemark.connectors.iceberg.tables import (
    IcebergPlace,
    arrow_of,
    first_line,
    metadata_of,
    newest,
)
from tidemark.connectors.iceberg.writing import new_files
from tidemark.connectors.lake import staging
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.delivery import JobBatch, JobName
from tidemark.connectors.lake.encoding import TableColumns
from tidemark.connectors.lake.frames import physical_fields
from tidemark.errors import DataError, JobError, PlanError, TidemarkError
from tidemark.storage import Location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.table import Transaction

# How often a snapshot is tried that another writer's came before.
_ATTEMPTS: Final = 5
JOB: Final = "tidemark.job"
BATCH: Final = "tidemark.micro-batch"


def sink_of(target: Target) -> WorkerSink:
    """Makes the table if it does not exist, as in Flink. A table that does not fit is an error."""
    merges = o.upserts(target.options) or target.changelog is not Changelog.APPEND
    if target.overwrite and merges:
        raise PlanError(
            f"INSERT OVERWRITE is not supported for `{target.table.name}`",
            source=target.table.source,
            notes={"why": "its rows are replaced by key (same in Flink)"},
        )
    place = IcebergPlace.of(target.table, target.options, target.access)
    if not place.exists():
        create(place, target.table, physical_fields(target), target.options)
    table = place.opened()
    _check_partitions(target, table, place)
    schema = lake_types.check_writable(
        physical_fields(target), arrow_of(table.schema()), str(place)
    )
    columns = TableColumns(schema, str(place))
    delivery = IcebergDelivery(place, JobName.of(target), overwrite=target.overwrite)
    tasks = target.options["sink.parallelism"]
    if not merges:
        files = IcebergTableFiles(place, table.metadata_location, columns)
        return WorkerSink(files, delivery.commit_files, tasks=tasks, stages=True)
    folder = Location.of(table.location(), target.access)
    staged = staging.of(target, folder / "_tidemark", columns)
    merge = IcebergMerge(tuple(schema.names), staged.keys)

    def commit(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        with staged.ready():
            delivery.commit_changes(lambda: staged.changes(notes()), merge, batch_id)

    return WorkerSink(staged, commit, tasks=tasks, stages=True)


def write(request: WriteRequest) -> None:
    """The rows of Spark."""
    sink = sink_of(request)
    frame = request.frame if sink.tasks is None else request.frame.coalesce(sink.tasks)
    sink.commit(lambda: noted(frame, sink.write), request.batch_id)


def _check_partitions(target: Target, table: IcebergTable, place: IcebergPlace) -> None:
    """Those of the DDL must be those of the table; a table may have others, which only it knows,
    such as days of a time."""
    spec, schema = table.spec(), table.schema()
    own = [schema.find_field(one.source_id).name for one in spec.fields]
    declared = [*target.table.partitioned_by]
    if declared and [name.lower() for name in declared] != [name.lower() for name in own]:
        raise DataError(
            f"{place} is partitioned by ({', '.join(own)}), not by ({', '.join(declared)}) as "
            f"`{target.table.name}` is",
            hint="leave PARTITIONED BY out: the table knows its partitions",
        )


# --- in workers --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IcebergTableFiles:
    """Writes the rows of a task. Its notes are what the table is to know of the files."""

    place: IcebergPlace
    metadata: str
    columns: TableColumns

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        from tidemark.runtime.combining import gathered

        for rows in gathered(batch for batch in batches if batch.num_rows):
            static = metadata_of(self.metadata, self.place.properties)
            for file in new_files(static, self.columns.of(rows)):
                yield file.record_count, note_of(file, static.metadata.default_spec_id)


def note_of(file: DataFile, spec: int) -> str:
    """A file as a string. Which partitions it has is not in what is pickled."""
    return f"{spec} {base64.b64encode(pickle.dumps(file)).decode()}"


def file_of(note: str) -> DataFile:
    spec, content = note.split()
    file: DataFile = pickle.loads(base64.b64decode(content))
    file.spec_id = int(spec)
    return file


# --- where the job is --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IcebergDelivery:
    """Makes a snapshot of what tasks have written."""

    place: IcebergPlace
    job: JobName | None
    overwrite: bool = False

    def commit_files(self, notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        files = [*map(file_of, notes())]
        batch = JobBatch.of(self.job, batch_id)
        if files or self.overwrite:
            self._try(batch, lambda table, change: self._add(table, change, files))

    def commit_changes(
        self, changes: Callable[[], pa.Table | None], merge: IcebergMerge, batch_id: int | None
    ) -> None:
        found = changes()
        if found is not None:
            batch = JobBatch.of(self.job, batch_id)
            self._try(batch, lambda table, change: merge.run(table, change, found))

    def _add(self, table: IcebergTable, change: SnapshotChange, files: Sequence[DataFile]) -> None:
        if not self.overwrite:
            with change.snapshot().fast_append() as added:
                for file in files:
                    added.append_data_file(file)
            return
        with change.snapshot().overwrite() as written:
            for task in table.scan().plan_files():
                if not table.spec().fields or any(_same_partition(task.file, f) for f in files):
                    written.delete_data_file(task.file)
            for file in files:
                written.append_data_file(file)

    def _try(
        self, batch: JobBatch | None, make: Callable[[IcebergTable, SnapshotChange], None]
    ) -> None:
        """Make a snapshot, again if another writer's came first."""
        from pyiceberg.exceptions import CommitFailedException

        for attempt in range(1, _ATTEMPTS + 1):
            table = self.place.opened()
            if batch is not None and batch.is_written(self._last(table, batch), self.place):
                return
            try:
                with table.transaction() as transaction:
                    make(table, SnapshotChange(transaction, self.place.branch, _summary(batch)))
            except CommitFailedException as problem:
                if attempt == _ATTEMPTS:
                    raise self._failed(problem) from None
            except TidemarkError:
                raise
            except Exception as problem:
                raise self._failed(problem) from None
            else:
                return

    def _last(self, table: IcebergTable, batch: JobBatch) -> int | None:
        """The last micro-batch of the job that snapshots know."""
        found = newest(table, self.place)
        while found is not None:
            summary = found.summary.additional_properties if found.summary is not None else {}
            if summary.get(JOB) == batch.job:
                return int(summary[BATCH])
            parent = found.parent_snapshot_id
            found = None if parent is None else table.metadata.snapshot_by_id(parent)
        return None

    def _failed(self, problem: Exception) -> JobError:
        return JobError(
            f"cannot write a snapshot of {self.place}",
            notes={"why": f"{type(problem).__name__}: {first_line(problem)}"},
        )


def _summary(batch: JobBatch | None) -> dict[str, str]:
    return {} if batch is None else {JOB: batch.job, BATCH: str(batch.number)}


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """A transaction about to have a snapshot."""

    transaction: Transaction
    branch: str
    summary: Mapping[str, str] = field(default_factory=dict)

    def snapshot(self) -> Any:
        return self.transaction.update_snapshot(dict(self.summary), self.branch)


def _same_partition(one: DataFile, other: DataFile) -> bool:
    return bool(one.spec_id == other.spec_id and one.partition == other.partition)
