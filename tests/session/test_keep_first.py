"""The first row of each key on real Spark, as tables: each line is a row that arrives in a
micro-batch of its own. A row is `id who second`; the watermark is one second behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from tests.sink_files import written_rows

from .stories import Story, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = (
    "CREATE TABLE ev (id INT, who STRING, ts TIMESTAMP(3), pt AS PROCTIME(), "
    "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', "
    "'path' = '{folder}/ev', 'format' = 'json'"
)
MONITORED = f"{TABLE}, 'source.monitor-interval' = '1');\n"


def first_by(time: str) -> str:
    return (
        "SELECT id, who FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY who ORDER BY {time}) AS rn FROM ev) WHERE rn = 1"
    )


@pytest.fixture
def story(spark: SparkSession, tmp_path: Path) -> Iterator[Story]:
    story = Story(spark, tmp_path, ("ev",))
    yield story
    story.end()


def row(text: str) -> dict[str, object]:
    id_, who, second = text.split()
    return {"id": int(id_), "who": who, "ts": f"2024-01-01 00:00:{int(second):02}"}


def goes_as_told(story: Story, script: str, text: str) -> None:
    story.begin(script)
    for table, arrives, expected in table_of(text):
        if table == "restart":
            story.end()
            story.go_on(script)
        else:
            assert story.step(table, row(arrives)) == expected, f"when {arrives} came"


def test_the_first_row_by_event_time_waits_for_the_watermark_and_is_not_late(story: Story):
    goes_as_told(
        story,
        MONITORED + first_by("ts"),
        """
        in      | row       | out
        --------+-----------+------
        ev      | 1 ann 5   |
        ev      | 2 ann 4   | 2 ann
        restart |           |
        ev      | 3 ann 9   |
        ev      | 4 bob 7   |
        ev      | 5 bob 9   |
        ev      | 6 cy 20   | 5 bob
        """,
    )


def test_the_first_row_by_processing_time_is_there_at_once(story: Story):
    goes_as_told(
        story,
        MONITORED + first_by("pt"),
        """
        in      | row       | out
        --------+-----------+------
        ev      | 1 ann 5   | 1 ann
        ev      | 2 ann 4   |
        restart |           |
        ev      | 3 ann 1   |
        ev      | 4 bob 7   | 4 bob
        """,
    )


def test_rows_behind_the_watermark_are_reported_as_late(spark: SparkSession, tmp_path: Path):
    rows = ["1 ann 5", "2 bob 9", "3 cy 7", "4 cy 8"]
    (tmp_path / "ev").write_text("\n".join(json.dumps(row(text)) for text in rows))
    session = tidemark.connect(spark)
    session.sql(f"{TABLE})".replace("{folder}", str(tmp_path)))
    for name, columns in (("firsts", "id INT, who STRING"), ("lates", "id INT, operator STRING")):
        options = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/{name}'"
        session.sql(f"CREATE TABLE {name} ({columns}) WITH ({options})")

    result = session.sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO firsts {first_by('ts')}; "
        "INSERT INTO lates SELECT id, late_operator FROM ev$late; END"
    )
    result.job.wait()

    firsts, lates = (written_rows(tmp_path / name) for name in ("firsts", "lates"))
    assert sorted((line["id"], line["who"]) for line in firsts) == [
        (1, "ann"),
        (2, "bob"),
        (4, "cy"),
    ]
    assert [tuple(line.values()) for line in lates] == [(3, "keep-first of who")]
