"""Lookup joins on real Spark: workers look rows up, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import tidemark
from tidemark.errors import NotSupported

from .stories import Story, goes_as_told

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EVENTS = """
CREATE TABLE ev (id INT, customer INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/ev', 'format' = 'json',
  'source.monitor-interval' = '1');
CREATE TABLE customers (id INT, name STRING) WITH ('connector' = 'filesystem',
  'path' = '{folder}/customers.csv', 'format' = 'csv',
  'lookup.full-cache.periodic-reload.interval' = '1 ms');
"""
NAMED = (
    "SELECT e.id, c.name, e.ts FROM ev AS e "
    "LEFT JOIN customers FOR SYSTEM_TIME AS OF e.pt AS c ON e.customer = c.id"
)


def event(id_: int, customer: int, second: int) -> dict[str, object]:
    return {"id": id_, "customer": customer, "ts": f"2024-01-01 00:00:{second:02}"}


def test_a_stream_sees_the_table_as_it_is_when_a_row_arrives(event_story: Story):
    customers = event_story.folder / "customers.csv"
    customers.write_text("1,ann\n")
    event_story.begin(EVENTS + NAMED.replace(", e.ts", ""))

    assert event_story.step("ev", event(1, 1, 1)) == "1 ann"
    assert event_story.step("ev", event(2, 2, 2)) == "2 -"
    customers.write_text("1,anna\n2,bob\n2,bea\n")
    assert event_story.step("ev", event(3, 2, 3)) == "3 bea, 3 bob"


def test_windows_above_a_lookup_join_follow_the_watermark_below_it(event_story: Story):
    (event_story.folder / "customers.csv").write_text("1,ann\n2,bob\n")
    windows = (
        f"CREATE VIEW named AS {NAMED};\n"
        "SELECT name, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE named, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) WHERE name IS NOT NULL GROUP BY name, window_start, window_end"
    )
    goes_as_told(
        event_story,
        EVENTS + windows,
        """
        in      | row    | out
        --------+--------+------
        ev      | 1 1 1  |
        ev      | 2 9 11 | ann 1
        """,
        lambda text: event(*map(int, text.split())),
    )


def test_data_frames_and_functions_are_looked_up(spark: SparkSession, tmp_path: Path):
    def ages(keys: pa.Table) -> pa.Table:
        return pa.table({"id": keys["id"], "age": [10 * key for key in keys["id"].to_pylist()]})

    session = tidemark.connect(spark)
    names = spark.createDataFrame([(1, "ann"), (2, "bob"), (2, "bea")], "id INT, name STRING")
    session.register("names", names)
    session.register_lookup("ages", ages, columns="id INT, age INT")
    result = session.sql(
        "SELECT o.id, n.name, a.age FROM (SELECT *, PROCTIME() AS pt "
        "FROM (VALUES (1, 1), (2, 2), (3, 3)) AS t(id, customer)) AS o "
        "LEFT JOIN names FOR SYSTEM_TIME AS OF o.pt AS n ON o.customer = n.id "
        "JOIN ages FOR SYSTEM_TIME AS OF o.pt AS a ON o.customer = a.id AND a.age > o.id + 8"
    )

    found = [(*row.values(),) for row in result.rows()]
    with pytest.raises(NotSupported, match="in the condition of a left lookup join"):
        session.sql(
            "SELECT n.name FROM (SELECT 1 AS id, PROCTIME() AS pt) AS o LEFT JOIN names FOR "
            "SYSTEM_TIME AS OF o.pt AS n ON o.id = n.id AND REGEXP(n.name, '(?=a)a')"
        ).rows()
    assert found == [(1, "ann", 10), (2, "bob", 20), (2, "bea", 20), (3, None, 30)]
