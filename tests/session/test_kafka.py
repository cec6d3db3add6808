"""Topics of a real broker as streams of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidemark
from servers.kafka import Broker, Record
from tidemark import Session
from tidemark.session.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WINDOWS = (
    "SELECT window_start, COUNT(*) AS n FROM TABLE("
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end"
)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[Session]:
    session = tidemark.connect(spark)
    yield session
    session.stop()


def table(kafka: Broker, topic: str, columns: str = "", **options: str) -> str:
    given = {
        "connector": "kafka",
        "topic": topic,
        "format": "json",
        "properties.bootstrap.servers": kafka.address,
        "scan.startup.mode": "earliest-offset",
        **{key.replace("__", ".").replace("_", "-"): value for key, value in options.items()},
    }
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return (
        f"CREATE TABLE t (id INT, ts TIMESTAMP(3){columns}, WATERMARK FOR ts AS ts) WITH ({pairs})"
    )


def at(seconds: range, partition: int) -> list[Record]:
    """A record in each of these seconds."""
    return [
        Record(f'{{"id": {s}, "ts": "2024-01-01 00:{s // 60:02}:{s % 60:02}"}}', None, partition)
        for s in seconds
    ]


@pytest.mark.parametrize("columns", ["", ", clock AS CAST(PROCTIME() AS STRING)"])
def test_a_partition_that_is_behind_makes_no_rows_late(
    kafka: Broker, session: Session, columns: str
):
    # Each micro-batch reads a bit of both, whose times are a minute apart; Spark computes the clock.
    topic = kafka.topic(partitions=2)
    kafka.send(topic, *at(range(60, 85), 0), *at(range(75), 1))
    bounded = {"scan.bounded.mode": "latest-offset", "tidemark.kafka.max-records-per-batch": "40"}
    session.sql(table(kafka, topic, columns, **bounded))
    query = WINDOWS if not columns else WINDOWS.replace("COUNT(*)", "COUNT(clock)")

    [verified] = verify(session, query)

    assert verified.equal, verified


def test_a_job_resumes_after_the_last_record_that_it_has_read(
    spark: SparkSession, kafka: Broker, tmp_path: Path
):
    topic = kafka.topic(partitions=2)
    kafka.send(topic, *at(range(30), 0), *at(range(30), 1))
    found: dict[int, set[int]] = {}
    for more in (range(30, 50), range(50, 70)):
        session = tidemark.connect(spark, checkpoint=tmp_path / "state")
        session.sql(table(kafka, topic))
        changes = session.sql(WINDOWS).changes()
        # The micro-batch that was stopped before it was committed runs again.
        first = next(row for row in rows_of(changes) if row["window_start"].second not in found)
        found.setdefault(first["window_start"].second, set()).add(first["n"])
        [source] = session.jobs[-1].progress().followed
        known = {partition.name: partition.watermark is not None for partition in source.partitions}
        assert known == {f"{topic}-0": True, f"{topic}-1": True}
        [position] = session.jobs[-1].progress().positions
        assert (position.table, position.lag()) == ("t", {f"{topic}-0": 0, f"{topic}-1": 0})
        changes.close()
        session.stop()
        kafka.send(topic, *at(more, 0), *at(more, 1))
    assert found == {0: {40}, 20: {40}}


def rows_of(changes: Iterable[tidemark.Change]) -> Iterator[dict[str, Any]]:
    return (change.row for change in changes)
