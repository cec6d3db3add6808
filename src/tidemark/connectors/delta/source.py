"""Reads tables of Delta: the files of one version, or of those that come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.delta import options as o
from tidemark.connectors.delta.log import Commit, commits
from tidemark.connectors.delta.statistics import of_adds, of_snapshot
from tidemark.connectors.delta.tables import DeltaPlace, check_readable, check_reader, schema_of
from tidemark.connectors.delta.values import text_of, value_of
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.lake import LakeSource, SizedPart, as_of
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.data_files import AboutFile, DataFiles
from tidemark.connectors.lake.frames import physical_fields
from tidemark.connectors.planned_stream import Offset, Planning
from tidemark.connectors.rows_by_workers import columns_request
from tidemark.connectors.statistics import StatisticsTest
from tidemark.errors import DataError
from tidemark.spark.file_systems import access_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from deltalake import DeltaTable


def files(request: ColumnsRequest) -> Sequence[SizedPart]:
    """The files of the version that a batch reads."""
    options = request.options
    place = DeltaPlace.of(options[o.PATH], request.access)
    table = _version(place, options, request.zone)
    check_readable(table)
    fields = physical_fields(request)
    lake_types.check_readable(fields, schema_of(table), str(place))
    return snapshot(place, table, StatisticsTest.of(request))


def _version(place: DeltaPlace, options: Mapping[str, Any], zone: str) -> DeltaTable:
    if options[o.VERSION] is not None:
        return place.opened(options[o.VERSION])
    if options[as_of.NAME] is not None:
        return place.at(as_of.milliseconds(options[as_of.NAME], zone))
    if options[o.TIMESTAMP] is None:
        return place.opened()
    wanted = o.milliseconds(options[o.TIMESTAMP])
    newest = place.opened().version()
    if wanted > place.made_ms(newest):
        raise DataError(
            f"'{o.TIMESTAMP}' = '{options[o.TIMESTAMP]}' is after version {newest} of {place}, "
            "the newest one (same in Flink)",
            hint="leave it out to read the newest version",
        )
    return place.at(wanted)


def snapshot(
    place: DeltaPlace, table: DeltaTable, test: StatisticsTest | None = None
) -> list[SizedPart]:
    """All files of a version that may have rows which pass the test."""
    import pyarrow as pa

    names = table.metadata().partition_columns
    deleted = _deletion_vectors(place, table)
    actions = pa.table(table.get_add_actions(flatten=True))
    wanted = ["path", "size_bytes", *(f"partition.{name}" for name in names)]
    files = actions.select(wanted).to_pylist()
    values = [{name: text_of(file[f"partition.{name}"]) for name in names} for file in files]
    met = [True] * len(files)
    if test is not None:
        met = test.may_have_rows(of_snapshot(test, actions, values), len(files))
    found = []
    for action, own in compress(zip(files, values, strict=True), met):
        file = place.file(action["path"])
        about = AboutFile(own, deleted.get(file))
        found.append(SizedPart(Part(file, details=about.written()), action["size_bytes"]))
    return sorted(found, key=lambda one: one.part.file)


def _deletion_vectors(place: DeltaPlace, table: DeltaTable) -> dict[str, np.ndarray]:
    """Which rows of files are still in the table, where some are not."""
    import pyarrow as pa

    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    vectors = pa.table(table.deletion_vectors().read_all())
    kept = vectors["selection_vector"]
    return {
        place.file(file): kept[row].values.to_numpy(zero_copy_only=False)
        for row, file in enumerate(vectors["filepath"].to_pylist())
    }


def opened(request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]:
    return DataFiles(request, value_of)


# --- as a stream -------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaReading:
    """What a stream reads."""

    place: DeltaPlace
    fields: tuple[FormatField, ...]
    options: Mapping[str, Any] = field(repr=False)
    started_ms: int
    test: StatisticsTest | None = None  # which files have to pass


def planning(request: ReadRequest) -> Callable[[], Planning]:
    place = DeltaPlace.of(request.options[o.PATH], access_of(request.spark))
    fields = physical_fields(request)
    options = {key: request.options[key] for key in request.options if key != "connector"}
    test = StatisticsTest.of(columns_request(request))
    reading = DeltaReading(place, fields, options, request.start.at_ms, test)
    # What is wrong with the table is an error at once.
    table = place.opened()
    check_readable(table)
    lake_types.check_readable(fields, schema_of(table), str(place))
    return lambda: VersionPlanning(reading)


class VersionPlanning:
    """Plans micro-batches of versions. An offset is the last version that was read, None before a
    first one that is read as a whole.
    """

    def __init__(self, reading: DeltaReading) -> None:
        self._reading = reading
        self._looked: float | None = None
        self._table: DeltaTable | None = None
        self._until: int | None = None

    def initial(self) -> dict[str, Any]:
        """It derives from the options, and from when the job first started."""
        place, options = self._reading.place, self._reading.options
        version, start = options[o.START_VERSION], options[o.START_TIMESTAMP]
        if version == "latest":
            return {"version": place.at(self._reading.started_ms).version()}
        if version is not None:
            return {"version": int(version) - 1}
        if start is not None:
            return {"version": self._first_from(o.milliseconds(start)) - 1}
        return {"version": None}

    def _first_from(self, milliseconds: int) -> int:
        """The first version at or after a time."""
        place = self._reading.place
        newest = place.opened().version()
        if place.made_ms(newest) < milliseconds:
            raise DataError(
                f"'{o.START_TIMESTAMP}' = '{self._reading.options[o.START_TIMESTAMP]}' is after "
                f"version {newest} of {place}, the newest one (same in Flink)",
            )
        try:
            before = place.at(milliseconds).version()
        except DataError:
            return 0  # all versions are after it
        return int(before) if place.made_ms(before) == milliseconds else int(before) + 1

    def latest(self, start: Offset) -> dict[str, Any]:
        before = start["version"]
        newest = self._until if self._until is not None else self._newest(before)
        if before is not None and newest < before:
            newest = before
        return {"version": newest}

    def _newest(self, before: int | None) -> int:
        now, every = time.monotonic(), self._reading.options[o.INTERVAL] / 1000
        if before is not None and self._looked is not None and now - self._looked < every:
            return before
        self._looked = now
        if self._table is None:
            self._table = self._reading.place.opened()
        else:
            self._table.update_incremental()
        newest = int(self._table.version())
        if before is not None and newest < before:
            raise DataError(
                f"{self._reading.place} is at version {newest}, but version {before} was read",
                notes={"why": "the table was made anew, or its log is an older copy"},
                hint="start the job without its checkpoint",
            )
        return newest

    def stop_here(self) -> None:
        self._until = int(self._reading.place.opened().version())

    def parts(self, start: Offset, end: Offset) -> list[tuple[Any, ...]]:
        before, last = start["version"], end["version"]
        place = self._reading.place
        if before is None:
            found = [one.part for one in self._all_of(last)]
        else:
            versions = commits(place, before + 1, last)
            found = [part for commit in versions for part in self._new_files(commit)]
        return [(part.file, 0, None, part.details) for part in found]

    def _all_of(self, version: int) -> list[SizedPart]:
        table = self._reading.place.opened(version)
        check_readable(table)
        self._check_schema(table)
        return snapshot(self._reading.place, table, self._reading.test)

    def _check_schema(self, table: DeltaTable) -> None:
        place = f"version {table.version()} of {self._reading.place}"
        lake_types.check_readable(self._reading.fields, schema_of(table), place)

    def _new_files(self, commit: Commit) -> Iterator[Part]:
        """The files that a version adds. Those of one that deletes or changes rows are read or
        passed over as the options say; else it is an error."""
        check_reader(commit.reader_features)
        if commit.changes_table:
            self._check_schema(self._reading.place.opened(commit.version))
        ignored = [o.IGNORE_CHANGES] if commit.adds else [o.IGNORE_DELETES, o.IGNORE_CHANGES]
        if commit.removes and not any(self._reading.options[name] for name in ignored):
            raise self._refused(commit)
        if any("deletionVector" in add for add in commit.adds):
            raise self._refused(commit)
        for add in self._needed(commit.adds):
            about = AboutFile(add["partitionValues"])
            yield Part(self._reading.place.file(add["path"]), details=about.written())

    def _needed(self, adds: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The files that may have rows which pass the test."""
        test = self._reading.test
        if test is None:
            return iter(adds)
        return compress(adds, test.may_have_rows(of_adds(test, adds), len(adds)))

    def _refused(self, commit: Commit) -> DataError:
        what, option = "deletes rows", o.IGNORE_DELETES
        if commit.adds:
            what, option = "changes rows that may have been read", o.IGNORE_CHANGES
        return DataError(
            f"version {commit.version} of {self._reading.place} {what}",
            notes={"operation": commit.operation or "unknown"},
            hint=f"'{option}' = 'true' goes on, as in Flink: see what it means in the docs",
        )

    def commit(self, end: Offset) -> None:
        """Nobody else keeps account."""


SOURCE = LakeSource(
    files,
    opened,
    planning,
    lambda options: options[o.MODE] == "streaming",
    f"leave '{o.MODE}' out to read the newest version",
)
