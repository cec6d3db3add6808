"""The page about changes of PostgreSQL does what it says."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tidemark
from servers.postgres import Postgres
from tests.docs.examples import blocks_of
from tests.waiting import wait_until
from tidemark.session.result import JobResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).resolve().parents[3] / "docs" / "postgresql-changes.md"


def test_the_page_about_changes_does_what_it_says(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
):
    database = f"shop{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE DATABASE {database}")
    blocks = blocks_of(PAGE)
    made, changed = (block.text for block in blocks if block.language == "postgresql")
    shown = [block.text for block in blocks if block.language == "" and "customer |" in block.text]
    [script] = [block.text for block in blocks if block.file_name == "follow.sql"]
    here = script.replace("localhost:5432/shop", f"localhost:{postgres.port}/{database}")
    here = here.replace("'shop'", f"'{database}'").replace("'5432'", f"'{postgres.port}'")
    here = here.replace("localhost", "127.0.0.1").replace("'me'", "'postgres'")
    here = here.replace("'secret'", "'it''s a secret'")

    postgres.run(made, database=database)
    for expected in shown:
        run(spark, tmp_path / "state", here, postgres, database, rows_in(expected))
        postgres.run(changed, database=database) if expected is shown[0] else None
    drop = "SELECT pg_drop_replication_slot('totals_of_orders')::text"
    assert "pg_drop_replication_slot('totals_of_orders')" in PAGE.read_text()
    wait_until(lambda: not postgres.rows(ACTIVE))
    postgres.rows(drop, database)


ACTIVE = "SELECT 1 FROM pg_replication_slots WHERE slot_name = 'totals_of_orders' AND active"


def rows_in(table: str) -> list[tuple[str, int, str]]:
    """The rows of a table as psql prints it."""
    lines = [line.split("|") for line in table.splitlines()[2:]]
    return [(who.strip(), int(orders), amount.strip()) for who, orders, amount in lines]


def run(
    spark: SparkSession,
    state: Path,
    script: str,
    postgres: Postgres,
    database: str,
    expected: Sequence[tuple[Any, ...]],
) -> None:
    """Runs the job until its result is as expected, and stops it."""
    query = "SELECT customer, orders, amount::text FROM totals ORDER BY 1"
    with tidemark.connect(spark, checkpoint=state) as session:
        *_, result = session.run(script)
        assert isinstance(result, JobResult)
        wait_until(
            lambda: postgres.rows(query, database) == expected,
            lambda: postgres.rows(query, database),
            lambda: result.job.state == "running",
        )
