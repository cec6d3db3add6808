"""A sink by another key than the query's, on real Spark, as a table: each line is a change of `users`,
`id team`, in a micro-batch of its own, and what the sink gets. `1 a>b` is an update.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .stories import Story, goes_as_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE users (key INT, team STRING, PRIMARY KEY (key) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '{folder}/users', 'format' = 'debezium-json',
  'source.monitor-interval' = '1');
CREATE TABLE teams (key STRING, team STRING, PRIMARY KEY (key) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '{folder}/teams', 'format' = 'debezium-json',
  'source.monitor-interval' = '1');
CREATE TABLE by_size (size BIGINT, name STRING, PRIMARY KEY (size) NOT ENFORCED)
  WITH ('connector' = 'blackhole');
"""


def change(text: str) -> dict[str, Any]:
    """A change in the format of Debezium."""
    parts = re.fullmatch(r"(\w+) (\w+)(?:>(\w+))?", text)
    assert parts is not None
    key, old, new = parts.groups()
    before, after = ({"key": key, "team": team} for team in (old, new))
    if new is None:
        return {"op": "c", "before": None, "after": before}
    return {"op": "u", "before": before, "after": after}


@pytest.fixture
def story(spark: SparkSession, tmp_path: Path) -> Iterator[Story]:
    story = Story(spark, tmp_path, ("users",))
    yield story
    story.end()


def test_changes_that_cross_exchanges_out_of_order_end_right(story: Story):
    """A user who changes teams is deleted in one place and inserted in another."""
    (story.folder / "teams").mkdir()
    teams = "\n".join(json.dumps(change(text)) for text in ("a ants", "b bees"))
    (story.folder / "teams" / "all.json").write_text(teams)
    goes_as_told(
        story,
        TABLES
        + """
        INSERT INTO by_size SELECT COUNT(*), name FROM (
          SELECT users.key, teams.team AS name FROM users JOIN teams ON users.team = teams.key
        ) GROUP BY name ON CONFLICT DO DEDUPLICATE
        """,
        """
        in      | row       | out
        --------+-----------+------
        users   | 1 a       | by_size: 1 ants +I
        users   | 2 b       | by_size: 1 bees +U
        users   | 1 a>b     | by_size: 1 bees -D, by_size: 2 bees +I
        restart |           |
        users   | 1 b>a     | by_size: 1 ants +I, by_size: 2 bees -D
        """,
        change,
    )
