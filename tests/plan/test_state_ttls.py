"""STATE_TTL hints. What each of them applies to was seen in the compiled plans of Flink 2.3."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.marked import plan, root, world
from tidemark.operators.joins import JoinColumns, names_of_sides, regular_join_kernel
from tidemark.operators.windows import group_aggregate_kernel
from tidemark.physical import Settings, physical_plan
from tidemark.physical.explain import explain
from tidemark.plan.nodes import GroupAggregate, Node, RegularJoin, walk
from tidemark.session.workspace import Workspace

SOURCE = "WITH ('connector' = 'fake', 'bounded' = 'false')"
DDL = f"""
CREATE TABLE a (id INT, k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {SOURCE};
CREATE TABLE b (id INT, k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {SOURCE};
CREATE VIEW va AS SELECT k, v FROM a;
"""
A, B, BOTH = "STATE_TTL('a' = '1 d')", "STATE_TTL('b' = '2 d')", "STATE_TTL('a'='1 d', 'b'='2 d')"
JOIN = "FROM a JOIN b ON a.k = b.k"
DAY = 86_400_000


@pytest.fixture(scope="module")
def tables() -> Workspace:
    return world(DDL)


def kept(sql: str, tables: Workspace) -> list[object]:
    """For each operator, from the top, in days; None is what the session says."""
    found: list[object] = []
    for node in walk(root(sql, tables)):
        if isinstance(node, RegularJoin):
            found.append([None if ttl is None else ttl // DAY for ttl in node.hinted_ms])
        elif isinstance(node, GroupAggregate):
            found.append(None if node.hinted_ms is None else node.hinted_ms // DAY)
    return found


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT /*+ {BOTH} */ a.k {JOIN}", [[1, 2]]),
        (f"SELECT /*+ {A} */ a.k FROM b LEFT JOIN a ON a.k = b.k", [[None, 1]]),
        (f"SELECT /*+ {A}, {B} */ a.k {JOIN}", [[1, 2]]),
        (f"SELECT /*+ {A} */ k, COUNT(*) FROM a GROUP BY k", [1]),
        (f"SELECT /*+ {A} */ SUM(v) FROM a", [1]),
        (f"SELECT /*+ {A} */ DISTINCT k FROM a", [1]),
        ("SELECT /*+ STATE_TTL('a' = '0') */ k, COUNT(*) FROM a GROUP BY k", [0]),
        # Names: an alias hides the table, otherwise as many parts of its path as one likes.
        ("SELECT /*+ STATE_TTL('x' = '1 d') */ x.k, SUM(v) FROM a AS x GROUP BY x.k", [1]),
        ("SELECT /*+ STATE_TTL('default_database.a' = '1 d') */ SUM(v) FROM a", [1]),
        ("SELECT /*+ STATE_TTL('va' = '1 d') */ k, SUM(v) FROM va GROUP BY k", [1]),
        ("WITH c AS (SELECT v FROM a) SELECT /*+ STATE_TTL('c' = '1 d') */ SUM(v) FROM c", [1]),
        ("SELECT /*+ STATE_TTL('q' = '1 d') */ SUM(v) FROM (SELECT v FROM a) AS q", [1]),
        # The last one in a hint, but the first hint.
        ("SELECT /*+ STATE_TTL('a' = '1 d', 'a' = '2 d') */ SUM(v) FROM a", [2]),
        ("SELECT /*+ STATE_TTL('a' = '1 d'), STATE_TTL('a' = '2 d') */ SUM(v) FROM a", [1]),
        # A join has no name, neither for GROUP BY nor for another join.
        (f"SELECT /*+ {BOTH} */ a.k, COUNT(*) {JOIN} GROUP BY a.k", [None, [1, 2]]),
        (f"SELECT /*+ {BOTH} */ a.k {JOIN} JOIN va ON va.k = b.k", [[None, None], [1, 2]]),
        (
            f"SELECT /*+ {BOTH} */ a.k FROM a JOIN (b JOIN va ON b.k = va.k) ON a.k = b.k",
            [[1, None], [2, None]],
        ),
        # A hint is for its own SELECT.
        (
            "SELECT /*+ STATE_TTL('x' = '1 d', 'y' = '2 d') */ x.k FROM "
            "(SELECT /*+ STATE_TTL('a' = '3 d') */ k, COUNT(*) AS c FROM a GROUP BY k) AS x "
            "JOIN b AS y ON x.k = y.k",
            [[1, 2], 3],
        ),
        (f"SELECT /*+ {A} */ k FROM a UNION SELECT k FROM b", [None]),
    ],
)
def test_a_hint_is_for_the_operators_that_read_the_table_themselves(sql, expected, tables):
    assert kept(sql, tables) == expected


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT /*+ {A} */ id FROM a WHERE k IN (SELECT k FROM b)",
        f"SELECT /*+ {A} */ * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn "
        "FROM a) WHERE rn <= 3",
        f"SELECT /*+ {A} */ COUNT(*) FROM a GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        f"SELECT /*+ {A} */ a.k {JOIN} AND a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts",
        f"SELECT /*+ {A} */ k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM a",
    ],
)
def test_a_hint_without_effect_is_warned_of(sql, tables):
    assert any("STATE_TTL of `a` has no effect" in text for text in plan(sql, tables).warnings)


def test_a_hint_with_an_effect_is_not_warned_of(tables):
    assert plan(f"SELECT /*+ {BOTH} */ a.k {JOIN}", tables).warnings == ()


def test_what_is_kept_forever_is_warned_of_unless_a_hint_says_so(tables):
    def warned(hint: str) -> str:
        return " ".join(plan(f"SELECT /*+ {hint} */ a.k {JOIN}", tables).warnings)

    assert "keeps all rows of the right side forever" in warned(A)
    assert warned("STATE_TTL('a' = '1 d', 'b' = '0')") == ""


def test_explain_says_how_long_rows_are_kept(tables):
    text = explain(plan(f"SELECT /*+ {A} */ a.k {JOIN}", tables))
    assert (
        "the left ones for 1 d after they were written (STATE_TTL); the right ones forever" in text
    )

    text = explain(plan("SELECT /*+ STATE_TTL('a' = '0') */ SUM(v) FROM a", tables))
    assert "the aggregates of each key, forever (STATE_TTL)" in text


@pytest.mark.parametrize(
    ("hint", "session_ms", "tick"),
    [("STATE_TTL('a' = '1 d')", 0, 1000), ("STATE_TTL('a' = '0')", 5000, None), (A, 5, 1000)],
)
def test_operators_of_earlier_jobs_look_at_the_clock_if_their_state_expires(
    hint, session_ms, tick, tables
):
    node = root(f"SELECT /*+ {hint} */ k, SUM(v) FROM a GROUP BY k", tables)

    settings = Settings(ttl_ms=session_ms, retention_clock=True)
    [operator] = physical_plan(node, settings, streaming=True).operators

    assert operator.tick_ms == tick


def test_kernels_keep_rows_as_long_as_hints_say(tables):
    join = root(f"SELECT /*+ STATE_TTL('b' = '0') */ a.k {JOIN}", tables)
    [operator] = physical_plan(join, Settings(), streaming=True).operators
    columns = JoinColumns(("k",), ("k0",), names_of_sides(operator), ())
    assert isinstance(operator.node, RegularJoin)
    assert regular_join_kernel(operator, operator.node, columns, 5).ttls == (5, None)

    [groups] = walk_to(GroupAggregate, f"SELECT /*+ {A} */ k, SUM(v) FROM a GROUP BY k", tables)
    kernel = group_aggregate_kernel(groups, groups.edge, ("k",), ("k", "v"), 5, retracts=False)
    assert kernel.idle_ms == DAY


def walk_to(kind: type[Node], sql: str, tables: Workspace) -> list[Any]:
    return [node for node in walk(root(sql, tables)) if isinstance(node, kind)]
