"""Where the rows of a plan go: into a table's connector, or to whoever reads a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tidemark import connectors
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import WriteRequest
from tidemark.functions import spark_text
from tidemark.plan.nodes import Edge, Sink
from tidemark.session.arrow import named
from tidemark.spark.frame import KIND, Frame
from tidemark.spark.launch import Consume

if TYPE_CHECKING:
    import pyarrow as pa


def writer(sink: Sink, zone: str, job: str | None) -> Consume:
    """Gives batches to the connector of the sink's table. `job` is its name across restarts."""
    connector = connectors.lookup(sink.table)
    options = connectors.options_of(sink.table)
    assert connector.write is not None  # the planner has asked
    write = connector.write

    def consume(frame: Frame, batch_id: int | None) -> int:
        from pyspark.sql import Observation
        from pyspark.sql.functions import count, lit

        seen = Observation()
        request = WriteRequest(
            frame=frame.data.observe(seen, count(lit(1)).alias("rows")),
            table=sink.table,
            options=options,
            columns=frame.columns,
            types=sink.edge.types,
            changelog=frame.changelog,
            batch_id=batch_id,
            overwrite=sink.overwrite,
            zone=zone,
            job=job,
        )
        write(request)
        return int(seen.get["rows"])

    return consume


def on_client(sink: Sink) -> bool:
    """Whether the sink belongs to the client's own machine, as a terminal does."""
    return connectors.lookup(sink.table).on_client


def collector(edge: Edge, zone: str, put: Callable[[pa.Table], None]) -> Consume:
    """Gives batches to a reader as Arrow tables whose columns have the user's names."""

    def consume(frame: Frame, batch_id: int | None) -> int:
        data = frame.data.selectExpr(*_for_arrow(frame, edge))
        table = data.toArrow()
        kinds = _kinds(frame)
        if table.num_rows or batch_id is None:
            put(named(table, edge, kinds, zone))
        return int(table.num_rows)

    return consume


def _for_arrow(frame: Frame, edge: Edge) -> list[str]:
    """Spark has no Arrow form for intervals of months; they travel as their number."""
    texts = []
    for name, type_ in zip(frame.columns, edge.types, strict=True):
        column = spark_text.name(name)
        if isinstance(type_, t.YearMonthInterval):
            column = f"extract(YEAR FROM {column}) * 12 + extract(MONTH FROM {column}) AS {column}"
        texts.append(column)
    return [*texts, *_kinds(frame)]


def _kinds(frame: Frame) -> list[str]:
    return [] if frame.changelog is Changelog.APPEND else [KIND]
