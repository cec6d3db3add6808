"""Windows on real Spark, where no recorded case can speak: EMIT, processing time, streams."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

import tidemark
from tidemark.session.session import Session
from tidemark.session.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = [("a", 1, 1), ("b", 2, 4), ("a", 3, 12), ("a", 4, 9), ("b", 5, 30), ("a", 6, 8)]
TABLE = """
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{path}');
"""
GROUP_WINDOW = (
    "SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, SUM(v) AS s FROM ev "
    "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
)
FUNCTION = (
    "SELECT k, window_start AS ws, SUM(v) AS s "
    "FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end, k"
)
KEYS = """
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '0 s';
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 s';
"""


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    lines = [
        f'{{"k": "{k}", "v": {v}, "ts": "{datetime(2024, 5, 6, 10, 0, second)}"}}'
        for k, v, second in ROWS
    ]
    (tmp_path / "ev.json").write_text("\n".join(lines), encoding="utf-8")
    made = tidemark.connect(spark)
    made.sql(TABLE.format(path=tmp_path / "ev.json"))
    made.sql("SET 'table.exec.emit.allow-lateness' = '1 min'")
    return made


def told(session: Session, sql: str) -> list[tuple[str, str, int, int]]:
    """Kind, key, start and sum of all changes; those of one key and window in their order."""
    changes = [
        (c.kind, c.row["k"], c.row["ws"].second, c.row["s"]) for c in session.sql(sql).changes()
    ]
    return sorted(changes, key=lambda change: change[1:3])


def test_the_emit_clause_means_what_the_keys_do_and_is_for_window_functions_too(session: Session):
    clause = told(session, f"{GROUP_WINDOW} EMIT WITHOUT DELAY")
    function = told(session, f"{FUNCTION} EMIT WITHOUT DELAY")
    session.sql(KEYS)

    assert clause == function == told(session, GROUP_WINDOW)
    assert [change for change in clause if change[1:3] == ("a", 0)] == [
        ("+I", "a", 0, 1),
        ("-U", "a", 0, 1),
        ("+U", "a", 0, 5),
        ("-U", "a", 0, 5),
        ("+U", "a", 0, 11),
    ]


def test_windows_by_the_clock_end_with_a_bounded_input(session: Session):
    rows = session.sql(
        "SELECT k, SUM(v) AS s, COUNT(*) AS n FROM ev GROUP BY k, TUMBLE(pt, INTERVAL '1' DAY)"
    ).rows()

    assert sorted((r["k"], r["s"], r["n"]) for r in rows) == [("a", 14, 4), ("b", 7, 2)]


@pytest.mark.thorough
def test_json_is_aggregated_with_and_without_nulls(session: Session):
    [row] = session.sql(
        "SELECT JSON_ARRAYAGG(NULLIF(v, 2)) AS a, JSON_ARRAYAGG(NULLIF(v, 2) NULL ON NULL) AS b, "
        "JSON_OBJECTAGG(KEY k || CAST(v AS STRING) VALUE NULLIF(v, 2) ABSENT ON NULL) AS c, "
        "JSON_ARRAYAGG(v) FILTER (WHERE v > 9) AS d FROM ev WHERE v < 4 "
        "GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"
    ).rows()

    assert row == {"a": "[1,3]", "b": "[1,null,3]", "c": '{"a1":1,"a3":3}', "d": "[]"}


def test_groups_are_emitted_once_in_batch_mode_with_the_final_results_of_a_stream(session: Session):
    query = "SELECT k, SUM(v) AS s FROM ev GROUP BY k"
    left = session.sql(query).rows()
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    told = [(change.kind, change.row) for change in session.sql(query).changes()]
    files = "'connector' = 'filesystem', 'format' = 'json', 'path' = '/nowhere'"
    session.sql(f"CREATE TABLE sums (k STRING, s INT) WITH ({files})")
    [verified] = verify(session, f"INSERT INTO sums {query}")

    assert sorted(told, key=str) == sorted((("+I", row) for row in left), key=str)
    assert verified.equal and verified.batch.rows == 2


@pytest.mark.thorough
def test_rows_of_sessions_can_be_ranked_in_a_stream_as_in_a_batch(session: Session):
    session.sql(
        "CREATE VIEW sessions AS SELECT * FROM TABLE(SESSION(TABLE ev PARTITION BY k, "
        "DESCRIPTOR(ts), INTERVAL '4' SECOND))"
    )
    ranked = (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
        "ORDER BY v DESC) AS rn FROM sessions) WHERE rn = 1"
    )

    [verified] = verify(session, ranked)

    assert verified.equal
    rows = sorted((row["k"], row["v"]) for row in session.sql(ranked).rows())
    assert rows == [("a", 1), ("a", 4), ("b", 2), ("b", 5)]


@pytest.mark.thorough
def test_results_that_wait_for_processing_time_are_emitted_when_a_bounded_stream_ends(
    session: Session, tmp_path: Path
):
    session.sql(
        "CREATE TABLE plain (k STRING, v INT, pt AS PROCTIME()) WITH ('connector' = 'filesystem', "
        f"'format' = 'json', 'path' = '{tmp_path / 'ev.json'}')"
    )
    windows = "SELECT k, SUM(v) AS s FROM {} GROUP BY k, TUMBLE(pt, INTERVAL '1' DAY)"
    sessions = (
        "SELECT k, v FROM TABLE(SESSION(TABLE plain PARTITION BY k, DESCRIPTOR(pt), "
        "INTERVAL '1' DAY))"
    )
    script = f"{windows.format('plain')}; {windows.format('ev')}; {sessions}"

    found = list(verify(session, script))

    assert [(one.equal, one.stream.rows) for one in found] == [(True, 2), (True, 2), (True, 6)]


@pytest.mark.thorough
def test_groups_may_be_kept_for_a_time_only(session: Session):
    session.sql("SET 'table.exec.state.ttl' = '1 h'")
    rows = session.sql("SELECT k, COUNT(*) AS n FROM ev GROUP BY k").rows()
    assert sorted((row["k"], row["n"]) for row in rows) == [("a", 4), ("b", 2)]
    assert len(session.sql("SELECT DISTINCT k FROM ev").rows()) == 2
