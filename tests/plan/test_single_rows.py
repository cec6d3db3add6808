"""Groups of one row each: which groupings need no operator."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, root, world
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import GroupAggregate, walk
from tidemark.session.workspace import Workspace

TABLES = """
CREATE TABLE events (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE TABLE keyed (k INT, v INT, d DECIMAL(5, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'fake');
CREATE TABLE changes (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM events GROUP BY k;
"""


@pytest.fixture
def tables() -> Workspace:
    return world(TABLES)


def groupings(sql: str, tables: Workspace) -> int:
    return sum(isinstance(node, GroupAggregate) for node in walk(root(sql, tables)))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, SUM(v), MIN(d), MAX(v) + 1 FROM keyed GROUP BY k",
        "SELECT k, SUM(DISTINCT v) FROM keyed GROUP BY k",
        "SELECT SUM(v) FROM keyed GROUP BY v, k",
        "SELECT k FROM changes GROUP BY k",
        "SELECT k, SUM(v) FROM changes GROUP BY k HAVING SUM(v) > 1",
        "SELECT DISTINCT k, v FROM changes",
        "SELECT DISTINCT v, k + 1, k FROM keyed",
    ],
)
def test_groups_by_a_unique_key_need_no_operator(sql: str, tables: Workspace):
    assert groupings(sql, tables) == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, SUM(n) FROM counts GROUP BY k",
        "SELECT DISTINCT k, n FROM counts",
        "SELECT n, k, MAX(n) FROM counts GROUP BY k, n",
    ],
)
def test_groups_of_groups_need_one_operator(sql: str, tables: Workspace):
    assert groupings(sql, tables) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, COUNT(v) FROM keyed GROUP BY k",
        "SELECT k, SUM(v) FILTER (WHERE v > 1) FROM keyed GROUP BY k",
        "SELECT k, FIRST_VALUE(v) FROM keyed GROUP BY k",
        "SELECT v, SUM(k) FROM keyed GROUP BY v",
        "SELECT k, SUM(v) FROM keyed GROUP BY ROLLUP (k)",
        "SELECT SUM(v) FROM keyed",
        "SELECT DISTINCT v FROM keyed",
        "SELECT k, MAX(ts) FROM keyed GROUP BY k",  # a versioned table
    ],
)
def test_other_groups_do(sql: str, tables: Workspace):
    assert groupings(sql, tables) == 1


def test_results_have_the_types_of_the_aggregates(tables: Workspace):
    columns = edge("SELECT k, SUM(d) AS d, SUM(v) AS v FROM keyed GROUP BY k", tables).columns

    assert [(c.name, c.type) for c in columns] == [
        ("k", t.Int(nullable=False)),
        ("d", t.Decimal(38, 2)),
        ("v", t.Int()),
    ]


def test_a_table_that_only_inserts_is_not_updated(tables: Workspace):
    assert edge("SELECT k, SUM(v) FROM keyed GROUP BY k", tables).changelog is Changelog.APPEND
