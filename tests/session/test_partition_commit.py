"""A stream into partitions that are committed when the watermark has passed them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import tidemark
from tests.waiting import wait_until

SCRIPT = """
    CREATE TABLE events (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH (
      'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/events' {unbounded});
    CREATE TABLE hours (n INT, day_of STRING, hour_of STRING) PARTITIONED BY (day_of, hour_of) WITH (
      'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/hours',
      'partition.time-extractor.timestamp-pattern' = '$day_of $hour_of:00:00',
      'sink.partition-commit.trigger' = 'partition-time',
      'sink.partition-commit.delay' = '1 h',
      'sink.partition-commit.policy.kind' = 'success-file');
"""
INSERT = """
    INSERT INTO hours
    SELECT n, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM events
"""


class Hours:
    def __init__(self, spark: SparkSession, folder: Path, *, unbounded: bool) -> None:
        self.spark, self.folder = spark, folder
        monitored = ", 'source.monitor-interval' = '1'" if unbounded else ""
        self.script = SCRIPT.format(folder=folder, unbounded=monitored)
        (folder / "events").mkdir()

    def add(self, n: int, clock: str, table: str = "events") -> None:
        file = self.folder / f"{n}.json"
        file.write_text(f'{{"n": {n}, "ts": "2024-01-01 {clock}"}}\n')
        file.rename(self.folder / table / file.name)

    def run(self) -> tidemark.Session:
        session = tidemark.connect(self.spark, checkpoint=self.folder / "checkpoint")
        session.sql(self.script)
        return session

    @property
    def written(self) -> list[str]:
        parts = self.folder.glob("hours/[!.]*/*/part-*")
        return sorted(path.parent.name[-2:] for path in parts)

    @property
    def committed(self) -> list[str]:
        marks = self.folder.glob("hours/[!.]*/*/_SUCCESS")
        return sorted(path.parent.name[-2:] for path in marks)


def wait_for(done: Callable[[], bool], job: tidemark.Job) -> None:
    wait_until(done, seen=lambda: job.failure, alive=lambda: job.state == "running")


def test_an_hour_is_committed_when_the_watermark_has_passed_it_also_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    hours = Hours(spark, tmp_path, unbounded=True)
    hours.add(1, "00:30:00")
    hours.add(2, "01:30:00")
    with hours.run() as session:
        job = session.sql(INSERT).job
        wait_for(lambda: hours.written == ["00", "01"], job)
        # The watermark is 01:29, half an hour after the end of the first hour.
        wait_for(lambda: hours.committed == ["00"], job)
    with hours.run() as session:
        job = session.sql(INSERT).job
        hours.add(3, "02:00:59")
        wait_for(lambda: hours.written == ["00", "01", "02"], job)
        assert hours.committed == ["00"]
        hours.add(4, "02:01:01")
        wait_for(lambda: hours.committed == ["00", "01"], job)


def test_the_end_of_the_input_commits_what_is_left(spark: SparkSession, tmp_path: Path) -> None:
    hours = Hours(spark, tmp_path, unbounded=False)
    hours.add(1, "00:30:00")
    hours.add(2, "01:30:00")

    with hours.run() as session:
        session.sql(INSERT).job.wait()

    assert hours.committed == ["00", "01"]


def test_an_hour_of_windows_is_committed_when_the_watermark_has_passed_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    hours = Hours(spark, tmp_path, unbounded=True)
    hours.add(1, "00:30:00")
    hours.add(2, "01:30:00")
    with hours.run() as session:
        job = session.sql(
            "INSERT INTO hours SELECT MAX(n), DATE_FORMAT(window_start, 'yyyy-MM-dd'),"
            " DATE_FORMAT(window_start, 'HH')"
            " FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
            " GROUP BY window_start, window_end"
        ).job
        wait_for(lambda: hours.committed == ["00"], job)
        assert hours.written == ["00"]


def test_an_hour_of_two_tables_is_committed_when_both_watermarks_have_passed_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    hours = Hours(spark, tmp_path, unbounded=True)
    hours.add(1, "00:30:00")
    hours.add(2, "03:30:00")
    (tmp_path / "others").mkdir()
    with hours.run() as session:
        session.sql(f"CREATE TABLE others WITH ('path' = '{tmp_path}/others') LIKE events")
        others = INSERT.replace("FROM events", "FROM others").replace("INSERT INTO hours", "")
        job = session.sql(f"{INSERT} UNION ALL {others}").job
        wait_for(lambda: hours.written == ["00", "03"], job)
        hours.add(3, "00:59:00", "others")
        wait_for(lambda: hours.written == ["00", "00", "03"], job)
        assert hours.committed == []
        hours.add(4, "02:02:00", "others")
        wait_for(lambda: hours.committed == ["00"], job)
