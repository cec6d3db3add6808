"""Reads tables of Iceberg: the files of one snapshot, or of those that come."""

from __future__ import annotations

import base64
import json
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.columns_by_name import column, frame_of, names_in
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.statistics import of_files
from tidemark.connectors.iceberg.tables import (
    IcebergPlace,
    arrow_of,
    metadata_of,
    newest,
    schema_at,
    tagged,
    understood,
)
from tidemark.connectors.lake import LakeSource, SizedPart, as_of
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.frames import Frames, physical_fields
from tidemark.connectors.made_rows import NO_COLUMN
from tidemark.connectors.planned_stream import Offset, Planning
from tidemark.connectors.rows_by_workers import columns_request
from tidemark.connectors.statistics import StatisticsTest
from tidemark.errors import DataError
from tidemark.spark.file_systems import access_of

if TYPE_CHECKING:
    import polars as pl
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.table.snapshots import Snapshot


def files(request: ColumnsRequest) -> Sequence[SizedPart]:
    """The files of the snapshot that a batch reads."""
    place = IcebergPlace.of(request.table, request.options, request.access)
    table = place.opened()
    snapshot = _snapshot(table, place, request)
    schema = schema_at(table.metadata, snapshot)
    lake_types.check_readable(physical_fields(request), arrow_of(schema), str(place), narrows=True)
    return snapshot_files(table, place, snapshot, StatisticsTest.of(request))


def _snapshot(table: IcebergTable, place: IcebergPlace, request: ColumnsRequest) -> Snapshot | None:
    options = request.options
    if options[as_of.NAME] is not None:
        return at(table, place, as_of.milliseconds(options[as_of.NAME], request.zone))
    if options[o.TAG] is not None:
        return tagged(table, place, options[o.TAG])
    if options[o.SNAPSHOT] is not None:
        return _known(table, place, options[o.SNAPSHOT])
    if options[o.TIMESTAMP] is not None:
        return at(table, place, options[o.TIMESTAMP])
    return newest(table, place)


def _known(table: IcebergTable, place: IcebergPlace, number: int) -> Snapshot:
    found = table.metadata.snapshot_by_id(number)
    if found is None:
        raise DataError(
            f"{place} has no snapshot {number}",
            hint="old snapshots go when they expire",
        )
    return found


def at(table: IcebergTable, place: IcebergPlace, milliseconds: int) -> Snapshot:
    """The snapshot that was the newest at a time."""
    import datetime as dt

    number = None
    for entry in table.metadata.snapshot_log:
        if entry.timestamp_ms <= milliseconds:
            number = entry.snapshot_id
    if number is None:
        time = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
        raise DataError(f"{place} has no snapshot at {time:%Y-%m-%d %H:%M:%S} UTC or before")
    return _known(table, place, number)


def snapshot_files(
    table: IcebergTable,
    place: IcebergPlace,
    snapshot: Snapshot | None,
    test: StatisticsTest | None = None,
) -> list[SizedPart]:
    if snapshot is None:
        return []
    schema = schema_at(table.metadata, snapshot)
    scan = table.scan(snapshot_id=snapshot.snapshot_id)
    return parts_of(table, place, schema, scan.plan_files, test)


def parts_of(
    table: IcebergTable,
    place: IcebergPlace,
    schema: Schema,
    plan: Callable[[], Iterable[FileScanTask]],
    test: StatisticsTest | None = None,
) -> list[SizedPart]:
    """Files that may have rows which pass the test, with what a worker needs to read them."""
    try:
        tasks = [*plan()]
    except Exception as problem:
        raise understood(problem, place) from None
    if test is not None:
        known = of_files(test, [task.file for task in tasks], schema)
        tasks = [*compress(tasks, test.may_have_rows(known, len(tasks)))]
    found = []
    for task in tasks:
        details = {
            "metadata": table.metadata_location,
            "schema": schema.schema_id,
            "spec": task.file.spec_id,
            "task": base64.b64encode(pickle.dumps(task)).decode(),
        }
        part = Part(task.file.file_path, details=json.dumps(details))
        found.append(SizedPart(part, task.file.file_size_in_bytes))
    return sorted(found, key=lambda one: one.part.file)


# --- in workers --------------------------------------------------------------------------------


