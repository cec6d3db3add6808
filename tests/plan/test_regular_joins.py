"""Regular joins: their plans, the warnings about them, and what is refused."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported, PlanError
from tidemark.physical.explain import explain
from tidemark.plan.nodes import Filter, GroupAggregate, RegularJoin, is_stateful, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (
  id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (id BIGINT, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE updated (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE pairs (id INT, rid BIGINT) WITH ('connector' = 'fake');
"""
NEAR = "r.ts BETWEEN l.ts - INTERVAL '5' SECOND AND l.ts + INTERVAL '3' SECOND"


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def join_of(sql: str, tables: Workspace) -> RegularJoin:
    [found] = [node for node in walk(root(sql, tables)) if isinstance(node, RegularJoin)]
    return found


def join_of_how(how: str, sql: str, tables: Workspace) -> RegularJoin:
    joins = (node for node in walk(root(sql, tables)) if isinstance(node, RegularJoin))
    return next(join for join in joins if join.how == how)


def query(on: str, how: str = "", left: str = "l", right: str = "r") -> str:
    return f"SELECT l.id, r.id AS rid FROM {left} AS l {how} JOIN {right} AS r ON {on}"


@pytest.mark.parametrize(
    ("sql", "rest"),
    [
        (query("(l.k = r.k AND l.v > 1) OR (l.k = r.k AND r.v < 1)"), True),
        (query("(l.k = r.k AND l.v > 1) OR (r.v < 1 AND l.k = r.k) OR l.k = r.k", "LEFT"), False),
        (
            "SELECT l.id FROM l, r WHERE l.k = r.k AND l.v = 1"
            " OR ((l.v = 2 AND r.v = 1 AND l.k = r.k) OR (l.k = r.k AND r.v = 7))",
            True,
        ),
    ],
)
def test_what_all_ways_of_an_or_have_in_common_is_the_key(sql, rest, tables):
    join = join_of(sql, tables)

    assert [join.left.edge.names[i] for i in join.left_keys] == ["k"]
    above = [node for node in walk(root(sql, tables)) if isinstance(node, Filter)]
    assert bool(above) == rest


@pytest.mark.parametrize(
    "sql",
    [
        query("l.k = r.k AND l.id = r.id"),
        "SELECT l.id, r.id FROM l, r WHERE r.k = l.k AND l.id = r.id",
        "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k WHERE l.id = r.id",
    ],
)
def test_a_join_without_time_bounds_is_a_regular_join(sql, tables):
    join = join_of(sql, tables)

    left, right = join.left.edge.names, join.right.edge.names
    assert {left[i] for i in join.left_keys} == {"k", "$key1"}
    assert {right[i] for i in join.right_keys} == {"k", "id"}
    assert (join.how, join.condition, join.why) == ("inner", None, "")
    assert is_stateful(join)


@pytest.mark.parametrize(
    ("how", "left", "right", "changelog"),
    [
        ("INNER", "l", "r", Changelog.APPEND),
        ("INNER", "updated", "r", Changelog.RETRACT),
        ("INNER", "l", "updated", Changelog.RETRACT),
        ("LEFT", "l", "r", Changelog.RETRACT),
        ("RIGHT", "l", "r", Changelog.RETRACT),
        ("FULL", "updated", "updated", Changelog.RETRACT),
    ],
)
def test_rows_that_may_be_retracted_make_a_changelog(how, left, right, changelog, tables):
    assert root(query("l.k = r.k", how, left, right), tables).edge.changelog is changelog


def test_a_group_above_takes_its_changes_and_an_insert_only_sink_does_not(tables):
    counts = "SELECT l.k, COUNT(r.id) AS n FROM l LEFT JOIN r ON l.k = r.k GROUP BY l.k"
    top = next(n for n in walk(root(counts, tables)) if isinstance(n, GroupAggregate))
    assert top.input.edge.changelog is Changelog.RETRACT

    plan(f"INSERT INTO pairs {query('l.k = r.k')}", tables)
    error = refused(f"INSERT INTO «pairs» {query('l.k = r.k', 'LEFT')}", at=tables)
    assert "retracted when a match arrives" in error.notes["why"]


