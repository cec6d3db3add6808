"""The connectors kafka and upsert-kafka: topics as tables.

Workers fetch records by ranges of offsets with Kafka's C client and decode them as columns. On one
broker that took less CPU time than Spark's source, whose Java code has to become fast first and
hands each record over to Python (2.7 against 3.4 CPU seconds for a million records; 17 while it is
new), and it needs no jars.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog, Table, TableTraits
from tidemark.connectors.base import ColumnsRequest, Connector, Part, ReadRequest
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.kafka import sink
from tidemark.connectors.kafka.alignment import alignment_of
from tidemark.connectors.kafka.checks import (
    check,
    check_reading,
    check_upsert,
    check_upsert_reading,
)
from tidemark.connectors.kafka.client import Position, Topics
from tidemark.connectors.kafka.lag import lagging
from tidemark.connectors.kafka.metadata import METADATA
from tidemark.connectors.kafka.options import (
    OPTIONS,
    RECORD_FORMATS,
    UPSERT_OPTIONS,
    value_format,
)
from tidemark.connectors.kafka.probes import probes
from tidemark.connectors.kafka.properties import client_settings
from tidemark.connectors.kafka.sink_options import check_upsert_writing, check_writing
from tidemark.connectors.kafka.tasks import tasks_of
from tidemark.errors import PlanError

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["KAFKA", "METADATA", "UPSERT_KAFKA"]

Options = Mapping[str, Any]

# The records of a task of a batch.
_SHARE = 500_000


def traits(table: Table, options: Options) -> TableTraits:
    format_ = FORMATS[value_format(options)]
    return TableTraits(
        bounded=options["scan.bounded.mode"] != "unbounded",
        changelog=format_.changelog,
        metadata={**METADATA, **format_.metadata},
        partitioned=True,
        idle_ms=options["scan.watermark.idle-timeout"],
        readable=True,
        writable=True,
        accepts_updates=format_.changelog is not Changelog.APPEND,
    )


def upsert_traits(table: Table, options: Options) -> TableTraits:
    return replace(
        traits(table, options),
        changelog=Changelog.UPSERT,
        accepts_updates=True,
        upserts=True,
        updates_alone=True,
    )


# --- where to start and to end -----------------------------------------------------------------


def start_of(options: Options) -> Position:
    # An upsert table begins at the first record: it needs all keys.
    return Position(
        options.get("scan.startup.mode", "earliest-offset"),
        options.get("scan.startup.timestamp-millis"),
        options.get("scan.startup.specific-offsets"),
        options.get("properties.auto.offset.reset", "none"),
    )


def end_of(options: Options) -> Position | None:
    if options["scan.bounded.mode"] == "unbounded":
        return None
    return Position(
        options["scan.bounded.mode"],
        options["scan.bounded.timestamp-millis"],
        options["scan.bounded.specific-offsets"],
        option="scan.bounded.mode",
    )


# --- reading -----------------------------------------------------------------------------------


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
    """What each task of a batch reads."""
    options, table = request.options, request.table
    end = end_of(options)
    if end is None:
        raise PlanError(
            f"`{table.name}` is unbounded and cannot be read in batch mode",
            source=table.source,
            hint="set 'scan.bounded.mode', for example to 'latest-offset'",
        )
    topics = Topics(client_settings(table, options), options["topic"] or (), _pattern(options))
    keys = topics.partitions()
    starts, ends = start_of(options).found(topics, keys), end.found(topics, keys)
    latest = topics.bounds(keys)[1]
    found = []
    for topic, number in keys:
        start, last = starts[topic, number], min(ends[topic, number], latest[topic, number])
        for first in range(start, max(last, start), _SHARE):
            part = Part("", first, min(first + _SHARE, last), topic=topic, partition=number)
            found.append(part)
    tasks = tasks_of(found, lambda part: (part.end or 0) - part.start)
    return [*map(tuple, tasks)] or [()]


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    asked = request.parts
    if asked is None:
        asked = [part for task in parts(request) for part in task]

    def frames() -> Iterator[pl.DataFrame]:
        from tidemark.connectors.kafka.rows import KafkaColumns

        return KafkaColumns(request).read([*asked])

    return frames


def arriving(request: ReadRequest) -> DataFrame:
    """The ranges of offsets that come in a stream."""
    from tidemark.connectors.kafka import stream

    options = request.options
    assert request.folder is not None
    settings = client_settings(request.table, options)
    reading = stream.TopicReading(
        settings=settings,
        topics=options["topic"] or (),
        pattern=_pattern(options),
        start=start_of(options),
        end=end_of(options),
        folder=request.folder,
        most=sys.maxsize if request.whole else options["tidemark.kafka.max-records-per-batch"],
        fails=options["tidemark.kafka.on-data-loss"] == "fail",
        discovery_ms=options["scan.topic-partition-discovery.interval"],
        group="group.id" in settings,
        alignment=alignment_of(options, request.marks),
    )
    request.lagging.append(lagging(request.table.name, reading))
    return stream.arriving(request.spark, reading)


def read(request: ReadRequest) -> DataFrame:
    """The rows, for what Spark computes."""
    from tidemark.connectors.kafka import spark_rows

    upserts = request.table.option("connector") == "upsert-kafka"
    known = (upsert_traits if upserts else traits)(request.table, request.options)
    return spark_rows.read(request, known.changelog, arriving, parts)


def _pattern(options: Options) -> str | None:
    pattern: str | None = options.get("topic-pattern")
    return pattern


KAFKA = Connector(
    name="kafka",
    options=OPTIONS,
    summary="topics of Kafka",
    traits=traits,
    read=read,
    read_columns=read_columns,
    parts=parts,
    can_stream_columns=lambda request: True,
    arriving=arriving,
    always_in_columns=True,
    write=sink.write,
    worker_sink=sink.worker_sink,
    local_sink=sink.local_sink,
    formats=RECORD_FORMATS,
    check=check,
    checks_of_use={"read": check_reading, "write": check_writing},
    probes=probes,
)
UPSERT_KAFKA = replace(
    KAFKA,
    name="upsert-kafka",
    options=UPSERT_OPTIONS,
    summary="topics of Kafka as tables with a primary key: a record is an upsert or a delete",
    traits=upsert_traits,
    check=check_upsert,
    checks_of_use={"read": check_upsert_reading, "write": check_upsert_writing},
)
