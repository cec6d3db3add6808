"""A connector that reads a table and then its changes: one task reads what a stream plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Changelog, Table, TableTraits
from tidemark.connectors import planned_stream, rows_by_workers
from tidemark.connectors.base import (
    ColumnsRequest,
    Connector,
    OptionSpec,
    Part,
    Probe,
    ReadRequest,
    TableUse,
)
from tidemark.connectors.planned_stream import Planning
from tidemark.errors import PlanError

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

_STARTUP: Final = "scan.startup.mode"
# The fields of a `Part` that say what is read: a file, or a range of the log.
_FIELDS: Final = {"file": "STRING", "start": "BIGINT", "end": "BIGINT", "details": "STRING"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CdcSystem:
    """A system whose changes are read."""

    name: str
    summary: str
    options: tuple[OptionSpec, ...]
    metadata: Mapping[str, t.DataType]
    changelog: Callable[[Mapping[str, Any]], Changelog]
    # What makes the planning of a stream where its driver is. It looks at the table first.
    planning: Callable[[ReadRequest], Callable[[], Planning]]
    # What reads parts, in workers.
    opened: rows_by_workers.Open
    check: Callable[[Table, Mapping[str, Any]], None]
    probes: Callable[[TableUse], Iterable[Probe]]

    def traits(self, table: Table, options: Mapping[str, Any]) -> TableTraits:
        bounded = is_bounded(options)
        return TableTraits(
            bounded=bounded,
            changelog=self.changelog(options),
            metadata=self.metadata,
            noted=not bounded,
            readable=True,
        )

    def parts(self, request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
        """What each task of a batch reads: one of them reads the table."""
        if not is_bounded(request.options):
            raise PlanError(
                f"`{request.table.name}` is unbounded and cannot be read in batch mode",
                source=request.table.source,
                hint=f"set '{_STARTUP}' = 'snapshot' to read the table as it is",
            )
        return [(Part(),)]

    def read_columns(self, request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
        asked = request.parts
        if asked is None:
            asked = [part for task in self.parts(request) for part in task]

        def frames() -> Iterator[pl.DataFrame]:
            read = self.opened(request)
            for part in asked:
                yield from read(part)

        return frames

    def arriving(self, request: ReadRequest) -> DataFrame:
        """The parts that come in a stream."""
        if is_bounded(request.options):
            return request.once(self._named(request))
        columns = rows_by_workers.columns_of(_FIELDS)
        return planned_stream.arriving(request.spark, self.planning(request), columns)

    def read(self, request: ReadRequest) -> DataFrame:
        """The rows, for what Spark computes."""
        named = self.arriving(request) if request.streaming else self._named(request)
        opened = rows_by_workers.part_by_part(self.opened)
        return rows_by_workers.read(request, named, opened, self.changelog(request.options))

    def _named(self, request: ReadRequest) -> DataFrame:
        tasks = self.parts(rows_by_workers.columns_request(request))
        every = [part for task in tasks for part in task]
        return rows_by_workers.named(request, every, _FIELDS)


def is_bounded(options: Mapping[str, Any]) -> bool:
    return bool(options[_STARTUP] == "snapshot")


def connector(system: CdcSystem) -> Connector:
    return Connector(
        name=system.name,
        options=system.options,
        summary=system.summary,
        traits=system.traits,
        read=system.read,
        read_columns=system.read_columns,
        parts=system.parts,
        can_stream_columns=lambda request: True,
        arriving=system.arriving,
        always_in_columns=True,
        check=system.check,
        probes=system.probes,
    )
