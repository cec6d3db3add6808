"""Tables in Kafka for tests, and the rows that sinks get."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from tests.connectors.tables import declared
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors import registry
from tidemark.connectors.base import Target, WorkerSink
from tidemark.connectors.kafka.sink import local_sink
from tidemark.connectors.kafka.target import encoding_of
from tidemark.dialect.statements import MetadataColumn, PhysicalColumn


def kafka_table(columns: str, options: str, connector: str = "kafka", servers: str = "b") -> Table:
    """A table with these options, in SQL; a topic is given where they have none."""
    topic = "" if "'topic" in options else "'topic' = 't', "
    return declared(
        f"CREATE TABLE sent ({columns}) WITH ('connector' = '{connector}', {topic}"
        f"'properties.bootstrap.servers' = '{servers}', {options})"
    )


def target_of(table: Table, changelog: Changelog = Changelog.APPEND, zone: str = "UTC") -> Target:
    filled = [
        column
        for column in table.columns
        if isinstance(column, PhysicalColumn)
        or (isinstance(column, MetadataColumn) and not column.virtual)
    ]
    return Target(
        table=table,
        options=registry.options_of(table),
        columns=tuple(column.name for column in filled),
        types=tuple(column.type for column in filled),
        changelog=changelog,
        overwrite=False,
        zone=zone,
    )


def rows_of(rows: dict[str, list[Any]], schema: dict[str, Any] | None = None) -> pa.Table:
    return pl.DataFrame(rows, schema_overrides=schema or {}).to_arrow(
        compat_level=pl.CompatLevel.oldest()
    )


def encoded(
    table: Table, rows: pa.Table, changelog: Changelog = Changelog.APPEND, zone: str = "UTC"
) -> list[dict[str, Any]]:
    """The records that a sink makes of rows, which have a column of kinds if they are changes."""
    records: list[dict[str, Any]] = encoding_of(target_of(table, changelog, zone))(rows).to_pylist()
    return records


def write(table: Table, *rows: pa.Table, changelog: Changelog = Changelog.APPEND) -> int:
    """Write rows to the brokers, in this process: how many they were."""
    sink = local_sink(target_of(table, changelog))
    assert isinstance(sink, WorkerSink)
    batches = (batch for table_ in rows for batch in table_.to_batches())
    return sum(count for count, _ in sink.write(batches))
