"""The blackhole connector: computes every row and discards it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector, Target, WorkerSink, WriteRequest

if TYPE_CHECKING:
    import pyarrow as pa


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(writable=True, accepts_updates=True, upserts=True, updates_alone=True)


def write(request: WriteRequest) -> None:
    request.frame.write.format("noop").mode("overwrite").save()


def worker_sink(target: Target) -> WorkerSink:
    return WorkerSink(_counted, _done, stages=True)


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, None]]:
    yield sum(batch.num_rows for batch in batches), None


def _done(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
    notes()


BLACKHOLE = Connector(
    name="blackhole",
    options=(),
    summary="discards all rows",
    traits=traits,
    write=write,
    worker_sink=worker_sink,
)
