"""Topics of a real broker as streams of Spark."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidemark
from servers.kafka import Broker, Record
from tests.sink_files import written_rows
from tests.waiting import wait_until
from tidemark import Job, Session
from tidemark.session.live import LiveTable
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


def test_a_bounded_job_emits_all_when_its_partitions_have_ended(
    spark: SparkSession, kafka: Broker, tmp_path: Path
):
    topic = kafka.topic(partitions=3)  # of which one is empty
    kafka.send(topic, *at(range(50), 0), *at(range(10), 1))
    bounded = {"scan.bounded.mode": "latest-offset", "tidemark.kafka.max-records-per-batch": "40"}
    out = f"""
        CREATE TABLE found (opened TIMESTAMP(3), n BIGINT)
        WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/found')"""

    def run() -> int:
        """Run the job to its end, from where it has ended before; the number of micro-batches."""
        with tidemark.connect(spark, checkpoint=tmp_path / "state") as session:
            session.sql(table(kafka, topic, **bounded))
            session.sql(out)
            job = session.sql(f"INSERT INTO found {WINDOWS}").job
            assert job is not None
            job.wait()
            assert job.state == "finished"
            return job.progress().batches

    # Both for the records: the second one reads to the ends, and emits what they let go.
    assert run() == 2
    assert not [*(tmp_path / "state").rglob("end.json")]
    assert sorted(row["n"] for row in written_rows(tmp_path / "found")) == [10, 20, 30]

    kafka.send(topic, *at(range(50, 60), 0))
    run()

    assert len(written_rows(tmp_path / "found")) == 3


def test_partitions_and_tables_that_are_far_ahead_wait_for_the_others(
    spark: SparkSession, kafka: Broker, tmp_path: Path
):
    slow, fast = kafka.topic(partitions=2), kafka.topic()
    kafka.send(slow, *at(range(600, 640), 0), *at(range(80), 1))
    kafka.send(fast, *at(range(600, 640), 0))
    session = tidemark.connect(spark, checkpoint=tmp_path)
    options = {
        "scan.bounded.mode": "latest-offset",
        "scan.watermark.alignment.group": "all",
        "scan.watermark.alignment.max-drift": "1 min",
        "tidemark.kafka.max-records-per-batch": "30",
    }
    session.sql(table(kafka, slow, **options))
    session.sql(table(kafka, fast, **options).replace("TABLE t", "TABLE u"))
    session.sql("CREATE VIEW both_tables AS SELECT * FROM t UNION ALL SELECT * FROM u")

    found = [*rows_of(session.sql(WINDOWS.replace("TABLE t", "TABLE both_tables")).changes())]

    session.stop()
    counts = {row["window_start"].strftime("%M:%S"): row["n"] for row in found}
    early, late = ("00:00", "00:20", "00:40", "01:00"), ("10:00", "10:20")
    assert counts == dict.fromkeys(early, 20) | dict.fromkeys(late, 40)
    # The first micro-batch reads a part of all; then all wait for the partition that is behind.
    read = read_by_micro_batches(tmp_path)[:3]
    assert [each[slow] for each in read] == [{"0": 10, "1": n} for n in (20, 50, 80)]
    # The third one reads that to its end. Whatever is planned after it need not wait any more.
    assert [each[fast] for each in read[:2]] == [{"0": 30}] * 2


def read_by_micro_batches(checkpoint: Path) -> list[dict[str, dict[str, int]]]:
    """How far each micro-batch has come, by topic and partition, by Spark's log."""
    [log] = checkpoint.glob("*/spark/offsets")
    files = sorted(log.glob("[0-9]*"), key=lambda file: int(file.name))
    lines = [[line for line in file.read_text().splitlines() if line[:1] == "{"] for file in files]
    return [{k: v for line in of_one for k, v in json.loads(line).items()} for of_one in lines]


def test_a_partition_that_is_added_while_the_job_runs_is_read(kafka: Broker, session: Session):
    topic = kafka.topic()
    kafka.send(topic, *at(range(2), 0))
    session.sql(table(kafka, topic, scan__topic_partition_discovery__interval="100 ms"))
    changes = session.sql("SELECT id FROM t").changes()
    assert {next(changes).row["id"] for _ in range(2)} == {0, 1}
    kafka.add_partitions(topic, 2)
    kafka.send(topic, *at(range(5, 6), 1))
    assert next(changes).row["id"] == 5
    changes.close()


def test_a_job_resumes_after_the_last_record_that_it_has_read(
    spark: SparkSession, kafka: Broker, tmp_path: Path
):
    topic = kafka.topic(partitions=2)
    kafka.send(topic, *at(range(30), 0), *at(range(30), 1))
    found: dict[int, set[int]] = {}
    for more in (range(30, 50), range(50, 70)):
        session = tidemark.connect(spark, checkpoint=tmp_path / "state")
        session.sql(table(kafka, topic))
        windows = session.sql(WINDOWS).live()
        first = new_window(windows, found)
        found.setdefault(first["window_start"].second, set()).add(first["n"])
        [source] = session.jobs[-1].progress().followed
        known = {partition.name: partition.watermark is not None for partition in source.partitions}
        assert known == {f"{topic}-0": True, f"{topic}-1": True}
        job = session.jobs[-1]
        # The rows came out in the first micro-batch, before it had ended.
        wait_until(lambda job=job: lags(job) == {"t": {f"{topic}-0": 0, f"{topic}-1": 0}})
        windows.stop()
        session.stop()
        kafka.send(topic, *at(more, 0), *at(more, 1))
    assert found == {0: {40}, 20: {40}}


def new_window(windows: LiveTable, known: Container[int]) -> dict[str, Any]:
    """A window that is not known: a micro-batch that was stopped before it was committed runs again."""

    def new() -> list[dict[str, Any]]:
        return [row for row in windows.rows() if row["window_start"].second not in known]

    wait_until(lambda: bool(new()))
    return new()[0]


def lags(job: Job) -> dict[str, Any]:
    """How many records each partition of each table has that are not read yet."""
    return {position.table: position.lag() for position in job.progress().positions}


def rows_of(changes: Iterable[tidemark.Change]) -> Iterator[dict[str, Any]]:
    return (change.row for change in changes)
