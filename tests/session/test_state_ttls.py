"""State that STATE_TTL hints let expire, on real Spark. Micro-batches are always further apart than a
millisecond, so that what is kept for one is gone in the next.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from .stories import Story, goes_as_told

TABLE = (
    "CREATE TABLE {name} (id INT, who STRING) WITH ('connector' = 'filesystem', "
    "'path' = '{{folder}}/{name}', 'format' = 'json', 'source.monitor-interval' = '1');\n"
)


def table(name: str) -> str:
    return TABLE.format(name=name)


def row(text: str) -> dict[str, object]:
    id_, who = text.split()
    return {"id": int(id_), "who": who}


def test_a_group_starts_again_when_the_hint_has_let_it_expire(event_story: Story):
    goes_as_told(
        event_story,
        table("ev")
        + "SELECT /*+ STATE_TTL('ev' = '1 ms') */ who, COUNT(*) AS n FROM ev GROUP BY who",
        """
        in      | row   | out
        --------+-------+------
        ev      | 1 ann | ann 1 +I
        ev      | 2 ann | ann 1 +I
        restart |       |
        ev      | 3 ann | ann 1 +I
        """,
        row,
    )


@pytest.mark.thorough
def test_only_the_side_of_the_hint_expires(spark: SparkSession, tmp_path: Path):
    story = Story(spark, tmp_path, ("l", "r"))
    goes_as_told(
        story,
        table("l")
        + table("r")
        + "SELECT /*+ STATE_TTL('l' = '1 ms', 'r' = '0') */ l.id, r.id AS other "
        "FROM l JOIN r ON l.who = r.who",
        """
        in      | row   | out
        --------+-------+------
        l       | 1 ann |
        r       | 2 ann |
        l       | 3 ann | 3 2
        restart |       |
        r       | 4 ann |
        l       | 5 ann | 5 2, 5 4
        """,
        row,
    )
    story.end()


@pytest.mark.thorough
def test_the_last_row_of_a_key_expires(event_story: Story):
    goes_as_told(
        event_story,
        "SET 'table.exec.state.ttl' = '1 ms';\n"
        + table("ev")
        + "SELECT id, who FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY t DESC) AS rn "
        "FROM (SELECT *, PROCTIME() AS t FROM ev)) WHERE rn = 1",
        """
        in      | row   | out
        --------+-------+------
        ev      | 1 ann | 1 ann +I
        ev      | 2 ann | 2 ann +I
        restart |       |
        ev      | 3 ann | 3 ann +I
        """,
        row,
    )
