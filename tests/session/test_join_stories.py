"""Joins over time as tables: each line is a row that arrives in a micro-batch of its own.

A row is `id who second`. In the middle jobs are stopped, and go on from their checkpoints as if they
had not been.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import tidemark
from tidemark.session.interval_joins import Stream
from tidemark.windows import Session

from . import stories
from .stories import Build, Story

TABLES = "".join(
    f"CREATE TABLE {name} (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
    f"('connector' = 'filesystem', 'path' = '{{folder}}/{name}', 'format' = 'json', "
    "'source.monitor-interval' = '1');\n"
    for name in ("l", "r")
)
WINDOW = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
NEAR = "r.ts BETWEEN l.ts - INTERVAL '2' SECOND AND l.ts + INTERVAL '10' SECOND"
INTERVAL_JOIN = f"SELECT l.id, r.id FROM l FULL JOIN r ON l.who = r.who AND {NEAR}"
WINDOW_JOIN = (
    f"SELECT l.id, r.id FROM {WINDOW.format('l')} AS l FULL JOIN {WINDOW.format('r')} AS r "
    "ON l.who = r.who AND l.window_start = r.window_start AND l.window_end = r.window_end"
)


@pytest.fixture
def story(spark, tmp_path: Path) -> Iterator[Story]:
    story = Story(spark, tmp_path, ("l", "r"))
    yield story
    story.end()


def row(text: str) -> dict[str, Any]:
    id_, who, second = text.split()
    return {"id": int(id_), "who": who, "ts": f"2024-01-01 00:00:{int(second):02}"}


def goes_as_told(story: Story, script: str | Build, text: str) -> None:
    stories.goes_as_told(story, script, text, row)


def test_an_outer_interval_join_resumes_with_its_rows_and_knows_which_had_matches(story: Story):
    goes_as_told(
        story,
        TABLES + INTERVAL_JOIN,
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 0   |
        r       | 11 ann 4  | 1 11
        l       | 2 bob 5   |
        r       | 12 bob 16 |
        restart |           |
        l       | 3 ann 20  | 2 -
        r       | 13 ann 21 | - 12, 3 13
        """,
    )


def test_a_window_join_resumes_with_the_rows_of_open_windows(story: Story):
    goes_as_told(
        story,
        TABLES + WINDOW_JOIN,
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 1   |
        r       | 11 ann 4  |
        l       | 2 bob 5   |
        restart |           |
        r       | 12 cid 15 |
        l       | 3 bob 12  | 1 11, 2 -
        r       | 13 bob 21 |
        l       | 4 dee 30  | - 12, 3 -
        """,
    )


@pytest.mark.thorough
def test_sessions_of_each_side_match_when_both_sides_have_ended(story: Story):
    sessions = "TABLE(SESSION(TABLE {} PARTITION BY who, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
    query = WINDOW_JOIN.replace(WINDOW.format("l"), sessions.format("l"))
    goes_as_told(
        story,
        TABLES + query.replace(WINDOW.format("r"), sessions.format("r")),
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 1   |
        r       | 11 ann 4  |
        l       | 2 ann 4   |
        r       | 12 ann 1  |
        restart |           |
        l       | 3 bob 20  |
        r       | 13 bob 21 | 1 11, 1 12, 2 11, 2 12
        l       | 4 cid 50  |
        r       | 14 cid 59 | - 13, 3 -
        """,
    )


def streams(spark: SparkSession, folder: Path) -> list[Stream]:
    sources = [spark.readStream.schema("id INT, who STRING, ts TIMESTAMP") for _ in "lr"]
    paths = [str(folder / name) for name in "lr"]
    return [tidemark.stream(s.json(p), time="ts") for s, p in zip(sources, paths, strict=True)]


def near(spark: SparkSession, folder: Path):
    left, right = (stream.key_by("who") for stream in streams(spark, folder))
    return left.interval_join(right).between("-2 seconds", "10 seconds")


def by_the_stream_api(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    return {"": near(spark, folder).select("l.id", "r.id")}


@pytest.mark.thorough
def test_an_interval_join_of_the_stream_api_resumes_and_still_drops_late_rows(story: Story):
    goes_as_told(
        story,
        by_the_stream_api,
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 0   |
        r       | 11 ann 4  | 1 11
        l       | 2 bob 5   |
        restart |           |
        r       | 12 bob 14 | 2 12
        l       | 3 bob 4   |
        r       | 13 ann 10 | 1 13
        """,
    )


def late_of_both(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    left, right = streams(spark, folder)
    sessions = Session("9 seconds", on="ts")
    groups = left.co_group(right).where("who").equal_to("who").window(sessions)
    late = near(spark, folder).late_rows("left").unionByName(groups.late_rows("left"))
    return {"": late.selectExpr("id", "split(late_operator, ' ')[0]", "late_by")}


@pytest.mark.thorough
def test_rows_that_joins_of_the_stream_api_drop_are_reported_too(story: Story):
    # The sessions of ann: [1, 10) is over at 20; so would be [11, 20), but [20, 29) is open.
    goes_as_told(
        story,
        late_of_both,
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 1   |
        r       | 11 ann 20 |
        l       | 2 ann 30  |
        l       | 3 ann 10  | 3 co-group 10000, 3 interval-join 10000
        l       | 4 ann 11  | 4 interval-join 9000
        """,
    )


# Left rows are late by the watermark of both sides: at 12, although the left side is at 30.
LATE = f"""
SET 'tidemark.interval-join.late-rows' = 'drop';
CREATE TABLE pairs (l INT, r INT) WITH ('connector' = 'blackhole');
CREATE TABLE near (l INT, r INT) WITH ('connector' = 'blackhole');
CREATE TABLE late (id INT, what STRING, late_by BIGINT) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO pairs {WINDOW_JOIN};
  INSERT INTO near {INTERVAL_JOIN.replace("FULL", "")};
  INSERT INTO late SELECT id, REGEXP_EXTRACT(late_operator, '[a-z]*'), late_by FROM l$late;
END
"""


@pytest.mark.thorough
def test_rows_that_joins_drop_are_reported_as_late(story: Story):
    goes_as_told(
        story,
        TABLES + LATE,
        """
        table   | row       | comes out
        --------+-----------+-----------
        l       | 1 ann 1   |
        r       | 11 ann 12 |
        l       | 2 ann 30  | pairs: 1 -
        l       | 3 ann 5   | late: 3 interval 7000, late: 3 window 7000
        l       | 4 ann 11  | late: 4 interval 1000
        r       | 12 ann 35 | near: 2 12, pairs: 4 11
        """,
    )


def test_a_regular_join_resumes_with_all_earlier_rows(story: Story):
    """Times are bounded from one side only: what was clicked after it was seen."""
    goes_as_told(
        story,
        TABLES + "SELECT l.id, r.id FROM l FULL JOIN r ON l.who = r.who AND r.ts >= l.ts",
        """
        table   | row       | comes out
        --------+-----------+---------------------------------
        l       | 1 ann 5   | 1 - +I
        r       | 11 ann 4  | - 11 +I
        r       | 12 ann 50 | 1 - -D, 1 12 +I
        restart |           |
        l       | 2 ann 4   | - 11 -D, 2 11 +I, 2 12 +I
        r       | 13 ann 6  | 1 13 +I, 2 13 +I
        """,
    )