def opened(request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]:
    place = IcebergPlace.of(request.table, request.options, request.access)
    return IcebergFiles(request, place)


@dataclass(frozen=True, slots=True)
class IcebergFiles:
    """Reads data files by pyiceberg, which knows their columns by number and applies deletes."""

    request: ColumnsRequest
    place: IcebergPlace

    def __call__(self, part: Part) -> Iterator[pl.DataFrame]:
        frames = Frames(self.request)
        fields = [field for field in frames.fields if frames.is_read(field)]
        for rows in self._rows(part, fields):
            if self.request.count is not None:
                self.request.count(rows.height, 0)
            yield frames.made(rows, {}, part.file)

    def _rows(self, part: Part, fields: Sequence[FormatField]) -> Iterator[pl.DataFrame]:
        import polars as pl
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        details = json.loads(part.details)
        static = metadata_of(details["metadata"], self.place.properties)
        metadata = static.metadata
        schema = next(s for s in metadata.schemas if s.schema_id == details["schema"])
        task = pickle.loads(base64.b64decode(details["task"]))
        task.file.spec_id = details["spec"]  # which is not in what is pickled
        names = names_in(arrow_of(schema), fields)
        # Without a column, rows could not be counted.
        wanted = [name for name in names if name is not None] or [schema.fields[0].name]
        scan = ArrowScan(metadata, static.io, schema.select(*wanted), AlwaysTrue())
        try:
            for batch in scan.to_record_batches([task]):
                rows = frame_of(batch)
                if not fields:
                    yield pl.DataFrame({NO_COLUMN: pl.repeat(None, rows.height, eager=True)})
                    continue
                try:
                    yield rows.select(map(column, fields, names))
                except pl.exceptions.PolarsError as problem:
                    raise DataError(
                        f"{part.file}  a value is not of its column's type",
                        notes={"why": str(problem).splitlines()[0]},
                    ) from None
        except (DataError, MemoryError):
            raise
        except FileNotFoundError:
            raise DataError(
                f"{part.file}  the file is gone",
                notes={"why": "a snapshot names it; maybe old snapshots have expired"},
            ) from None
        except Exception as problem:
            raise understood(problem, self.place) from None


# --- as a stream -------------------------------------------------------------------------------


@dataclass(frozen=True)
class IcebergReading:
    """What a stream reads."""

    place: IcebergPlace
    fields: tuple[FormatField, ...]
    options: Mapping[str, Any] = field(repr=False)
    started_ms: int
    test: StatisticsTest | None = None  # which files have to pass


def planning(request: ReadRequest) -> Callable[[], Planning]:
    place = IcebergPlace.of(request.table, request.options, access_of(request.spark))
    fields = physical_fields(request)
    test = StatisticsTest.of(columns_request(request))
    reading = IcebergReading(place, fields, dict(request.options), request.start.at_ms, test)
    # What is wrong with the table is an error at once.
    table = place.opened()
    lake_types.check_readable(fields, arrow_of(table.schema()), str(place), narrows=True)
    return lambda: SnapshotPlanning(reading)


# Before the first snapshot: no snapshot has this number.
_BEFORE_ALL = 0


