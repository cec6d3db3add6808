"""Aggregates of all rows where the plan says that there are none."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.plan.nodes import GroupAggregate, RowOfNone, Values, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE freight (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
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
