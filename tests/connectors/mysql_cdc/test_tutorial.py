"""The page about changes of MySQL does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import tidemark
from servers.mysql import MySql
from servers.ports import HOST
from tests.connectors.test_jdbc_mysql_page import here
from tests.docs.examples import blocks_of
from tests.waiting import wait_until
from tidemark.session.result import JobResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mysql-changes.md"


def test_the_page_about_changes_does_what_it_says(
    spark: SparkSession, mysql: MySql, tmp_path: Path
):
    blocks = blocks_of(PAGE)
    made, changed = (block.text for block in blocks if block.language == "mysql")
    shown = [rows_in(block.text) for block in blocks if "| customer |" in block.text]
    [script] = [here(block.text, mysql) for block in blocks if block.file_name == "follow.sql"]
    script = script.replace("'localhost'", f"'{HOST}'").replace("'3306'", f"'{mysql.port}'")

    mysql.run("DROP TABLE IF EXISTS orders, totals")
    mysql.run(*statements(made))
    for expected in shown:
        run(spark, tmp_path / "state", script, mysql, expected)
        mysql.run(*statements(changed) if expected is shown[0] else ())


def statements(text: str) -> list[str]:
    return [*filter(str.strip, text.split(";\n"))]


def rows_in(table: str) -> list[tuple[str, ...]]:
    """The rows of a table as MySQL's client prints it."""
    lines = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line) for line in lines[1:]]


def run(
    spark: SparkSession, state: Path, script: str, mysql: MySql, expected: list[tuple[str, ...]]
) -> None:
    """Runs the job until its result is as expected, and stops it."""

    def found() -> list[tuple[Any, ...]]:
        rows = mysql.rows("SELECT customer, orders, amount FROM totals ORDER BY 1")
        return [tuple(map(str, row)) for row in rows]

    with tidemark.connect(spark, checkpoint=state) as session:
        *_, result = session.run(script)
        assert isinstance(result, JobResult)
        wait_until(lambda: found() == expected, found, lambda: result.job.state == "running")
