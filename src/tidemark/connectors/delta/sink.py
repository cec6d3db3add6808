"""Writes to tables of Delta: tasks write files, and one version of the table names them all.

The version also says which micro-batch of which job it is (`txn` in Delta's log), so one that comes
again after a failure changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.by_workers import noted
from tidemark.connectors.delta import options as o
from tidemark.connectors.delta.merging import DeltaMerge
from tidemark.connectors.delta.tables import DeltaPlace, check_writable, schema_of
from tidemark.connectors.delta.writing import DeltaTableFiles, NewFile, adds
from tidemark.connectors.lake import staging
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.delivery import JobBatch, JobName
from tidemark.connectors.lake.encoding import TableColumns
from tidemark.connectors.lake.frames import physical_fields
from tidemark.errors import DataError, JobError, PlanError
from tidemark.functions.arrow_types import to_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable

# How often a version is tried that another writer's came before.
_ATTEMPTS: Final = 5


def sink_of(target: Target) -> WorkerSink:
    """Makes the table if it does not exist, as in Flink. A table that does not fit is an error."""
    _check_overwrite(target)
    place = DeltaPlace.of(target.options[o.PATH], target.access)
    table = _opened(place, target)
    check_writable(table)
    _check_partitions(target, table, place)
    schema = lake_types.check_writable(physical_fields(target), schema_of(table), str(place))
    columns = TableColumns(schema, str(place))
    delivery = DeltaDelivery(place, JobName.of(target), overwrite=target.overwrite)
    tasks = target.options["sink.parallelism"]
    if target.table.primary_key is None:
        files = DeltaTableFiles(place.folder, columns, tuple(table.metadata().partition_columns))
        return WorkerSink(files, delivery.commit_files, tasks=tasks, stages=True)
    staged = staging.of(target, place.folder / "_tidemark", columns)
    merge = DeltaMerge(tuple(schema.names), staged.keys)

    def commit(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        with staged.ready():
            delivery.commit_changes(lambda: staged.changes(notes()), merge, batch_id)

    return WorkerSink(staged, commit, tasks=tasks, stages=True)


def write(request: WriteRequest) -> None:
    """The rows of Spark."""
    sink = sink_of(request)
    frame = request.frame if sink.tasks is None else request.frame.coalesce(sink.tasks)
    sink.commit(lambda: noted(frame, sink.write), request.batch_id)


def _check_overwrite(target: Target) -> None:
    if not target.overwrite:
        return
    table = target.table
    why = "it replaces only partitions that have new rows" if table.partitioned_by else None
    if table.primary_key is not None:
        why = "its rows are replaced by key"
    if why is not None:
        raise PlanError(
            f"INSERT OVERWRITE is not supported for `{table.name}`",
            source=table.source,
            notes={"why": why},
            hint="write INSERT INTO; Flink's connector for Delta only adds rows",
        )


def _opened(place: DeltaPlace, target: Target) -> DeltaTable:
    if not place.exists():
        _create(place, target)
    return place.opened()


def _create(place: DeltaPlace, target: Target) -> None:
    import pyarrow as pa
    from deltalake import DeltaTable, Schema
    from deltalake.exceptions import DeltaError

    fields = [
        pa.field(field.name, to_arrow(field.type), nullable=field.type.nullable)
        for field in physical_fields(target)
    ]
    properties = {k: v for k, v in target.options.items() if k.startswith(o.PROPERTIES)}
    if place.folder.is_local:
        place.folder.make()
    try:
        DeltaTable.create(
            place.folder.uri,
            Schema.from_arrow(pa.schema(fields)),
            partition_by=[*target.table.partitioned_by],
            configuration=properties or None,
            storage_options=place.settings,
            raise_if_key_not_exists=False,
        )
    except DeltaError as problem:
        if not place.exists():  # else another job was quicker
            raise JobError(
                f"cannot create the table {place}", notes={"why": str(problem).splitlines()[0]}
            ) from None


def _check_partitions(target: Target, table: DeltaTable, place: DeltaPlace) -> None:
    own, declared = tuple(table.metadata().partition_columns), target.table.partitioned_by
    if own != declared:
        raise DataError(
            f"{place} is partitioned by ({', '.join(own)}), not by ({', '.join(declared)}) as "
            f"`{target.table.name}` is",
            hint=f"declare PARTITIONED BY ({', '.join(own)})" if own else "leave it out",
        )


# --- where the job is --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeltaDelivery:
    """Makes a version of what tasks have written."""

    place: DeltaPlace
    job: JobName | None
    overwrite: bool = False

    def commit_files(self, notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        files = [*map(NewFile.read, notes())]
        batch = JobBatch.of(self.job, batch_id)
        try:
            if not files and not self.overwrite:
                return
            if not self._try(batch, lambda table, how: self._add(table, files, how)):
                self._remove(files)
        except BaseException:
            if batch is not None:
                # Nobody will name them: the micro-batch that comes again writes its own.
                self._remove_unnamed(files)
            raise

    def commit_changes(
        self, changes: Callable[[], pa.Table | None], merge: DeltaMerge, batch_id: int | None
    ) -> None:
        found = changes()
        if found is not None:
            batch = JobBatch.of(self.job, batch_id)
            self._try(batch, lambda table, how: merge.run(table, found, how))

    def _add(self, table: DeltaTable, files: Sequence[NewFile], how: CommitProperties) -> None:
        table.create_write_transaction(
            adds(files),
            "overwrite" if self.overwrite else "append",
            table.schema(),
            [*table.metadata().partition_columns],
            commit_properties=how,
        )

    def _try(
        self, batch: JobBatch | None, change: Callable[[DeltaTable, CommitProperties], None]
    ) -> bool:
        """Make a version, again if another writer's came first; whether there is a new one."""
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import CommitFailedError, DeltaError

        for attempt in range(1, _ATTEMPTS + 1):
            table = self.place.opened()
            if batch is not None and batch.is_written(table.transaction_version(batch.job), self):
                return False
            noted = None if batch is None else [Transaction(batch.job, batch.number)]
            try:
                change(table, CommitProperties(app_transactions=noted))
            except CommitFailedError as problem:
                if attempt == _ATTEMPTS:
                    raise self._failed(problem) from None
            except (DeltaError, OSError) as problem:
                raise self._failed(problem) from None
            else:
                return True
        raise AssertionError("the last attempt raises")

    def _failed(self, problem: Exception) -> JobError:
        lines = str(problem).splitlines() or [type(problem).__name__]
        return JobError(f"cannot write a version of {self.place}", notes={"why": lines[0]})

    def __str__(self) -> str:
        return str(self.place)

    def _remove_unnamed(self, files: Sequence[NewFile]) -> None:
        """If the version was written and only the answer was lost, its files stay."""
        with suppress(Exception):
            named = {self.place.file(uri) for uri in self.place.opened().file_uris()}
            self._remove([f for f in files if (self.place.folder / f.path).uri not in named])

    def _remove(self, files: Sequence[NewFile]) -> None:
        with suppress(OSError):
            for file in files:
                (self.place.folder / file.path).remove()