def test_a_batch_emits_only_the_final_rows(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")
    join = join_of(query("l.k = r.k", "FULL", "updated", "r"), tables)

    assert join.at_end
    assert join.edge.changelog is Changelog.APPEND


def test_times_are_no_longer_time_attributes_and_padded_columns_are_nullable(tables):
    sql = "SELECT l.ts, r.ts AS rts, r.id AS rid FROM l LEFT JOIN r ON l.k = r.k"

    assert schema(sql, tables) == "ts TIMESTAMP(3), rts TIMESTAMP(3), rid BIGINT"


def test_what_remains_of_a_condition_is_tested_above_an_inner_join_and_inside_others(tables):
    on = "l.k = r.k AND (l.v < r.v OR CHAR_LENGTH(l.k) > r.v)"

    assert join_of(query(on), tables).condition is None
    assert any(isinstance(node, Filter) for node in walk(root(query(on), tables)))
    assert join_of(query(on, "RIGHT"), tables).condition is not None


def test_columns_that_are_not_used_are_not_kept(tables):
    join = join_of("SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND l.v < r.v", tables)

    assert join.left.edge.names == ("id", "k", "v")
    assert join.right.edge.names == ("k", "v")
    assert join.edge.names == ("id",)


@pytest.mark.parametrize(
    ("bound", "left", "why"),
    [
        ("r.ts >= l.ts", "l", "times are bounded on one side only"),
        ("l.ts > r.ts + INTERVAL '5' SECOND", "l", "times are bounded on one side only"),
        ("l.pt < r.pt", "l", "times are bounded on one side only"),
        (NEAR, "updated", "over a changelog, time bounds do not expire rows"),
    ],
)
def test_explain_says_why_a_condition_on_times_is_not_an_interval_join(bound, left, why, tables):
    sql = query(f"l.k = r.k AND {bound}", "LEFT", left)

    assert join_of(sql, tables).condition is not None
    assert f"no interval join=[{why}]" in explain(plan(sql, tables))


@pytest.mark.parametrize(
    ("test", "how"),
    [
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > l.v)", "semi"),
        ("NOT EXISTS (SELECT * FROM r WHERE r.k = l.k)", "anti"),
        ("l.k IN (SELECT r.k FROM r)", "semi"),
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND l.ts < r.ts)", "semi"),
    ],
)
def test_subqueries_are_semi_and_anti_joins(test, how, tables):
    sql = f"SELECT id, ts FROM l WHERE v > 1 AND {test}"

    assert join_of(sql, tables).how == how
    assert schema(sql, tables) == "id INT, ts TIMESTAMP(3)"
    assert (root(sql, tables).edge.changelog is Changelog.APPEND) == (how == "semi")


def test_explain_says_that_rows_are_kept_forever_and_how_to_limit_that(tables):
    text = explain(plan(query("l.k = r.k", "LEFT"), tables))

    assert "RegularJoin(left, key=[k = k])" in text
    assert "all rows of both sides, forever, or for 'table.exec.state.ttl'" in text
    assert "SET 'table.exec.state.ttl' = '1 d'" in text
    assert "or bound the times of both sides" in text


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        (query("l.k = r.k"), True),
        (query("l.k = r.k", left="r"), False),  # it ends
        ("SET 'table.exec.state.ttl' = '1 h';" + query("l.k = r.k"), False),
    ],
)
def test_only_what_never_ends_is_warned_of(sql, warned, tables):
    assert any("forever" in warning for warning in plan(sql, tables).warnings) == warned


@pytest.mark.parametrize(
    ("bound", "missing"),
    [
        ("l.ts >= r.ts", "r.ts >= l.ts - INTERVAL '1' HOUR"),
        ("r.ts > l.ts + INTERVAL '5' SECOND", "r.ts <= l.ts + INTERVAL '1' HOUR"),
        ("l.pt < r.pt", "r.pt <= l.pt + INTERVAL '1' HOUR"),
    ],
)
def test_where_one_bound_is_missing_the_warning_says_which(bound, missing, tables):
    [warning] = plan(query(f"l.k = r.k AND {bound}"), tables).warnings
    assert f"AND {missing} to make it an interval join" in warning

    bounded = root(query(f"l.k = r.k AND {bound} AND {missing}"), tables)
    assert not any(isinstance(node, RegularJoin) for node in walk(bounded))


