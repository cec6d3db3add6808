"""Updates without the rows that they replace: for which sinks operators emit them."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import GroupAggregate, KeepLast, Node, TopN, walk
from tidemark.session.workspace import Workspace

SINKS = """
CREATE TABLE events (k INT, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE TABLE by_a (a INT, b BIGINT, PRIMARY KEY (a) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'alone');
CREATE TABLE by_b (a INT, b BIGINT, PRIMARY KEY (b) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'alone');
CREATE TABLE by_both (a INT, b BIGINT, PRIMARY KEY (a, b) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'alone');
CREATE TABLE unkeyed (a INT, b BIGINT)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'alone');
CREATE TABLE shows_all (a INT, b BIGINT, PRIMARY KEY (a) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'true');
CREATE TABLE whole_changes (a INT, b BIGINT, PRIMARY KEY (a) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true');
"""
GROUPS = "SELECT k, COUNT(*) FROM events GROUP BY k"
NEWEST = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn "
    "FROM events) WHERE rn = 1"
)
LARGEST = (
    "SELECT k, {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn "
    "FROM events) WHERE rn {}"
)


@pytest.fixture
def tables() -> Workspace:
    return world(SINKS)


def updating(planned: Node) -> GroupAggregate | KeepLast | TopN:
    return next(n for n in walk(planned) if isinstance(n, GroupAggregate | KeepLast | TopN))


@pytest.mark.parametrize(
    "sql",
    [
        f"INSERT INTO by_a {GROUPS}",
        f"INSERT INTO unkeyed {GROUPS}",
        "INSERT INTO unkeyed SELECT a, b FROM (SELECT k AS a, s, COUNT(*) AS b FROM events "
        "GROUP BY k, s)",
        "INSERT INTO by_a (b, a) SELECT COUNT(*), k FROM events GROUP BY k",
        "INSERT INTO by_a SELECT k, MAX(n) FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k) "
        "GROUP BY k",
        f"INSERT INTO by_a {NEWEST}",
        f"INSERT INTO unkeyed {NEWEST}",
        f"INSERT INTO by_a {LARGEST.format('v', '= 1')}",
        f"INSERT INTO by_both {LARGEST.format('rn', '<= 3')}",
        f"INSERT INTO unkeyed {LARGEST.format('v', '<= 3')}",
    ],
)
def test_a_sink_that_replaces_rows_gets_updates_alone(sql: str, tables: Workspace):
    planned = root(sql, tables)

    assert updating(planned).upserts
    assert planned.edge.changelog is Changelog.UPSERT


@pytest.mark.parametrize(
    "sql",
    [
        # The old row has another key than the new one.
        f"INSERT INTO by_both {GROUPS}",
        f"INSERT INTO by_both {LARGEST.format('v', '= 1')}",
        # The rows of a sink are replaced by the operator between, which needs to see all changes.
        f"INSERT INTO by_b {GROUPS}",
        # An update that does not pass takes the old row with it.
        f"INSERT INTO by_a {GROUPS} HAVING COUNT(*) < 3",
        f"INSERT INTO unkeyed {GROUPS} HAVING COUNT(*) < 3",
        "INSERT INTO by_a SELECT k + 1, COUNT(*) FROM events GROUP BY k",
        f"INSERT INTO whole_changes {GROUPS}",
        f"INSERT INTO shows_all {GROUPS}",
        GROUPS,
    ],
)
def test_other_readers_get_the_rows_that_are_replaced(sql: str, tables: Workspace):
    planned = root(sql, tables)

    assert not updating(planned).upserts
    assert updating(planned).edge.changelog is Changelog.RETRACT


def test_only_the_operator_next_to_the_sink_leaves_them_out(tables: Workspace):
    sql = (
        "INSERT INTO unkeyed SELECT 1, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k) "
        "GROUP BY n"
    )
    groups = [n for n in walk(root(sql, tables)) if isinstance(n, GroupAggregate)]

    assert [one.upserts for one in groups] == [True, False]
