"""Workers on one machine exchange rows in files, and jobs clean up after themselves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

import tidemark
from tests.waiting import PATIENCE_SECONDS
from tidemark.spark import job_folders
from tidemark.spark.job_folders import JobFolders
from tidemark.storage import Access, Location

QUERY = """
    SELECT l.n, r.n AS m FROM l JOIN r ON l.n = r.n
    AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts
"""


def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(40_000).selectExpr("id AS n", "timestamp_millis(id * 10) AS ts")


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files of rows there were at the end of each job that has handed over any."""
    counts: list[int] = []
    remove = JobFolders.remove

    def counting(folders: JobFolders) -> None:
        if folders.payloads and Path(folders.payloads).exists():
            counts.append(len(list(Path(folders.payloads).rglob("*.arrow"))))
        remove(folders)

    monkeypatch.setattr(JobFolders, "remove", counting)
    return counts


def folders_of_jobs() -> list[str]:
    left = Path(SparkFiles.getRootDirectory()).glob("tidemark-*")
    return [path.name for path in left if path.name != "tidemark-segments"]


@pytest.mark.parametrize("how", ["batch", "stream"])
def test_many_rows_are_handed_over_in_files_that_go_with_the_job(
    spark: SparkSession, tmp_path: Path, removed: list[int], how: str
) -> None:
    before = folders_of_jobs()
    checkpoint = tmp_path / "checkpoint" if how == "stream" else None
    numbers(spark).write.parquet(str(tmp_path / "numbers"))
    with tidemark.connect(spark, checkpoint=checkpoint) as session:
        for table in "lr":
            session.sql(f"""
                CREATE TABLE {table} (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
                'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}/numbers')
            """)
        result = session.sql(QUERY)
        rows = result.rows()
        # The rows are there before the job has tidied up.
        assert result.job is not None and result.job.wait(PATIENCE_SECONDS)

    assert sorted(row["m"] for row in rows) == list(range(40_000))
    assert removed
    assert folders_of_jobs() == before


def test_a_table_made_of_tables_may_be_read_at_any_time(spark: SparkSession) -> None:
    left, right = numbers(spark), numbers(spark)
    with tidemark.connect(spark) as session:
        session.register("l", left, watermark="ts")
        session.register("r", right, watermark="ts")
        joined = session.sql(QUERY).to_dataframe()

    assert joined.count() == joined.where("n = m").count() == 40_000


def test_workers_of_a_cluster_share_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_folders, "access_of", lambda _: Access())
    settings = {"spark.master": "local-cluster[2,1,1024]"}
    cluster: Any = SimpleNamespace(conf=SimpleNamespace(get=settings.get))

    folders = JobFolders(cluster)

    assert folders.payloads is None
    assert folders.own.exists
    folders.remove()
    assert not folders.own.exists


def test_a_checkpoint_stays_where_it_is(spark: SparkSession, tmp_path: Path) -> None:
    folders = JobFolders(spark, Location.of(tmp_path))
    payloads = folders.payloads
    assert payloads is not None
    Path(payloads).mkdir()

    folders.remove()

    assert folders.own == Location.of(tmp_path) and tmp_path.is_dir()
    assert not Path(payloads).exists()
