"""What tables of Delta and Iceberg have in common: versions, made of data files that never change.

A version is a list of files, which one process finds out. Workers read the files in columns. In a
stream Spark keeps the version in its checkpoint, and a micro-batch reads the files of the versions
since the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tidemark.catalog.tables import Changelog
from tidemark.connectors import planned_stream, rows_by_workers
from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.connectors.planned_stream import Planning
from tidemark.connectors.rows_by_workers import Open
from tidemark.errors import PlanError

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

Options: TypeAlias = Mapping[str, Any]

# The fields of a `Part` that say which rows of a file are read.
FIELDS: Final = {"file": "STRING", "start": "BIGINT", "end": "BIGINT", "details": "STRING"}
# A task of a batch reads about so many bytes.
_SHARE: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class SizedPart:
    part: Part
    size: int


@dataclass(frozen=True, slots=True)
class LakeSource:
    """Reads tables of a kind, given the answers that differ."""

    # The files of the version that a batch reads. Called where the job is.
    files: Callable[[ColumnsRequest], Sequence[SizedPart]]
    # What reads them. Called in workers.
    open: Open
    # What plans a stream.
    planning: Callable[[ReadRequest], Callable[[], Planning]]
    # Whether a table is a stream, and which option says so.
    unbounded: Callable[[Options], bool]
    bounded_hint: str

    def parts(self, request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
        """What each task of a batch reads. Small files share one."""
        self._check_bounded(request)
        tasks: list[tuple[Part, ...]] = []
        waiting: list[Part] = []
        size = 0
        for file in self.files(request):
            waiting.append(file.part)
            size += file.size
            if size >= _SHARE:
                tasks.append((*waiting,))
                waiting, size = [], 0
        return [*tasks, (*waiting,)] if waiting or not tasks else tasks

    def read_columns(self, request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
        asked = request.parts
        if asked is None:
            self._check_bounded(request)
            asked = [file.part for file in self.files(request)]

        def frames() -> Iterator[pl.DataFrame]:
            read = self.open(request)
            for part in asked:
                yield from read(part)

        return frames

    def arriving(self, request: ReadRequest) -> DataFrame:
        """The files that come in a stream; those of a bounded table come at once."""
        if not self.unbounded(request.options):
            return request.once(self._named(request))
        columns = rows_by_workers.columns_of(FIELDS)
        return planned_stream.arriving(request.spark, self.planning(request), columns)

    def read(self, request: ReadRequest) -> DataFrame:
        """The rows, for what Spark computes."""
        parts = self.arriving(request) if request.streaming else self._named(request)
        return rows_by_workers.read(
            request, parts, rows_by_workers.part_by_part(self.open), Changelog.APPEND
        )

    def _named(self, request: ReadRequest) -> DataFrame:
        tasks = self.parts(rows_by_workers.columns_request(request))
        parts = [part for task in tasks for part in task]
        return rows_by_workers.named(request, parts, FIELDS)

    def lookup(self, request: LookupRequest) -> Lookup:
        """All rows of the newest version, whenever a worker loads the table."""
        columns = ColumnsRequest(
            table=request.table,
            options=request.options,
            columns=request.columns,
            types=request.types,
            metadata=request.metadata,
            zone=request.zone,
            now=datetime.now(UTC),
            read=request.read,
            access=request.access,
            conditions=request.conditions,
        )
        return Lookup(load=_Load(self, columns))

    def _check_bounded(self, request: ColumnsRequest) -> None:
        if self.unbounded(request.options):
            raise PlanError(
                f"`{request.table.name}` is unbounded and cannot be read in batch mode",
                source=request.table.source,
                hint=self.bounded_hint,
            )


@dataclass(frozen=True, slots=True)
class _Load:
    source: LakeSource
    request: ColumnsRequest

    def __call__(self) -> Iterator[pl.DataFrame]:
        return self.source.read_columns(self.request)()
