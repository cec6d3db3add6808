"""The connector postgres-cdc: a table of PostgreSQL and its changes, straight from the database.

A snapshot of the table comes first, and then what logical decoding makes of the log. Both are read
by SQL, in workers: `pgoutput` is in every PostgreSQL, and nothing else must be installed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors import planned_stream, rows_by_workers
from tidemark.connectors.base import ColumnsRequest, Connector, Part, ReadRequest
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.metadata import METADATA
from tidemark.connectors.postgres_cdc.planning import planning
from tidemark.connectors.postgres_cdc.probes import probes
from tidemark.errors import PlanError

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

# The fields of a `Part` that say what is read: a file, or a range of positions of the log.
_FIELDS: Final = {"file": "STRING", "start": "BIGINT", "end": "BIGINT", "details": "STRING"}


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    bounded = o.is_bounded(options)
    return TableTraits(
        bounded=bounded,
        changelog=o.changelog_of(options),
        metadata=METADATA,
        noted=not bounded,
        readable=True,
    )


def opened(request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]:
    from tidemark.connectors.postgres_cdc.columns.parts import CdcColumns

    return CdcColumns(request)


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
    """What each task of a batch reads: one of them reads the table."""
    if not o.is_bounded(request.options):
        raise PlanError(
            f"`{request.table.name}` is unbounded and cannot be read in batch mode",
            source=request.table.source,
            hint=f"set '{o.STARTUP}' = 'snapshot' to read the table as it is",
        )
    return [(Part(),)]


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    asked = request.parts
    if asked is None:
        asked = [part for task in parts(request) for part in task]

    def frames() -> Iterator[pl.DataFrame]:
        read = opened(request)
        for part in asked:
            yield from read(part)

    return frames


def arriving(request: ReadRequest) -> DataFrame:
    """The parts that come in a stream."""
    if o.is_bounded(request.options):
        return request.once(_named(request))
    columns = rows_by_workers.columns_of(_FIELDS)
    return planned_stream.arriving(request.spark, planning(request), columns)


def read(request: ReadRequest) -> DataFrame:
    """The rows, for what Spark computes."""
    named = arriving(request) if request.streaming else _named(request)
    return rows_by_workers.read(request, named, opened, o.changelog_of(request.options))


def _named(request: ReadRequest) -> DataFrame:
    tasks = parts(rows_by_workers.columns_request(request))
    every = [part for task in tasks for part in task]
    return rows_by_workers.named(request, every, _FIELDS)


POSTGRES_CDC = Connector(
    name="postgres-cdc",
    options=o.OPTIONS,
    summary="a table of PostgreSQL and its changes",
    traits=traits,
    read=read,
    read_columns=read_columns,
    parts=parts,
    can_stream_columns=lambda request: True,
    arriving=arriving,
    always_in_columns=True,
    check=o.check,
    probes=probes,
)
