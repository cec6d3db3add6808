"""Temporal joins as tables: each line is a row that arrives in a micro-batch of its own.

`watermark` is the join's after the line, the smaller of its inputs'; orders come up to 2 s late.
`wait` counts the orders that are kept until the watermark has reached them. `kept` is the least that
the state must hold, orders and versions; what has been replaced goes some time later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .stories import Story, table_of

SCRIPT = """
CREATE TABLE orders (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/orders', 'format' = 'json',
      'source.monitor-interval' = '1');
CREATE TABLE rates (
  k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '{folder}/rates', 'format' = '{format}',
        'source.monitor-interval' = '1');
SELECT o.id, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k;
"""


@pytest.fixture
def story(spark, tmp_path: Path) -> Iterator[Story]:
    story = Story(spark, tmp_path, ("orders", "rates"))
    yield story
    story.end()


def order(text: str) -> dict[str, Any]:
    id_, key, second = text.split()
    return {"id": int(id_), "k": key, "ts": at(second)}


def rate(text: str) -> dict[str, Any]:
    rate, key, second = text.split()
    return {"rate": int(rate), "k": key, "ts": at(second)}


def at(second: str) -> str:
    return f"2024-01-01 00:00:{int(second):02}"


def second_of(watermark: str | None) -> str:
    return "" if watermark is None else str(int(watermark[17:19]))


READ: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "order": ("orders", order),
    "rate": ("rates", rate),
    "insert": ("rates", lambda text: {"op": "c", "before": None, "after": rate(text)}),
    "delete": ("rates", lambda text: {"op": "d", "before": rate(text), "after": None}),
}


def goes_as_told(story: Story, text: str) -> None:
    """Every line's rows come out, and no others; the state is what the line says."""
    for arrives, comes_out, watermark, wait, kept in table_of(text):
        what, row = arrives.split(maxsplit=1)
        table, read = READ[what]
        came_out = story.step(table, read(row))
        progress = story.progress()
        [join] = progress.operators

        now = [came_out, second_of(progress.watermark), str(join.waiting)]
        assert now == [comes_out, watermark, wait], f"after {arrives}"
        assert join.state_rows >= int(kept), f"after {arrives}"


@pytest.mark.thorough
def test_orders_wait_until_the_watermark_of_both_sides_passes_them(story):
    story.begin(SCRIPT.replace("{format}", "json"))

    # Order 4 is late when it comes; it goes when the watermark moves next. The rate 125 comes
    # behind 130 and in time, so order 2 gets it.
    goes_as_told(
        story,
        """
        arrives       | comes out         | watermark | wait | kept
        --------------+-------------------+-----------+------+-----
        rate 110 A 1  |                   |           | 0    | 1
        order 1 A 4   |                   | 1         | 1    | 2
        rate 120 A 5  |                   | 2         | 1    | 3
        order 2 A 7   | 1 110             | 5         | 1    | 2
        rate 200 B 6  |                   | 5         | 1    | 3
        order 3 B 8   |                   | 6         | 2    | 4
        order 4 C 6   |                   | 6         | 3    | 5
        rate 130 A 9  |                   | 6         | 3    | 6
        rate 125 A 7  |                   | 6         | 3    | 7
        order 5 A 12  | 2 125, 3 200, 4 - | 9         | 1    | 3
        rate 140 A 14 |                   | 10        | 1    | 4
        order 6 B 16  | 5 130             | 14        | 1    | 3
        """,
    )
    [join] = story.progress().operators
    assert (join.rows_in, join.rows_out, join.late) == ((6, 6), 5, (1, 0))
    assert join.state_rows < 12, "nothing has been cleaned up"


@pytest.mark.thorough
def test_a_delete_ends_a_version_and_the_next_insert_begins_another(story):
    story.begin(SCRIPT.replace("{format}", "debezium-json"))

    goes_as_told(
        story,
        """
        arrives         | comes out | watermark | wait | kept
        ----------------+-----------+-----------+------+-----
        insert 110 A 1  |           |           | 0    | 1
        order 1 A 3     |           | 1         | 1    | 2
        delete 110 A 5  |           | 1         | 1    | 3
        order 2 A 6     | 1 110     | 4         | 1    | 3
        order 3 A 9     |           | 5         | 2    | 3
        insert 120 A 8  | 2 -       | 7         | 1    | 3
        order 4 A 12    |           | 8         | 2    | 3
        insert 130 A 14 | 3 120     | 10        | 1    | 3
        order 5 A 16    | 4 120     | 14        | 1    | 2
        """,
    )
