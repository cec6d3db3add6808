"""Where filters end up: below operators, as far as they drop all that these make of some rows."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.plan.nodes import Filter, Node, Project, Scan, walk
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.lookup_join import LookupJoin
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (id INT, k STRING, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE m (k STRING, x INT) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE versions (k STRING, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT',
  'bounded' = 'false');
CREATE VIEW totals AS SELECT k, v, COUNT(*) AS n FROM l GROUP BY k, v;
CREATE VIEW newest AS SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts
  DESC) AS n FROM l) WHERE n = 1;
CREATE VIEW first_by_arrival AS SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k
  ORDER BY pt) AS n FROM l) WHERE n = 1;
CREATE VIEW earliest AS SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY
  ts) AS n FROM l) WHERE n = 1;
CREATE VIEW best AS SELECT id, k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v
  DESC) AS n FROM l) WHERE n <= 3;
CREATE VIEW computed AS SELECT l.k, l.v + 1 AS following, UPPER(r.k) AS name, r.w
  FROM l JOIN r ON l.k = r.k;
"""


@pytest.fixture(scope="module")
def tables() -> Workspace:
    return world(DDL)


def filters(node: Node) -> list[str]:
    """The conditions of filters, those on a side after its name, others after that of a node."""
    found = []
    for above in walk(node):
        for side, below in zip(_names(above), above.inputs, strict=True):
            for each in _conditions(below):
                found.append(f"{side}: {each}")
    return sorted(found)


def _names(node: Node) -> tuple[str, ...]:
    match node:
        case Join():
            return "left", "right"
        case LookupJoin():
            return ("left",)
        case Filter() | Project():
            return ("",) * len(node.inputs)
    return (("below",) if node.is_stateful else ("above",)) * len(node.inputs)


def _conditions(node: Node) -> list[str]:
    """Those of the filters on the way to the next join or table."""
    match node:
        case Filter():
            [where] = node.description.details
            return [where.removeprefix("where=[").removesuffix("]"), *_conditions(node.input)]
        case Project():
            return _conditions(node.input)
    return []


REGULAR = "SELECT l.id FROM l {how} JOIN r ON l.k = r.k {where}"


@pytest.mark.parametrize(
    ("how", "where", "expected"),
    [
        ("", "WHERE l.v > 1 AND r.w = 2", ["left: (v > 1)", "right: (w = 2)"]),
        ("", "AND l.v > 1 AND r.w = 2", ["left: (v > 1)", "right: (w = 2)"]),
        ("", "WHERE l.v > 1 OR r.w = 2", []),
        ("", "WHERE l.v > r.w AND (l.v > 1 OR l.id = 3)", ["left: ((v > 1) OR (id = 3))"]),
        ("LEFT", "WHERE l.v > 1 AND r.w IS NULL", ["left: (v > 1)"]),
        ("LEFT", "AND l.v > 1 AND r.w = 2", ["right: $conditionr0"]),
        ("RIGHT", "WHERE l.v IS NULL AND r.w = 2", ["right: (w = 2)"]),
        ("RIGHT", "AND l.v > 1 AND r.w = 2", ["left: $conditionl0"]),
        ("FULL", "AND l.v > 1 AND r.w = 2", []),
        ("FULL", "WHERE l.v IS NULL AND r.w IS NULL", []),
        ("", "WHERE RAND() > 0.5 AND l.v + RAND() > 1", []),
    ],
)
def test_a_side_of_a_regular_join_is_filtered_if_that_drops_no_other_rows(
    how: str, where: str, expected: list[str], tables: Workspace
) -> None:
    top = root(REGULAR.format(how=how, where=where), tables)

    assert [each for each in filters(top) if not each.startswith(("above", ": "))] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT k FROM l WHERE v > 1 AND k IN (SELECT k FROM r WHERE w = 2)", "v > 1"),
        ("SELECT k FROM (SELECT k, v FROM l WHERE k IN (SELECT k FROM r)) WHERE v > 1", "v > 1"),
        ("SELECT k FROM l WHERE v > 1 AND NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k)", "v > 1"),
        (
            "SELECT l.k FROM l JOIN r ON l.k = r.k"
            " AND r.ts BETWEEN l.ts - INTERVAL '5' SECOND AND l.ts WHERE l.v > 1",
            "v > 1",
        ),
        (
            "SELECT l.k FROM l JOIN versions FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k"
            " WHERE l.v > 1",
            "v > 1",
        ),
        ("SELECT * FROM computed WHERE following > 3", "(v + 1) > 3"),
    ],
)
def test_joins_of_other_kinds_keep_no_left_rows_that_are_dropped_above(
    query: str, expected: str, tables: Workspace
) -> None:
    assert f"left: ({expected})" in filters(root(query, tables))


