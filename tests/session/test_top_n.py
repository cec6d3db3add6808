"""Top-N on real Spark, as a table: each line is a row that arrives in a micro-batch of its own. A
row is `id who points`; a restart goes on from the checkpoint."""

from __future__ import annotations

import pytest

from .stories import POINTS, Story, goes_as_told, points


def test_the_best_rows_of_a_key_change_as_rows_come_and_survive_a_restart(event_story: Story):
    goes_as_told(
        event_story,
        POINTS
        + "SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY points DESC) "
        "AS rn FROM ev) WHERE rn <= 2",
        """
        in      | row     | out
        --------+---------+------
        ev      | 1 ann 5 | 1 1 +I
        ev      | 2 ann 7 | 1 1 -U, 1 2 +I, 2 1 +U
        restart |         |
        ev      | 3 ann 6 | 1 2 -U, 3 2 +U
        ev      | 4 ann 1 |
        ev      | 5 bob 1 | 5 1 +I
        """,
        points,
    )


@pytest.mark.thorough
def test_rows_of_equal_rank_enter_and_leave_together_after_a_restart(event_story: Story):
    goes_as_told(
        event_story,
        POINTS
        + "SELECT id, rn FROM (SELECT *, RANK() OVER (PARTITION BY who ORDER BY points DESC) "
        "AS rn FROM ev) WHERE rn <= 2",
        """
        in      | row     | out
        --------+---------+------
        ev      | 1 ann 5 | 1 1 +I
        ev      | 2 ann 5 | 2 1 +I
        restart |         |
        ev      | 3 ann 7 | 1 1 -U, 1 2 +U, 2 1 -U, 2 2 +U, 3 1 +I
        ev      | 4 ann 5 | 4 2 +I
        restart |         |
        ev      | 5 ann 6 | 1 2 -D, 2 2 -D, 4 2 -D, 5 2 +I
        ev      | 6 ann 5 |
        """,
        points,
    )


@pytest.mark.thorough
def test_a_limit_holds_for_all_rows_and_forgets_those_it_leaves_out(event_story: Story):
    goes_as_told(
        event_story,
        POINTS + "SELECT id FROM ev ORDER BY points DESC LIMIT 2",
        """
        in      | row     | out
        --------+---------+------
        ev      | 1 ann 5 | 1 +I
        ev      | 2 bob 7 | 2 +I
        restart |         |
        ev      | 3 ann 6 | 1 -D, 3 +I
        """,
        points,
    )


def test_a_stream_is_sorted_as_far_as_the_watermark_is(event_story: Story):
    timed = (
        "CREATE TABLE ev (id INT, seconds INT, ts AS TO_TIMESTAMP_LTZ(seconds, 0), WATERMARK FOR "
    )
    timed += "ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'format' = 'json', "
    timed += "'path' = '{folder}/ev', 'source.monitor-interval' = '1');\n"
    event_story.begin(timed + "SELECT id FROM ev ORDER BY ts, id DESC")

    came = [
        event_story.step("ev", {"id": id_, "seconds": at})
        for id_, at in enumerate((5, 4, 4, 6, 5, 9))
    ]

    # The second row of 5 is not after the last one that was emitted.
    assert came == ["", "", "", "0, 1, 2", "", "3"]


def change(text: str) -> dict[str, object]:
    """`row`, `row > row` and `row >` as an insert, an update and a delete."""
    before, arrow, after = text.rpartition(">") if text.endswith(">") else text.partition(">")
    rows = [points(row) if row.strip() else None for row in (before, after)]
    if not arrow:
        return {"before": None, "after": rows[0], "op": "c"}
    return {"before": rows[0], "after": rows[1], "op": "u" if rows[1] else "d"}


@pytest.mark.thorough
def test_a_row_is_retracted_though_its_processing_time_has_passed(event_story: Story):
    """As in Flink, the first row is kept, since these rows change."""
    goes_as_told(
        event_story,
        POINTS.replace("'json'", "'debezium-json'")
        + "SELECT id, points FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY t DESC) "
        "AS rn FROM (SELECT *, PROCTIME() AS t FROM ev)) WHERE rn = 1",
        """
        in      | row               | out
        --------+-------------------+------
        ev      | 1 ann 5           | 1 5 +I
        ev      | 2 ann 7           |
        ev      | 2 ann 7 > 2 ann 8 |
        restart |                   |
        ev      | 1 ann 5 >         | 1 5 -D, 2 8 +I
        """,
        change,
    )
