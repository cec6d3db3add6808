"""OVER on real Spark, as tables: each line is a row that arrives in a micro-batch of its own. A row
is `id who second`; the watermark is one second behind."""

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


def test_results_by_event_time_continue_after_a_restart(event_story: Story):
    goes_as_told(
        event_story,
        MONITORED + "SELECT id, SUM(id) OVER w AS total, SUM(id) OVER (w ROWS 1 PRECEDING) AS two, "
        "LAG(id) OVER w AS before FROM ev WINDOW w AS (PARTITION BY who ORDER BY ts)",
        """
        in      | row      | out
        --------+----------+------------------
        ev      | 1 ann 6  |
        ev      | 2 ann 7  | 1 1 1 -
        restart |          |
        ev      | 3 ann 9  | 2 3 3 1
        ev      | 4 bob 9  |
        ev      | 5 ann 12 | 3 6 5 2, 4 4 4 -
        """,
        event,
    )


@pytest.mark.thorough
def test_results_by_processing_time_are_there_at_once(event_story: Story):
    goes_as_told(
        event_story,
        MONITORED + "SELECT id, COUNT(*) OVER (PARTITION BY who ORDER BY pt) AS n FROM ev",
        """
        in      | row     | out
        --------+---------+------
        ev      | 1 ann 5 | 1 1
        ev      | 2 ann 4 | 2 2
        restart |         |
        ev      | 3 ann 1 | 3 3
        """,
        event,
    )


@pytest.mark.thorough
def test_results_in_another_order_are_updated(event_story: Story):
    goes_as_told(
        event_story,
        MONITORED + "SELECT id, SUM(id) OVER (PARTITION BY who ORDER BY id DESC) AS s FROM ev",
        """
        in      | row     | out
        --------+---------+------------------------
        ev      | 1 ann 5 | 1 1 +I
        ev      | 3 ann 4 | 1 1 -U, 1 4 +U, 3 3 +I
        restart |         |
        ev      | 2 ann 1 | 1 4 -U, 1 6 +U, 2 5 +I
        """,
        event,
    )


def test_late_rows_are_handed_out_by_the_rule_of_the_frame(spark: SparkSession, tmp_path: Path):
    rows = ["1 ann 5", "2 bob 9", "3 cy 7", "4 ann 4", "5 cy 12"]
    (tmp_path / "ev").write_text("\n".join(json.dumps(event(text)) for text in rows))
    session = tidemark.connect(spark)
    session.sql(f"{TABLE})".replace("{folder}", str(tmp_path)))
    for number, (frame, late) in enumerate(
        (("ROWS 1 PRECEDING", [4]), ("RANGE UNBOUNDED PRECEDING", [3, 4]))
    ):
        for name, columns in (("counts", "id INT, n BIGINT"), ("lates", "id INT, o STRING")):
            path = tmp_path / f"{name}{number}"
            options = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{path}'"
            session.sql(f"CREATE TABLE {name}{number} ({columns}) WITH ({options})")
        count = f"COUNT(*) OVER (PARTITION BY who ORDER BY ts {frame})"
        session.sql(
            f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts{number} SELECT id, {count} FROM ev; "
            f"INSERT INTO lates{number} SELECT id, late_operator FROM ev$late; END"
        ).job.wait()

        lates = written_rows(tmp_path / f"lates{number}")
        assert sorted(tuple(line.values()) for line in lates) == [
            (id_, "over of who") for id_ in late
        ]
