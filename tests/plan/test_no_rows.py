"""Aggregates of all rows where the plan says that there are none."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.plan.nodes import GroupAggregate, RowOfNone, Values, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE freight (k STRING, v INT, d DOUBLE, weight INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'true');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def kinds(sql: str, tables: Workspace) -> set[type]:
    return {type(node) for node in walk(root(sql, tables))}


@pytest.mark.parametrize(
    "rows",
    [
        "freight WHERE FALSE",
        "freight WHERE CAST(NULL AS BOOLEAN)",
        "freight WHERE NOT TRUE",
        "freight WHERE 'a' = 'b' AND v > 1",
        "freight WHERE 1 > 2 OR 1 <> 1",
        "(SELECT v FROM freight LIMIT 0)",
        "(SELECT k, MAX(v) AS v FROM freight WHERE FALSE GROUP BY k)",
        "(SELECT v FROM freight WHERE FALSE UNION ALL SELECT v FROM freight WHERE 1 = 2)",
        "freight AS a JOIN freight AS b ON FALSE",
        "(SELECT * FROM freight WHERE FALSE) AS a LEFT JOIN freight AS b ON a.k = b.k",
        "freight AS a RIGHT JOIN (SELECT * FROM freight WHERE FALSE) AS b ON a.k = b.k",
        "freight CROSS JOIN UNNEST(ARRAY[1]) AS u (x) WHERE FALSE",
        "freight WHERE 1 = 2.0",
        "freight WHERE 1 + 1 = 3",
        "freight WHERE v > NULL",
        "freight WHERE v > 3 AND v < 2",
        "freight WHERE v > 3 AND k = 'a' AND v <= 3",
        "freight WHERE 3 < v AND v = -1",
        "freight WHERE v BETWEEN 5 AND 2",
        "freight WHERE v IN (1, 2) AND v > 7",
        "freight WHERE v IN (1, 2) AND v IN (3, 4)",
        "freight WHERE k = 'a' AND k = 'b'",
        "freight WHERE k = 'a' AND k <> 'a'",
        "freight WHERE k IS NULL AND k = 'a'",
        "freight WHERE k IS NULL AND k IS NOT NULL",
        "freight WHERE v > 7 AND NOT (v > 7)",
        "freight WHERE v > 7 AND NOT (v >= 5)",
        "freight WHERE v > 1.5 AND v < 1.2",
        "freight WHERE v <> v",
        "freight WHERE weight IS NULL",
        "freight WHERE v + 1 > 3 AND v + 1 < 2",
        "freight WHERE v > 3 AND v < 2 OR v > 9 AND v < 8",
        "freight WHERE ts > TIMESTAMP '2024-02-01 00:00:00' AND ts < TIMESTAMP '2024-01-01 00:00:00'",
        "(SELECT COUNT(*) AS w FROM freight) WHERE w > 1 AND w < 0",
        "(SELECT k, COUNT(*) AS w FROM freight GROUP BY k HAVING COUNT(*) > 5 AND COUNT(*) < 5)",
        "freight AS a JOIN freight AS b ON a.k = b.k AND a.v > 5 AND a.v < 5",
    ],
)
def test_the_result_of_none_is_a_constant(rows, tables):
    found = kinds(f"SELECT COUNT(*) AS n FROM {rows}", tables)

    assert Values in found
    assert GroupAggregate not in found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM freight WHERE v > 1",
        "SELECT COUNT(*) FROM freight WHERE 1 = 1",
        "SELECT COUNT(*) FROM freight WHERE FALSE OR v > 1",
        "SELECT COUNT(*) FROM freight WHERE 1 = 1.0",
        "SELECT COUNT(*) FROM freight WHERE v > 1 AND v < 3",
        "SELECT COUNT(*) FROM freight WHERE v > 3 AND v < 4",
        "SELECT COUNT(*) FROM freight WHERE v >= 3 AND v <= 3",
        "SELECT COUNT(*) FROM freight WHERE v IN (1, 2) AND v IN (2, 3)",
        "SELECT COUNT(*) FROM freight WHERE k IS NULL AND v IS NOT NULL",
        "SELECT COUNT(*) FROM freight WHERE k IS NULL AND v = 1",
        "SELECT COUNT(*) FROM freight WHERE d <> d",
        "SELECT COUNT(*) FROM freight WHERE RAND() > 0.7 AND RAND() < 0.3",
        "SELECT COUNT(*) FROM freight WHERE v > 3 AND v < 2 OR v > 1",
        "SELECT COUNT(*) FROM (SELECT v FROM freight WHERE FALSE UNION ALL SELECT v FROM freight)",
        "SELECT COUNT(*) FROM freight AS a LEFT JOIN freight AS b ON FALSE",
        "SELECT COUNT(*) FROM (SELECT STDDEV_POP(v) AS s FROM freight WHERE FALSE)",
        "SELECT k, COUNT(*) FROM freight WHERE FALSE GROUP BY k",
        "SELECT STDDEV_POP(v), COUNT(*) FROM freight WHERE FALSE",
    ],
)
def test_others_wait_for_rows(sql, tables):
    found = kinds(sql, tables)

    assert GroupAggregate in found
    assert Values not in found


def test_a_batch_ends_and_then_has_the_row(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")

    assert RowOfNone in kinds("SELECT COUNT(*) FROM freight WHERE FALSE", tables)


def test_a_group_of_all_rows_without_aggregates_is_there_before_them(tables):
    for sql in ("SELECT 1 AS n FROM freight GROUP BY ()", "SELECT 1 FROM freight HAVING TRUE"):
        assert Values in kinds(sql, tables)
    assert Values not in kinds("SELECT 1 FROM freight GROUP BY k", tables)
