"""Tables of PostgreSQL and their changes in jobs on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import tidemark
from servers.postgres import Postgres
from tests.connectors.postgres_cdc.streams import captured, options
from tests.waiting import wait_until
from tidemark.session.result import JobResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_job_goes_on_where_it_was_and_its_result_is_that_of_the_table(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
):
    source = captured(postgres, "id int primary key, who text, n int", "(1, 'a', 1), (2, 'b', 2)")
    sums = postgres.table("who text primary key, total bigint, ids bigint")
    script = f"""
        CREATE TABLE source (id INT, who STRING, n INT, PRIMARY KEY (id) NOT ENFORCED)
        {options(postgres, source)};
        CREATE TABLE sums (who STRING, total BIGINT, ids BIGINT, PRIMARY KEY (who) NOT ENFORCED)
        {postgres.options(sums)};
        INSERT INTO sums SELECT who, SUM(n), COUNT(*) FROM source GROUP BY who;
    """
    changes = [
        (),
        (
            f"UPDATE {source} SET who = 'c', n = 5 WHERE id = 1",
            f"INSERT INTO {source} VALUES (3, 'b', 7), (4, 'd', 1)",
            f"DELETE FROM {source} WHERE id = 2",
            f"UPDATE {source} SET id = 5 WHERE id = 4",
        ),
    ]
    for each in changes:
        postgres.run(*each)  # while no job runs
        run(spark, tmp_path / "state", script, postgres, source, sums)


def run(
    spark: SparkSession, state: Path, script: str, postgres: Postgres, source: str, sums: str
) -> None:
    """Runs the job until its result is what the database has, and stops it."""
    session = tidemark.connect(spark, checkpoint=state)
    *_, result = session.run(script)
    assert isinstance(result, JobResult)
    expected = f"SELECT who, SUM(n), COUNT(*) FROM {source} GROUP BY who ORDER BY who"

    def same() -> bool:
        found = postgres.rows(f"SELECT who, total, ids FROM {sums} ORDER BY who")
        return found == postgres.rows(expected)

    try:
        wait_until(
            same,
            lambda: postgres.rows(f"SELECT * FROM {sums}"),
            lambda: result.job.state == "running",
        )
    finally:
        session.stop()