class SnapshotPlanning:
    """Plans micro-batches of snapshots. An offset is the last snapshot that was read, None before
    a first one that is read as a whole.
    """

    def __init__(self, reading: IcebergReading) -> None:
        self._reading = reading
        self._looked: float | None = None
        self._table: IcebergTable | None = None
        self._until: dict[str, Any] | None = None

    def initial(self) -> dict[str, Any]:
        """It derives from the options, and from when the job first started."""
        return {"snapshot": self._initial()}

    def _initial(self) -> int | None:
        options, place = self._reading.options, self._reading.place
        if options[o.START_SNAPSHOT] is not None:
            return int(options[o.START_SNAPSHOT])
        if options[o.START_TAG] is not None:
            return int(tagged(place.opened(), place, options[o.START_TAG]).snapshot_id)
        if options[o.START_TIMESTAMP] is not None:
            return self._before(options[o.START_TIMESTAMP] - 1)
        strategy = options[o.STRATEGY]
        if strategy == o.EARLIEST:
            return _BEFORE_ALL
        if strategy == o.LATEST_EXCLUSIVE:
            return self._before(self._reading.started_ms)
        if strategy == o.LATEST:
            last = self._before(self._reading.started_ms)
            found = place.opened().metadata.snapshot_by_id(last)
            return _BEFORE_ALL if found is None else found.parent_snapshot_id or _BEFORE_ALL
        return None

    def _before(self, milliseconds: int) -> int:
        """The newest snapshot of a time; the first ones may be after it."""
        place = self._reading.place
        table = place.opened()
        if all(one.timestamp_ms > milliseconds for one in table.metadata.snapshot_log):
            return _BEFORE_ALL
        return int(at(table, place, milliseconds).snapshot_id)

    def latest(self, start: Offset) -> dict[str, Any]:
        if self._until is not None:
            return self._until
        now, every = time.monotonic(), self._reading.options[o.INTERVAL] / 1000
        before = start["snapshot"]
        if before is not None and self._looked is not None and now - self._looked < every:
            return dict(start)
        self._looked = now
        found = newest(self._refreshed(), self._reading.place)
        return dict(start) if found is None else {"snapshot": int(found.snapshot_id)}

    def _refreshed(self) -> IcebergTable:
        if self._table is None:
            self._table = self._reading.place.opened()
        else:
            with self._reading.place.asking():
                self._table.refresh()
        return self._table

    def stop_here(self) -> None:
        found = newest(self._refreshed(), self._reading.place)
        if found is not None:
            self._until = {"snapshot": int(found.snapshot_id)}

    def parts(self, start: Offset, end: Offset) -> list[tuple[Any, ...]]:
        before, last = start["snapshot"], end["snapshot"]
        if last is None or before == last:
            return []
        table, place = self._refreshed(), self._reading.place
        snapshot = _known(table, place, last)
        self._check_schema(table, snapshot)
        if before is None:
            found = snapshot_files(table, place, snapshot, self._reading.test)
        else:
            found = self._new_files(table, before, snapshot)
        return [(one.part.file, 0, None, one.part.details) for one in found]

    def _check_schema(self, table: IcebergTable, snapshot: Snapshot) -> None:
        where = f"snapshot {snapshot.snapshot_id} of {self._reading.place}"
        schema = arrow_of(schema_at(table.metadata, snapshot))
        lake_types.check_readable(self._reading.fields, schema, where, narrows=True)

    def _new_files(self, table: IcebergTable, before: int, last: Snapshot) -> list[SizedPart]:
        """The files that snapshots have added since."""
        for snapshot in [*self._since(table, before, last)]:
            self._check_adds(snapshot)
        scan = table.incremental_append_scan().to_snapshot_id_inclusive(last.snapshot_id)
        if before != _BEFORE_ALL:
            scan = scan.from_snapshot_id_exclusive(before)
        schema = schema_at(table.metadata, last)
        return parts_of(table, self._reading.place, schema, scan.plan_files, self._reading.test)

    def _since(self, table: IcebergTable, before: int, last: Snapshot) -> Iterator[Snapshot]:
        found: Snapshot | None = last
        while found is not None:
            yield found
            parent = found.parent_snapshot_id
            if parent is None or parent == before:
                if (parent or _BEFORE_ALL) != before:
                    break
                return
            found = table.metadata.snapshot_by_id(parent)
        raise DataError(
            f"snapshot {before} of {self._reading.place} is not among those before "
            f"{last.snapshot_id} any more",
            notes={"why": "snapshots have expired, or the table was set back or made anew"},
            hint="start the job without its checkpoint; it reads the newest snapshot first",
        )

    def _check_adds(self, snapshot: Snapshot) -> None:
        what = snapshot.summary.operation.value if snapshot.summary is not None else "append"
        if what in ("append", "replace") or self._reading.options[o.SKIP_CHANGES]:
            return
        raise DataError(
            f"snapshot {snapshot.snapshot_id} of {self._reading.place} changes or deletes rows "
            "that may have been read",
            notes={"operation": what},
            hint=f"'{o.SKIP_CHANGES}' = 'true' passes over such snapshots, as Flink does",
        )

    def commit(self, end: Offset) -> None:
        """Nobody else keeps account."""


SOURCE = LakeSource(
    files,
    opened,
    planning,
    lambda options: bool(options[o.STREAMING]),
    f"leave '{o.STREAMING}' out to read the newest snapshot",
)
