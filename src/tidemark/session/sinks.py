"""Where the rows of a plan go: to a table's connector, or to the reader of a query."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.base import (
    Connector,
    OneWriterSink,
    Target,
    WorkerSink,
    WriteRequest,
)
from tidemark.connectors.sent_types import fetched
from tidemark.connectors.unsupported import DELAYED_COMMIT_OVER_CONNECT, ONE_WRITER_OVER_CONNECT
from tidemark.errors import OptionError
from tidemark.physical.writing import Writes
from tidemark.plan.nodes import Edge, Sink
from tidemark.session.arrow import named
from tidemark.session.changes import Put
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import KIND, Frame
from tidemark.spark.handover import Consume, Handover
from tidemark.spark.jobs import Computed, Deliver
from tidemark.spark.remote import is_remote

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.upkeep import Upkeep


def writer(sink: Sink, zone: str, job: str | None) -> Consume:
    """Passes batches to the connector of the sink's table. `job` is its name across restarts."""
    connector = registry.lookup(sink.table)
    options = registry.options_of(sink.table)
    assert connector.write is not None  # the planner has called it
    write = connector.write

    def consume(frame: Frame) -> Handover:
        target = Target(
            table=sink.table,
            options=options,
            columns=frame.columns,
            types=sink.edge.types,
            changelog=frame.changelog,
            overwrite=sink.overwrite,
            zone=zone,
            job=job,
            started=frame.seed,
            access=access_of(frame.spark),
        )
        target, upkeep = _with_upkeep(target, connector, frame)
        worker_sink = None if connector.worker_sink is None else connector.worker_sink(target)
        if isinstance(worker_sink, OneWriterSink):
            return replace(_by_one_writer(frame, worker_sink, sink), upkeep=upkeep)
        if frame.packed is not None and worker_sink is not None:
            return replace(_in_workers(frame.packed, worker_sink), upkeep=upkeep)
        return Handover(frame.data, _by_frame(target, write), upkeep=upkeep)

    return consume


def writes(sink: Sink) -> Writes | None:
    """Who writes the sink's table; None if its connector has no other way than one."""
    try:
        connector = registry.lookup(sink.table)
    except OptionError:  # the planner has been given another answer
        return None
    if connector.writes is None:
        return None
    return connector.writes(sink.table, registry.options_of(sink.table), sink.edge.types)


def _with_upkeep(
    target: Target, connector: Connector, frame: Frame
) -> tuple[Target, Upkeep | None]:
    """What the target needs between batches, and the target with a name for what that keeps, also
    if the job cannot restart.
    """
    upkeep = connector.upkeep(target) if connector.upkeep is not None else None
    if connector.upkeep is None or upkeep is None:
        return target, None
    if is_remote(frame.spark):
        table = target.table
        where = f" (table `{table.name}`)"
        raise DELAYED_COMMIT_OVER_CONNECT.error(None, where=where, source=table.source)
    if target.job is None:
        target = replace(target, job=uuid.uuid4().hex[:16])
    return target, connector.upkeep(target)


def _by_frame(target: Target, write: Callable[[WriteRequest], None]) -> Deliver:
    def deliver(data: DataFrame, batch_id: int | None, _: Computed) -> int:
        from pyspark.sql import Observation
        from pyspark.sql.functions import count, lit

        seen = Observation()
        counted = data.observe(seen, count(lit(1)).alias("rows"))
        request = {field.name: getattr(target, field.name) for field in fields(Target)}
        write(WriteRequest(**request, frame=counted, batch_id=batch_id))
        return int(seen.get["rows"])

    return deliver


def _in_workers(packed: PackedRows, worker_sink: WorkerSink) -> Handover:
    """The workers write the rows to the sink; the driver only handles its notes."""

    def deliver(data: DataFrame, batch_id: int | None, computed: Computed) -> int:
        rows = 0

        def notes() -> list[str]:
            nonlocal rows
            written = data.toArrow().to_pydict()
            rows = sum(written["rows"])
            computed()
            return [note for note in written["note"] if note is not None]

        worker_sink.commit(notes, batch_id)
        return rows

    taken = packed.taken(worker_sink.write, worker_sink.tasks)
    return Handover(
        taken,
        deliver,
        rows="coalesce(sum(rows), 0)",
        computes_first=worker_sink.stages,
        packed=True,
    )


def _by_one_writer(frame: Frame, one: OneWriterSink, sink: Sink) -> Handover:
    """The workers encode the rows, and one of them writes what all have encoded."""
    from tidemark.spark.stateful import one_writer

    if is_remote(frame.spark):
        where = f" (table `{sink.table.name}`)"
        raise ONE_WRITER_OVER_CONNECT.error(None, where=where, source=sink.table.source)
    if frame.packed is not None:
        data = frame.packed.encoded(one.encode)
    else:
        data = one_writer.encoded(frame.data, one.encode)

    def deliver(data: DataFrame, batch_id: int | None, _: Computed) -> int:
        return one_writer.write(data, batch_id, one.write)

    packed = frame.packed is not None
    return Handover(data, deliver, rows="coalesce(sum(rows), 0)", packed=packed)


def on_client(sink: Sink) -> bool:
    """Whether the sink belongs to the client's own machine, as a terminal does."""
    return registry.lookup(sink.table).on_client


def follows_watermark(sink: Sink) -> bool:
    """Whether the sink waits for the watermark of its rows."""
    follows = registry.lookup(sink.table).follows_watermark
    return follows is not None and follows(registry.options_of(sink.table))


def collector(edge: Edge, zone: str, put: Put) -> Consume:
    """Passes batches to a reader as Arrow tables whose columns have the user's names."""

    def consume(frame: Frame) -> Handover:
        kinds = _kinds(frame)

        def read(
            data: DataFrame, compute: Callable[[DataFrame], pa.Table], packed: bool
        ) -> Handover:
            def deliver(data: DataFrame, batch_id: int | None, computed: Computed) -> int:
                table = compute(data)
                computed()
                if table.num_rows or batch_id is None:
                    put(named(table, edge, kinds, zone), batch_id)
                return int(table.num_rows)

            return Handover(data, deliver, computes_first=True, packed=packed)

        if frame.packed is not None and frame.packed.in_files:
            unpack = frame.packed.unpack
            return read(frame.packed.payloads, lambda packed: unpack.table(packed.toArrow()), True)
        columns = _for_arrow(frame, edge)
        return read(frame.data, lambda data: data.selectExpr(*columns).toArrow(), False)

    return consume


def _for_arrow(frame: Frame, edge: Edge) -> list[str]:
    columns = [fetched(*one) for one in zip(frame.columns, edge.types, strict=True)]
    return [*columns, *_kinds(frame)]


def _kinds(frame: Frame) -> list[str]:
    return [] if frame.changelog is Changelog.APPEND else [KIND]
