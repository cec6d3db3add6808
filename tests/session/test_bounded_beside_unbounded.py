"""A table that ends beside one that does not: it has not ended before all of it has been read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidemark
from servers.kafka import Broker, Record
from tests.waiting import wait_until
from tidemark import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "id INT, ts TIMESTAMP(3)"
WATERMARK = "WATERMARK FOR ts AS ts"
FILES = "'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}'"
TOPIC = (
    "'connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset', "
    "'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}',"
    " 'scan.bounded.mode' = 'latest-offset', 'tidemark.kafka.max-records-per-batch' = '50'"
)
NEAR = (
    "SELECT t.id FROM t JOIN u ON t.id = u.id"
    " AND t.ts BETWEEN u.ts - INTERVAL '5' SECOND AND u.ts + INTERVAL '5' SECOND"
)
EVERY_FIFTIETH = list(range(0, 400, 50))


def row(second: int) -> dict[str, Any]:
    return {"id": second, "ts": f"2024-01-01 00:{second // 60:02}:{second % 60:02}"}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    """With an unbounded table that has some rows."""
    (tmp_path / "u").mkdir()
    lines = "".join(json.dumps(row(second)) + "\n" for second in EVERY_FIFTIETH)
    (tmp_path / "u" / "a.json").write_text(lines)
    with tidemark.connect(spark, checkpoint=tmp_path / "state") as session:
        files = FILES.format(folder=tmp_path / "u") + ", 'source.monitor-interval' = '1'"
        session.sql(f"CREATE TABLE u ({COLUMNS}, {WATERMARK}) WITH ({files})")
        yield session


def assert_matches_all(session: Session) -> None:
    with session.sql(NEAR).live() as found:
        wait_until(lambda: rows_read(session) == [400, len(EVERY_FIFTIETH)], found.rows)
        wait_until(lambda: len(found.rows()) == len(EVERY_FIFTIETH), found.rows)
        assert sorted(row["id"] for row in found.rows()) == EVERY_FIFTIETH
        assert not any(sum(join.late) for join in session.jobs[-1].progress().operators)


def rows_read(session: Session) -> list[int]:
    """By the join, of its inputs, the larger one first."""
    joins = session.jobs[-1].progress().operators
    return sorted((number for join in joins for number in join.rows_in), reverse=True)


def test_files_that_take_several_micro_batches_make_no_rows_late(session: Session, tmp_path: Path):
    (tmp_path / "t").mkdir()
    for number in range(4):
        rows = [row(second) for second in range(number * 100, number * 100 + 100)]
        (tmp_path / "t" / f"{number}.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
    few = FILES.format(folder=tmp_path / "t") + ", 'source.max-files-per-batch' = '1'"
    session.sql(f"CREATE TABLE t ({COLUMNS}, {WATERMARK}) WITH ({few})")

    assert_matches_all(session)


def test_a_topic_that_takes_several_micro_batches_makes_no_rows_late(
    session: Session, kafka: Broker
):
    topic = kafka.topic(partitions=2)
    kafka.send(topic, *(Record(json.dumps(row(s)), None, s // 200) for s in range(400)))
    options = TOPIC.format(topic=topic, address=kafka.address)
    session.sql(f"CREATE TABLE t ({COLUMNS}, {WATERMARK}) WITH ({options})")

    assert_matches_all(session)