def test_versions_are_not_filtered(tables: Workspace) -> None:
    query = (
        "SELECT l.k FROM l JOIN versions FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k WHERE r.w = 2"
    )

    assert filters(root(query, tables)) == [": (w = 2)"]


def test_a_filter_goes_below_all_joins_that_it_can(tables: Workspace) -> None:
    query = (
        "SELECT c.name FROM computed AS c LEFT JOIN m ON c.k = m.k"
        " WHERE c.following = 3 AND c.name LIKE 'A%' AND c.w > 1 AND m.x IS NULL"
    )
    found = [each for each in filters(root(query, tables)) if each.startswith(("left", "right"))]

    assert found == ["left: ((v + 1) = 3)", "right: ((UPPER(k) LIKE 'A%') AND (w > 1))"]


def test_columns_that_only_a_filter_reads_are_not_kept(tables: Workspace) -> None:
    query = "SELECT l.id FROM l JOIN r ON l.k = r.k WHERE l.v > 1 AND r.w = 2"
    [join] = [node for node in walk(root(query, tables)) if isinstance(node, Join)]

    assert (join.left.edge.names, join.right.edge.names) == (("id", "k"), ("k",))
    assert [type(node) for node in walk(join)].count(Scan) == 2


def test_late_rows_are_reported_whatever_a_filter_above_drops(tables: Workspace) -> None:
    windows = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    query = (
        f"SELECT a.k FROM {windows.format('l')} AS a JOIN {windows.format('r')} AS b ON a.k = b.k"
        " AND a.window_start = b.window_start AND a.window_end = b.window_end WHERE a.v > 1"
    )
    found = filters(root(query, tables))

    assert not [each for each in found if each.startswith("left")]


@pytest.mark.parametrize(
    ("query", "below"),
    [
        ("SELECT * FROM totals WHERE k = 'a' AND n > 3", ["(k = 'a')"]),
        ("SELECT * FROM totals WHERE k = 'a' AND v + 1 > 3", ["((k = 'a') AND ((v + 1) > 3))"]),
        ("SELECT * FROM totals WHERE n > v", []),
        ("SELECT COUNT(*) AS n FROM l HAVING COUNT(*) > 3", []),
        (
            "SELECT k, SUM(v) AS s FROM l GROUP BY k HAVING k LIKE 'a%' AND SUM(v) > 3",
            ["(k LIKE 'a%')"],
        ),
        ("SELECT * FROM (SELECT DISTINCT k, v FROM l) WHERE v > 3", ["(v > 3)"]),
        ("SELECT * FROM newest WHERE k = 'a' AND v > 3", ["(k = 'a')"]),
        ("SELECT * FROM first_by_arrival WHERE k = 'a' AND v > 3", ["(k = 'a')"]),
        ("SELECT * FROM best WHERE k = 'a' AND v > 3 AND n < 3", ["(k = 'a')"]),
        ("SELECT k, MAX(n) AS m FROM totals GROUP BY k HAVING k = 'a'", ["(k = 'a')"]),
        ("SELECT * FROM earliest WHERE k = 'a'", []),  # its late rows are reported
    ],
)
def test_a_filter_of_keys_is_tested_before_the_rows_of_a_key_are_kept(
    query: str, below: list[str], tables: Workspace
) -> None:
    found = filters(root(query, tables))

    assert [each for each in found if each.startswith("below")] == [f"below: {b}" for b in below]


def test_a_filter_is_tested_in_each_branch_if_that_helps_one(tables: Workspace) -> None:
    query = "SELECT * FROM (SELECT k, n FROM totals UNION ALL SELECT k, x FROM m) WHERE k = 'a' AND n > 1"
    found = filters(root(query, tables))

    assert found == ["above: (k = 'a')", "below: (k = 'a')"]
