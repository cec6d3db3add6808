"""MATCH_RECOGNIZE on real Spark, as tables: each line is a row that arrives in a micro-batch of its
own. A row is `id key second x`; the watermark is one second behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from tests.sink_files import written_rows

from .stories import Story, goes_as_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = (
    "CREATE TABLE ev (id INT, k STRING, x INT, ts TIMESTAMP(3), pt AS PROCTIME(), "
    "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', "
    "'path' = '{folder}/ev', 'format' = 'json'"
)
MONITORED = f"{TABLE}, 'source.monitor-interval' = '1');\n"


def valley(
    order: str, measures: str = "A.id AS a, LAST(B.id) AS b, C.id AS c, SUM(B.x) AS s"
) -> str:
    return (
        f"SELECT * FROM ev MATCH_RECOGNIZE (PARTITION BY k ORDER BY {order} MEASURES {measures} "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) "
        "DEFINE B AS B.x < A.x AND (LAST(B.x, 1) IS NULL OR B.x < LAST(B.x, 1)), "
        "C AS C.x > LAST(B.x)) AS m"
    )


def row(text: str) -> dict[str, object]:
    id_, key, second, x = text.split()
    return {"id": int(id_), "k": key, "x": int(x), "ts": f"2024-01-01 00:00:{int(second):02}"}


def test_a_match_is_emitted_when_the_watermark_reaches_its_last_row(event_story: Story):
    goes_as_told(
        event_story,
        MONITORED + valley("ts"),
        """
        in      | row       | out
        --------+-----------+---------
        ev      | 1 a 5 9   |
        ev      | 2 b 6 9   |
        ev      | 3 a 7 7   |
        restart |           |
        ev      | 4 a 8 5   |
        ev      | 5 a 9 6   |
        ev      | 6 a 6 8   |
        restart |           |
        ev      | 7 b 10 1  | a 1 4 5 12
        ev      | 8 b 11 2  |
        ev      | 9 b 12 2  | b 2 7 8 1
        """,
        row,
    )


@pytest.mark.thorough
def test_in_processing_time_a_match_is_emitted_with_its_last_row(event_story: Story):
    goes_as_told(
        event_story,
        MONITORED + valley("pt"),
        """
        in      | row       | out
        --------+-----------+---------
        ev      | 1 a 5 9   |
        ev      | 2 a 4 7   |
        restart |           |
        ev      | 3 a 1 8   | a 1 2 3 7
        """,
        row,
    )


@pytest.mark.thorough
def test_the_longest_match_of_a_group_is_emitted_when_a_row_ends_it(event_story: Story):
    goes_as_told(
        event_story,
        f"{MONITORED}SELECT n, c, i, f, x FROM ev MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "
        "MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS c, id AS i, FINAL COUNT(*) AS f "
        "ALL ROWS PER MATCH "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN ((UP | DOWN){2,}) "
        "DEFINE UP AS UP.x > PREV(UP.x), DOWN AS DOWN.x < PREV(DOWN.x)) AS m",
        """
        in      | row      | out
        --------+----------+---------------------------------
        ev      | 1 a 1 5  |
        ev      | 2 a 3 7  |
        ev      | 3 a 5 6  |
        restart |          |
        ev      | 4 a 6 8  |
        ev      | 5 a 7 8  |
        restart |          |
        ev      | 6 a 9 1  | 1 DOWN 3 3 6, 1 UP 2 3 7, 1 UP 4 3 8
        ev      | 7 a 12 4 |
        """,
        row,
    )


def test_late_rows_are_reported_and_matches_have_a_time(spark: SparkSession, tmp_path: Path):
    rows = ["1 a 5 9", "2 a 7 8", "3 a 6 1", "4 a 8 9", "5 a 30 9", "6 a 29 1"]
    (tmp_path / "ev").write_text("\n".join(json.dumps(row(text)) for text in rows))
    session = tidemark.connect(spark)
    session.sql(f"{TABLE})".replace("{folder}", str(tmp_path)))
    for name, columns in (
        ("counts", "n BIGINT, ending TIMESTAMP(3)"),
        ("lates", "id INT, operator STRING"),
    ):
        options = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/{name}'"
        session.sql(f"CREATE TABLE {name} ({columns}) WITH ({options})")
    session.sql(f"CREATE VIEW m AS {valley('ts', 'C.id AS c, MATCH_ROWTIME() AS rt')}")

    result = session.sql(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT COUNT(*), window_end FROM "
        "TABLE(TUMBLE(TABLE m, DESCRIPTOR(rt), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end; "
        "INSERT INTO lates SELECT id, late_operator FROM ev$late; END"
    )
    result.job.wait()

    assert [tuple(line.values()) for line in written_rows(tmp_path / "counts")] == [
        (1, "2024-01-01 00:00:10")
    ]
    assert [tuple(line.values()) for line in written_rows(tmp_path / "lates")] == [
        (3, "match-recognize of k"),
        (6, "match-recognize of k"),
    ]
