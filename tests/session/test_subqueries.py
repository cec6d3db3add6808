"""Subqueries on real Spark, as a table: each line is a row that arrives in a micro-batch of its own,
and what the result is then. A row is `id who points`; a restart goes on from the checkpoint."""

from __future__ import annotations

from collections import Counter

import pytest

from .stories import POINTS, Story, goes_as_told, points


def result(story: Story, _came: str) -> str:
    """What all changes so far leave; nothing may be retracted that is not there."""
    rows: Counter[str] = Counter()
    for change in story.came_out:
        values, kind = change.rsplit(" ", 1)
        rows[values] += 1 if kind in ("+I", "+U") else -1
    assert all(count >= 0 for count in rows.values())
    return ", ".join(sorted(rows.elements()))


def test_rows_are_counted_for_the_values_that_they_are_compared_with(event_story: Story):
    goes_as_told(
        event_story,
        POINTS + "SELECT id, (SELECT COUNT(*) FROM ev AS x WHERE x.who = ev.who "
        "AND x.points < ev.points) AS below FROM ev",
        """
        in      | row     | result
        --------+---------+------
        ev      | 1 ann 5 | 1 0
        ev      | 2 ann 7 | 1 0, 2 1
        restart |         |
        ev      | 3 ann 6 | 1 0, 2 2, 3 1
        restart |         |
        ev      | 4 ann 5 | 1 0, 2 3, 3 2, 4 0
        """,
        points,
        result,
    )


@pytest.mark.thorough
def test_groups_by_a_comparison_with_all_rows_change_after_a_restart(event_story: Story):
    best = "points >= ALL (SELECT points FROM ev AS x WHERE x.who = ev.who)"
    goes_as_told(
        event_story,
        POINTS + f"SELECT {best} AS best, COUNT(*) AS n FROM ev GROUP BY {best}",
        """
        in      | row     | result
        --------+---------+------
        ev      | 1 ann 5 | True 1
        restart |         |
        ev      | 2 ann 7 | False 1, True 1
        ev      | 3 bob 1 | False 1, True 2
        """,
        points,
        result,
    )
