"""The first row of each key on real Spark, as tables: each line is a row that arrives in a
micro-batch of its own. A row is `id who second`; the watermark is one second behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from tests.sink_files import written_rows

from .events import MONITORED, TABLE, event
from .stories import Story, goes_as_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def first_by(time: str) -> str:
    return (
        "SELECT id, who FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY who ORDER BY {time}) AS rn FROM ev) WHERE rn = 1"
    )


def test_the_first_row_by_event_time_waits_for_the_watermark_and_is_not_late(event_story: Story):
    goes_as_told(
        event_story,
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
        event,
    )


@pytest.mark.thorough
def test_the_first_row_by_processing_time_is_there_at_once(event_story: Story):
    goes_as_told(
        event_story,
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
        event,
    )


def test_rows_behind_the_watermark_are_reported_as_late(spark: SparkSession, tmp_path: Path):
    rows = ["1 ann 5", "2 bob 9", "3 cy 7", "4 cy 8"]
    (tmp_path / "ev").write_text("\n".join(json.dumps(event(text)) for text in rows))
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