# --- without an equality -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "how", "tested"),
    [
        ("SELECT l.id FROM l JOIN r ON l.v < r.v", "inner", True),
        ("SELECT l.id FROM l, r WHERE l.v < r.v", "inner", True),
        ("SELECT l.id FROM l JOIN r ON CHAR_LENGTH(l.k || r.k) > 3", "inner", False),
        ("SELECT l.id FROM l FULL JOIN r ON TRUE", "full", False),
        ("SELECT l.id FROM l CROSS JOIN r", "inner", False),
    ],
)
def test_a_join_without_an_equality_tests_pairs_before_it_emits_them(sql, how, tested, tables):
    join = join_of(sql, tables)

    assert (join.how, join.left_keys, join.right_keys) == (how, (), ())
    assert (join.condition is not None) == tested
    assert join.right.edge.columns  # a row without columns could not be kept


def test_conditions_of_where_make_keys_of_several_tables(tables):
    sql = "SELECT l.id FROM l, r, updated AS u WHERE l.k = r.k AND u.id = l.id AND r.v > u.v"
    joins = [n for n in walk(root(sql, tables)) if isinstance(n, RegularJoin)]

    assert [len(join.left_keys) for join in joins] == [1, 1]


def test_joins_in_parentheses_come_first(tables):
    sql = "SELECT l.id FROM l LEFT JOIN (r JOIN updated AS u ON r.k = u.k) ON l.id = u.id"
    top = join_of_how("left", sql, tables)

    assert any(isinstance(n, RegularJoin) and n.how == "inner" for n in walk(top.right))


# --- USING and NATURAL ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("* FROM k1 JOIN k2 USING (b)", "b STRING, a INT, c BIGINT"),
        ("* FROM k1 NATURAL LEFT JOIN k2", "b STRING, a INT, c BIGINT"),
        ("k2.* FROM k1 JOIN k2 USING (b)", "c BIGINT, b STRING"),
        ("k1.b, k2.b AS b2, b AS b3 FROM k1 FULL JOIN k2 USING (b)", "b STRING, b2 STRING, b3 STRING"),
        ("a FROM k1 RIGHT JOIN (SELECT c AS a FROM k2) AS k3 USING (a)", "a BIGINT"),
        ("* FROM k1 JOIN k2 USING (b) JOIN (SELECT b, a AS d FROM k1) AS k3 USING (b)",
         "b STRING, a INT, c BIGINT, d INT"),
        ("* FROM k1 NATURAL JOIN (SELECT c FROM k2) AS k3", "a INT, b STRING, c BIGINT"),
    ],
)  # fmt: skip
def test_columns_of_both_sides_become_one(sql, columns, tables):
    views = (
        "CREATE TEMPORARY VIEW k1 AS SELECT id AS a, k AS b FROM l;"
        "CREATE TEMPORARY VIEW k2 AS SELECT id AS c, k AS b FROM r;"
    )
    tables.plan_script(views)

    assert schema(f"SELECT {sql}", tables) == columns


def test_a_column_of_using_must_be_on_both_sides(tables):
    error = refused("SELECT 1 FROM l JOIN r USING («d»)", at=tables)
    assert "`d` not found" in error.message

    error = refused("SELECT 1 FROM l JOIN r ON l.k = r.k JOIN updated USING («v»)", at=tables)
    assert "`v` is ambiguous" in error.message


# --- conditions inside the operator --------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "type_"),
    [
        ("l.v < r.d", "DECIMAL(12, 2)"),
        ("l.v IN (r.d, r.id)", "DECIMAL(21, 2)"),
        ("l.v <> r.d + 0e0", "DOUBLE"),
        ("l.v * (r.d + 0e0) > 3", "DOUBLE"),
        ("l.ts < CAST(r.ts AS TIMESTAMP(6))", "TIMESTAMP(6)"),
    ],
)
def test_a_side_converts_what_meets_another_type_of_the_other_one(condition, type_, tables):
    sql = f"SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND {condition}"

    added = join_of(sql, tables).left.edge.columns[-1]

    assert added.type.text() == type_


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["l.v / r.d > 3", "l.k LIKE r.k"])
def test_a_condition_that_polars_would_test_otherwise_is_refused_for_outer_joins(condition, tables):
    sql = f"SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND «{condition}»"

    refused(sql, NotSupported, at=tables)


def test_a_window_function_needs_a_time_attribute_which_a_join_does_not_give(tables):
    both = "(SELECT l.id, l.ts FROM l JOIN r ON l.k = r.k)"
    with pytest.raises(PlanError):
        plan(f"SELECT TUMBLE_END(ts, INTERVAL '1' HOUR) FROM {both} "
             "GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", tables)  # fmt: skip
