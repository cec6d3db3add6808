"""TO_CHANGELOG and FROM_CHANGELOG on Spark, as streams that stop and go on, and as batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import tidemark
from tidemark.errors import DataError
from tidemark.session.failures import diagnose

from .stories import Story, goes_as_told

CODES = "MAP['c, r', 'INSERT', 'b', 'UPDATE_BEFORE', 'u', 'UPDATE_AFTER', 'd', 'DELETE']"
STREAM = (
    "CREATE TABLE log (op STRING, who STRING, points INT) WITH ('connector' = 'filesystem', "
    "'path' = '{folder}/log', 'format' = 'json'%s);\n"
)
VIEW = f"CREATE VIEW scores AS SELECT * FROM FROM_CHANGELOG(input => TABLE log, op_mapping => {CODES});"
CHANGES = (
    "SELECT * FROM TO_CHANGELOG(input => (SELECT who, SUM(points) AS total FROM scores GROUP BY who), "
    "op_mapping => MAP['INSERT, UPDATE_AFTER', 'now', 'DELETE', 'gone'])"
)


def row(text: str) -> dict[str, Any]:
    op, who, points = text.split()
    return {"op": op, "who": who, "points": int(points)}


@pytest.fixture
def story(spark: SparkSession, tmp_path: Path) -> Iterator[Story]:
    story = Story(spark, tmp_path, ("log",))
    yield story
    story.end()


def test_changes_in_and_changes_out_go_on_after_a_restart(story: Story):
    goes_as_told(
        story,
        STREAM % ", 'source.monitor-interval' = '1'" + VIEW + CHANGES,
        """
        table   | row      | comes out
        --------+----------+------------
        log     | c ann 3  | now ann 3
        log     | r bob 4  | now bob 4
        restart |          |
        log     | b ann 3  | gone ann 3
        log     | u ann 5  | now ann 5
        log     | c ann 1  | now ann 6
        log     | d bob 4  | gone bob 4
        """,
        row,
    )


@pytest.mark.parametrize("computed", ["who", "IF(RAND() < 2, who, '')"], ids=["columns", "Spark"])
def test_rows_of_kinds_without_a_code_advance_the_watermark(computed: str, story: Story):
    """In columns of workers, and by Spark, which alone computes RAND."""
    table = (
        "CREATE TABLE log (who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ("
        "'connector' = 'filesystem', 'path' = '{folder}/log', 'format' = 'debezium-json', "
        "'source.monitor-interval' = '1');\n"
    )
    deletes = (
        f"CREATE VIEW gone AS SELECT * FROM TO_CHANGELOG(input => (SELECT {computed} AS who, ts "
        "FROM log), op_mapping => MAP['DELETE', 'gone']);\n"
    )
    windows = "SELECT op, COUNT(*) FROM gone GROUP BY op, TUMBLE(ts, INTERVAL '10' SECOND)"

    def event(text: str) -> dict[str, Any]:
        op, who, second = text.split()
        row = {"who": who, "ts": f"2024-01-01 00:00:{int(second):02}"}
        return {"op": op, "before" if op == "d" else "after": row}

    goes_as_told(
        story,
        table + deletes + windows,
        """
        table   | row      | comes out
        --------+----------+----------
        log     | c ann 1  |
        log     | d ann 1  |
        log     | c bob 9  |
        restart |          |
        log     | c eve 25 | gone 1
        """,
        event,
    )


def test_a_code_that_is_not_known_fails_a_stream_with_its_file(story: Story):
    script = STREAM % ", 'source.monitor-interval' = '1'" + VIEW + "SELECT who FROM scores"
    story.begin(script)
    story.step("log", row("c ann 3"))

    with pytest.raises(Exception) as raised:
        story.step("log", row("x ann 3"))
    assert diagnose(raised.value).message.endswith("does not know the op code 'x'")


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[tidemark.Session]:
    (tmp_path / "log").mkdir()
    lines = map(row, ["c ann 3", "c bob 4", "b ann 3", "u ann 5", "d bob 4", "x eve 9"])
    (tmp_path / "log" / "1.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    session = tidemark.connect(spark)
    session.sql((STREAM % "").replace("{folder}", str(tmp_path)))
    session.sql(VIEW)
    yield session
    session.stop()


def test_a_code_that_is_not_known_fails_even_if_its_row_is_dropped(session: tidemark.Session):
    with pytest.raises(DataError, match="does not know the op code 'x'"):
        session.sql("SELECT who FROM scores WHERE who = 'ann'").rows()


def test_a_batch_has_the_changes_that_a_stream_has(session: tidemark.Session):
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    known = "(SELECT * FROM log WHERE op <> 'x')"
    rows = f"(SELECT * FROM FROM_CHANGELOG(input => {known}, op_mapping => {CODES}))"
    totals = f"(SELECT who, SUM(points) AS total FROM {rows} GROUP BY who)"

    result = session.sql(f"SELECT * FROM TO_CHANGELOG(input => {totals})")
    changes = [tuple(change.row.values()) for change in result.changes()]
    assert sorted(changes, key=lambda change: change[1]) == [
        ("INSERT", "ann", 3),
        ("DELETE", "ann", 3),
        ("INSERT", "ann", 5),
        ("INSERT", "bob", 4),
        ("DELETE", "bob", 4),
    ]
