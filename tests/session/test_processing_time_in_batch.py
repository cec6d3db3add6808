"""Processing time in a batch is the wall clock when the query runs, the same for all its rows."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

import tidemark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.session.session import Session

TABLE = """
SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = '{zone}';
CREATE TABLE ev (k STRING, v INT, pt AS PROCTIME())
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/ev.json');
"""
# Each gives the bounds of a window for each key.
WINDOWS = {
    "a group window": (
        "SELECT k, TUMBLE_START(pt, INTERVAL '1' MINUTE) AS ws, TUMBLE_END(pt, INTERVAL '1' MINUTE) AS we, "
        "SUM(v) AS s FROM ev GROUP BY k, TUMBLE(pt, INTERVAL '1' MINUTE)"
    ),
    "a group session": (
        "SELECT k, SESSION_START(pt, INTERVAL '1' MINUTE) AS ws, SESSION_END(pt, INTERVAL '1' MINUTE) AS we, "
        "SUM(v) AS s FROM ev GROUP BY k, SESSION(pt, INTERVAL '1' MINUTE)"
    ),
    "a window function": (
        "SELECT k, window_start AS ws, window_end AS we, SUM(v) AS s FROM "
        "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(pt), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"
    ),
    "a session function": (
        "SELECT k, window_start AS ws, window_end AS we, SUM(v) AS s FROM "
        "TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(pt), INTERVAL '1' MINUTE)) "
        "GROUP BY k, window_start, window_end"
    ),
}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    rows = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3}]
    (tmp_path / "ev.json").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return tidemark.connect(spark)


def clock(zone: str) -> datetime:
    return datetime.now(ZoneInfo(zone)).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("window", "zone"),
    [*((window, "UTC") for window in WINDOWS), ("a window function", "Asia/Kathmandu")],
)
def test_a_window_by_the_clock_is_around_the_time_of_the_batch(session, tmp_path, window, zone):
    session.sql(TABLE.format(folder=tmp_path, zone=zone))

    before = clock(zone)
    rows = session.sql(WINDOWS[window]).rows()
    after = clock(zone)

    assert sorted((row["k"], row["s"]) for row in rows) == [("a", 4), ("b", 2)]
    assert len({row["ws"] for row in rows}) == 1
    [start, end] = {(row["ws"], row["we"]) for row in rows}.pop()
    assert end - start == timedelta(minutes=1)
    # Of a second, because a session begins in its own and not on the minute.
    assert before - timedelta(minutes=1) < start <= after < end + (after - before)


def test_a_column_of_processing_time_is_one_moment_for_all_rows(session, tmp_path):
    session.sql(TABLE.format(folder=tmp_path, zone="UTC"))

    before = datetime.now(ZoneInfo("UTC"))
    times = {row["pt"] for row in session.sql("SELECT k, pt FROM ev").rows()}
    after = datetime.now(ZoneInfo("UTC"))

    assert len(times) == 1
    [moment] = times
    assert before - timedelta(milliseconds=1) <= moment <= after
