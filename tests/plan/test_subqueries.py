"""Subqueries as conditions, values and relations: what joins they become, and what is refused."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported, PlanError
from tidemark.plan.nodes import GroupAggregate, IntervalJoin, Node, RegularJoin, Unnest, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (id INT NOT NULL, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (id INT NOT NULL, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def joins(sql: str, tables: Workspace) -> list[RegularJoin]:
    return [node for node in walk(root(sql, tables)) if isinstance(node, RegularJoin)]


def keys(join: RegularJoin) -> list[tuple[str, str]]:
    left, right = join.left.edge.names, join.right.edge.names
    pairs = zip(join.left_keys, join.right_keys, strict=True)
    return [(left[mine], right[theirs]) for mine, theirs in pairs]


def below(node: Node, kind: type[Node]) -> Node:
    return next(part for part in walk(node) if isinstance(part, kind))


# --- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "how", "count"),
    [
        ("v IN (SELECT MAX(v) FROM r GROUP BY k)", "semi", 1),
        ("v IN (SELECT MAX(v) FROM r WHERE r.k = l.k)", "semi", 2),
        ("(k, v) IN (SELECT k, v FROM r)", "semi", 2),
        ("(k, v) IN (SELECT k, v FROM r EXCEPT SELECT k, v FROM l)", "semi", 2),
        ("id NOT IN (SELECT id FROM r)", "anti", 1),
        ("id <> ALL (SELECT id FROM r)", "anti", 1),
        ("NOT (v = ANY (SELECT v FROM r))", "anti", 0),
        ("v NOT IN (SELECT v FROM r WHERE r.k = l.k)", "anti", 1),
        ("EXISTS (SELECT 1 FROM r)", "semi", 0),
        ("NOT EXISTS (SELECT 1 FROM r WHERE r.v > l.v)", "anti", 0),
        ("EXISTS (SELECT k FROM r WHERE r.k = l.k GROUP BY k HAVING COUNT(*) > 1)", "semi", 1),
        ("EXISTS (SELECT DISTINCT v FROM r WHERE r.k = l.k)", "semi", 1),
        ("v > ANY (SELECT v FROM r)", "semi", 0),
        ("v >= ALL (SELECT v FROM r WHERE r.k = l.k)", "anti", 1),
        ("NOT (v >= ALL (SELECT v FROM r))", "semi", 0),
    ],
)
def test_conditions_of_where_are_semi_and_anti_joins(test, how, count, tables):
    top = joins(f"SELECT id, ts FROM l WHERE v > 1 AND {test}", tables)[0]

    assert (top.how, len(top.left_keys)) == (how, count)


def test_of_a_subquery_without_conditions_one_row_is_kept(tables):
    [join] = joins("SELECT id FROM l WHERE EXISTS (SELECT * FROM r WHERE v > 3)", tables)

    assert isinstance(below(join.right, GroupAggregate), GroupAggregate)
    assert join.right.edge.names == ("$some",)


def test_rows_that_only_the_subquery_decides_on_are_dropped_below_the_join(tables):
    sql = "SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > 3)"
    [join] = joins(sql, tables)

    assert join.condition is None
    assert join.right.edge.names == ("k",)


def test_a_subquery_within_a_subquery_tests_its_rows(tables):
    inner = "EXISTS (SELECT 1 FROM l AS m WHERE m.id = r.id)"
    [outer, nested] = joins(
        f"SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND {inner})", tables
    )

    assert (keys(outer), keys(nested)) == ([("k", "k")], [("id", "id")])


# --- values --------------------------------------------------------------------------------------


def test_a_scalar_subquery_is_a_left_join_with_its_only_row(tables):
    [join] = joins("SELECT id, (SELECT MAX(v) FROM r) AS m FROM l", tables)

    assert (join.how, join.left_keys) == ("left", ())
    assert schema("SELECT id, (SELECT MAX(v) FROM r) AS m, * FROM l", tables) == (
        "id INT NOT NULL, m INT, id0 INT NOT NULL, k STRING, v INT, ts TIMESTAMP(3)"
    )


def test_a_query_without_from_may_have_values_of_subqueries(tables):
    sql = "SELECT (SELECT COUNT(*) FROM r) AS n, EXISTS (SELECT 1 FROM r) AS e"

    assert root(sql, tables).edge.names == ("n", "e")


def test_the_rows_of_all_keys_are_aggregated_at_once(tables):
    [join] = joins("SELECT id, (SELECT MAX(v) FROM r WHERE r.k = l.k) AS m FROM l", tables)
    groups = below(join.right, GroupAggregate)

    assert isinstance(groups, GroupAggregate)
    assert (join.how, len(join.left_keys), len(groups.keys)) == ("left", 1, 1)


@pytest.mark.parametrize(
    ("test", "how"),
    [
        ("v > (SELECT AVG(v) FROM r)", "inner"),
        ("v + 1 = -(SELECT v FROM r WHERE r.id = l.id)", "inner"),
        ("v IS NULL OR v > (SELECT AVG(v) FROM r)", "left"),
        ("COALESCE((SELECT v FROM r WHERE r.id = l.id), 0) > 3", "left"),
        ("v > (SELECT COUNT(*) FROM r WHERE r.k = l.k)", "left"),  # zero for no rows
    ],
)
def test_a_comparison_with_a_value_drops_rows_without_one(test, how, tables):
    [join] = joins(f"SELECT id FROM l WHERE {test}", tables)

    assert join.how == how


def test_a_value_that_may_be_of_several_rows_is_checked(tables):
    sql = "SELECT id, (SELECT v FROM r WHERE r.k = l.k) AS m FROM l"
    [join] = joins(sql, tables)
    groups = below(join.right, GroupAggregate)

    assert isinstance(groups, GroupAggregate)
    assert [call.function for call in groups.calls] == ["FIRST_VALUE", "COUNT"]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k)", 1),
        ("id IN (SELECT id FROM r)", 1),
        ("v IN (SELECT v FROM r)", 2),  # and the numbers of values, to know about NULLs
        ("v >= ALL (SELECT v FROM r WHERE r.k = l.k)", 1),
        ("id <> ANY (SELECT id FROM r)", 1),
    ],
)
def test_conditions_in_place_of_values_are_left_joins(value, count, tables):
    found = joins(f"SELECT id, {value} AS x FROM l", tables)

    assert [join.how for join in found] == ["left"] * count
    assert joins(f"SELECT id FROM l WHERE v = 1 OR {value}", tables)


def test_groups_are_joined_with_the_values_of_subqueries(tables):
    sql = (
        "SELECT k, COUNT(*) AS n, (SELECT MAX(v) FROM r WHERE r.k = l.k) AS m FROM l GROUP BY k "
        "HAVING SUM(v) > (SELECT SUM(v) FROM r)"
    )
    correlated, total = joins(sql, tables)

    assert (correlated.how, total.how) == ("left", "inner")
    assert root(sql, tables).edge.changelog is Changelog.RETRACT
    assert schema(sql, tables) == "k STRING, n BIGINT NOT NULL, m INT"


def test_subqueries_inside_aggregates_are_values_of_the_rows_that_are_grouped(tables):
    sql = (
        "SELECT (SELECT MAX(v) FROM r WHERE r.k = l.k) AS m, SUM(v + (SELECT MIN(v) FROM r)) AS s "
        "FROM l GROUP BY (SELECT MAX(v) FROM r WHERE r.k = l.k)"
    )
    top = below(root(sql, tables), GroupAggregate)
    assert isinstance(top, GroupAggregate)

    assert [join.how for join in joins(sql, tables)] == ["left", "left"]
    assert {join.how for join in walk(top) if isinstance(join, RegularJoin)} == {"left"}
    assert schema(sql, tables) == "m INT, s INT"


# --- outer values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ("(SELECT MAX(v) FROM r WHERE r.v < l.v)", 1),
        ("(SELECT COUNT(*) FROM r WHERE r.k = l.k AND r.v <> l.v)", 2),
        ("(SELECT l.v + r.v FROM r WHERE r.id = 3)", 1),
        ("(SELECT MAX(r.v + l.v) FROM r WHERE r.k = l.k)", 2),
        ("EXISTS (SELECT 1 FROM r WHERE r.v < l.v)", 1),
        ("EXISTS (SELECT * FROM r WHERE r.k = l.k AND r.v IN (SELECT v FROM r AS x WHERE x.v < l.v))", 2),
        ("(SELECT v FROM r WHERE r.v < l.v ORDER BY v DESC LIMIT 1)", 1),
    ],
)  # fmt: skip
def test_what_keys_cannot_tell_apart_is_computed_for_the_distinct_outer_values(value, keys, tables):
    top, *_ = joins(f"SELECT id, {value} AS x FROM l", tables)

    assert (top.how, len(top.left_keys), set(top.nulls_equal)) == ("left", keys, {True})
    distinct = [node for node in walk(top.right) if isinstance(node, GroupAggregate)]
    assert any(node.distinct and len(node.keys) == keys for node in distinct)


def test_limit_makes_no_difference_to_exists(tables):
    [plain], [limited] = (
        joins(f"SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k {limit})", tables)
        for limit in ("", "LIMIT 1")
    )

    assert plain == limited


def test_a_null_value_of_an_aggregate_is_told_from_none(tables):
    case = "(SELECT CASE WHEN COUNT(*) = 0 THEN 5 ELSE MAX(v) END FROM r WHERE r.k = l.k)"
    [join] = joins(f"SELECT id, {case} AS x FROM l", tables)

    assert join.right.edge.names[-1] == "$some"


# --- ON ------------------------------------------------------------------------------------------


def test_a_subquery_in_on_of_an_outer_join_is_a_column_of_its_side(tables):
    sql = "SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND {} IN (SELECT v FROM r WHERE v > 1)"
    of_left, of_right = (
        next(join for join in joins(sql.format(value), tables) if join.left_keys)
        for value in ("l.v", "r.v")
    )

    def is_joined(node: Node) -> bool:
        return any(isinstance(part, RegularJoin) for part in walk(node))

    assert (is_joined(of_left.left), is_joined(of_left.right)) == (True, False)
    assert (is_joined(of_right.left), is_joined(of_right.right)) == (False, True)


def test_a_subquery_in_on_of_an_inner_join_tests_its_pairs(tables):
    sql = "SELECT l.id FROM l JOIN r ON l.k = r.k AND EXISTS (SELECT 1 FROM r AS x WHERE x.v = l.v)"

    assert [join.how for join in joins(sql, tables)] == ["semi", "inner"]


# --- LATERAL -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("from_", "how", "columns"),
    [
        ("l, LATERAL (SELECT v AS w FROM r WHERE r.k = l.k)", "inner", "id INT NOT NULL, w INT"),
        ("l LEFT JOIN LATERAL (SELECT MAX(v) FROM r WHERE r.k = l.k) AS t (w) ON TRUE", "left",
         "id INT NOT NULL, w INT"),
        ("l LEFT JOIN LATERAL (SELECT l.v + v AS w FROM r WHERE r.k = l.k) AS t ON t.w > 3", "left",
         "id INT NOT NULL, w INT"),
        ("l CROSS JOIN LATERAL (SELECT DISTINCT v AS w FROM r WHERE r.k = l.k) AS t", "inner",
         "id INT NOT NULL, w INT"),
    ],
)  # fmt: skip
def test_lateral_is_a_join_on_what_refers_to_other_tables(from_, how, columns, tables):
    sql = f"SELECT l.id, w FROM {from_}"
    [join] = joins(sql, tables)

    assert (join.how, len(join.left_keys)) == (how, 1)
    assert schema(sql, tables) == columns


def test_lateral_rows_that_are_near_in_time_are_an_interval_join(tables):
    near = "r.ts BETWEEN l.ts - INTERVAL '1' MINUTE AND l.ts"
    sql = f"SELECT l.id, t.v FROM l, LATERAL (SELECT v FROM r WHERE r.k = l.k AND {near}) AS t"

    assert any(isinstance(node, IntervalJoin) for node in walk(root(sql, tables)))


def test_lateral_over_a_collection_of_the_row_is_no_join():
    sql = "SELECT a, w FROM t, LATERAL (SELECT x AS w FROM UNNEST(arr) AS e (x) WHERE x > a) AS l"
    nodes = list(walk(root(sql)))

    assert any(isinstance(node, Unnest) for node in nodes)
    assert not any(isinstance(node, RegularJoin) for node in nodes)


def test_a_subquery_of_elements_may_be_within_another():
    lateral = (
        "LATERAL (SELECT v + 1 AS w FROM (SELECT x * 2 FROM UNNEST(arr) AS e (x) WHERE x > 1) AS i (v)"
        " WHERE v < a)"
    )
    sql = f"SELECT a, w FROM t, {lateral} AS l"

    assert schema(sql) == "a INT, w INT"
    assert not [node for node in walk(root(sql)) if isinstance(node, RegularJoin)]


def test_what_is_computed_of_elements_is_null_where_there_are_none():
    select = "SELECT a, l.* FROM t LEFT JOIN LATERAL (SELECT x, 1 AS made FROM UNNEST(arr) AS e (x)"

    assert schema(f"{select}) AS l ON TRUE") == "a INT, x INT, made INT"
    assert schema(f"{select} WHERE x > 1) AS l (y, two) ON two < y") == ("a INT, y INT, two INT")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM «UNNEST(t.arr) AS e (x)» WHERE x = 1)",
        "SELECT a, (SELECT MAX(x) FROM «UNNEST(arr) AS e (x)») FROM t",
        "SELECT a, n FROM t, LATERAL (SELECT COUNT(*) AS n FROM «UNNEST(arr) AS e (x)») AS l",
        "SELECT a, x FROM t, LATERAL (SELECT DISTINCT x FROM «UNNEST(arr) AS e (x)») AS l",
    ],
)
def test_other_subqueries_over_a_collection_of_the_outer_row_are_refused_by_name(query):
    error = refused(query, NotSupported)

    assert error.message == "UNNEST of an outer column in a subquery is not supported"
    assert "CROSS JOIN UNNEST" in (error.hint or "")


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT id FROM l WHERE v IN (SELECT MAX(v) FROM r WHERE r.k = l.k "
            "GROUP BY «ROLLUP (id)»)",
            "GROUPING SETS in a correlated subquery",
        ),
        (
            "SELECT id FROM l WHERE v IN (SELECT v FROM r WHERE r.v < l.v «LIMIT 1»)",
            "LIMIT in a correlated subquery",
        ),
        (
            "SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.v < l.v «LIMIT 0»)",
            "LIMIT in a correlated subquery",
        ),
        (
            "SELECT id, (SELECT MAX(r.v) FROM l AS x FULL JOIN r ON x.id = r.id WHERE «r.v < l.v») "
            "FROM l",
            "this condition in a correlated subquery",
        ),
        (
            "SELECT id, «(SELECT l.v + r.v FROM l AS x FULL JOIN r ON x.id = r.id)» FROM l",
            "this value of outer columns in a correlated subquery",
        ),
        (
            "SELECT id, «(k, v) IN (SELECT k, v FROM r)» FROM l",
            "IN with several nullable columns and a subquery",
        ),
        (
            "SELECT id FROM l WHERE NOT («(k, v) IN (SELECT k, v FROM r)» OR id = 3)",
            "IN with several nullable columns and a subquery",
        ),
        (
            "SELECT 1 FROM l LEFT JOIN r ON «EXISTS (SELECT 1 FROM r x WHERE x.k = l.k AND x.v = r.v)»",
            "a subquery that refers to both sides of an outer join in its ON",
        ),
        (
            "SELECT id FROM l WHERE (id, v) «NOT IN (SELECT COUNT(*), 1 FROM r WHERE r.k = l.k)»",
            "a correlated IN with several columns and aggregates without GROUP BY",
        ),
    ],
)
def test_what_flink_refuses_too_is_named(marked, message, tables):
    assert refused(marked, NotSupported, at=tables).message == f"{message} is not supported"


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT id, «(SELECT k, v FROM r)» FROM l",
            "a scalar subquery must select one column, not 2",
        ),
        (
            "SELECT id FROM l WHERE v IN «(SELECT k, v FROM r)»",
            "the subquery must select 1 column, not 2",
        ),
        ("SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE «r.x» = 1)", "column `x` not found"),
        (
            "SELECT 1 FROM l «RIGHT JOIN LATERAL (SELECT 1 FROM r WHERE r.k = l.k) ON TRUE»",
            "LATERAL is only allowed",
        ),
    ],
)
def test_wrong_subqueries_are_errors_at_their_place(marked, message, tables):
    assert message in refused(marked, PlanError, at=tables).message


def test_a_join_without_keys_warns_of_its_state(tables):
    [warning] = plan("SELECT id FROM l WHERE v NOT IN (SELECT v FROM r)", tables).warnings

    assert "keeps all rows of both sides forever" in warning
