"""Outer joins whose padded rows WHERE drops are inner joins, or pad one side only."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import IntervalJoin, RegularJoin, walk
from tidemark.plan.nodes.join import Join
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (k STRING, w INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE m (k STRING, x INT) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE pairs (v INT, w INT) WITH ('connector' = 'fake');
CREATE VIEW joined AS SELECT l.k, l.v * 2 AS v, r.w, r.s FROM l LEFT JOIN r ON l.k = r.k;
"""


@pytest.fixture(scope="module")
def tables() -> Workspace:
    return world(DDL)


def hows(query: str, tables: Workspace) -> list[str]:
    """Those of the joins, outermost first."""
    return [node.how for node in walk(root(query, tables)) if isinstance(node, Join)]


@pytest.mark.parametrize(
    ("how", "where", "expected"),
    [
        ("LEFT", "r.w > 3", "inner"),
        ("LEFT", "r.w IS NOT NULL", "inner"),
        ("LEFT", "r.w IN (1, 2) OR UPPER(r.s) LIKE 'A%'", "inner"),
        ("LEFT", "r.w + 1 BETWEEN 2 AND l.v", "inner"),
        ("LEFT", "NOT r.w > 3", "inner"),
        ("LEFT", "CAST(r.w AS STRING) = l.k", "inner"),
        ("LEFT", "r.w > 3 OR l.v > 3", "left"),
        ("LEFT", "r.w IS NULL", "left"),
        ("LEFT", "(r.w > 3) IS NOT TRUE", "left"),
        ("LEFT", "COALESCE(r.w, 1) > 0", "left"),
        ("LEFT", "NOT 2 BETWEEN r.w AND l.v", "left"),
        ("LEFT", "l.v > 3", "left"),
        ("RIGHT", "l.v > 3", "inner"),
        ("RIGHT", "r.w > 3", "right"),
        ("FULL", "r.w > 3", "right"),
        ("FULL", "l.v > 3", "left"),
        ("FULL", "l.v > r.w", "inner"),
        ("FULL", "l.v > 3 AND r.w > 3", "inner"),
        ("FULL", "l.v > 3 OR r.w > 3", "full"),
    ],
)
def test_where_decides_which_sides_are_padded(
    how: str, where: str, expected: str, tables: Workspace
) -> None:
    query = f"SELECT l.k FROM l {how} JOIN r ON l.k = r.k WHERE {where}"

    assert hows(query, tables) == [expected]


def test_a_filter_above_a_view_counts_too(tables: Workspace) -> None:
    assert hows("SELECT * FROM joined WHERE w > 3", tables) == ["inner"]
    assert hows("SELECT * FROM joined WHERE v > 3", tables) == ["left"]


def test_joins_below_joins_pad_nothing_either(tables: Workspace) -> None:
    query = "SELECT j.k FROM joined AS j {how} JOIN m ON j.k = m.k WHERE {where}"

    assert hows(query.format(how="LEFT", where="j.w > 3"), tables) == ["left", "inner"]
    assert hows(query.format(how="FULL", where="j.w > 3"), tables) == ["left", "inner"]
    assert hows(query.format(how="LEFT", where="m.x > 3"), tables) == ["inner", "left"]


def test_what_is_left_are_rows_that_are_only_added(tables: Workspace) -> None:
    query = "SELECT l.v, r.w FROM l LEFT JOIN r ON l.k = r.k"
    inserted = plan(f"INSERT INTO pairs {query} WHERE r.w > 3", tables).roots[0]

    assert inserted.inputs[0].edge.changelog is Changelog.APPEND
    refused(f"INSERT INTO «pairs» {query} WHERE l.v > 3", at=tables)


def test_bounds_of_times_in_where_make_an_interval_join(tables: Workspace) -> None:
    query = (
        "SELECT l.k FROM l LEFT JOIN r ON l.k = r.k"
        " WHERE r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND"
    )
    kinds = [type(node) for node in walk(root(query, tables)) if isinstance(node, Join)]

    assert kinds == [IntervalJoin]


def test_a_subquery_in_where_leaves_the_join_as_it_is(tables: Workspace) -> None:
    query = "SELECT l.k FROM l LEFT JOIN r ON l.k = r.k WHERE l.k NOT IN (SELECT k FROM m)"
    joins = [node for node in walk(root(query, tables)) if isinstance(node, RegularJoin)]

    assert "left" in {join.how for join in joins}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT l.k, s.w FROM l LEFT JOIN s ON l.k = s.k WHERE s.w > 3",
        "SELECT * FROM (SELECT l.k, s.w FROM l LEFT JOIN s ON l.k = s.k) AS t WHERE w > 3",
        "SELECT l.k, s.w FROM l LEFT JOIN s ON l.k = s.k"
        " WHERE s.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND",
    ],
)
def test_columns_have_the_types_of_the_join_that_is_written(query: str) -> None:
    strict = (
        "CREATE TABLE s (k STRING NOT NULL, w INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
        " WITH ('connector' = 'fake', 'bounded' = 'false');"
    )

    assert schema(query, world(DDL, strict)) == "k STRING, w INT"
