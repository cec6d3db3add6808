"""What a name means: columns, stars, aliases, rows, subqueries, WITH, views.

Schemas were compared with Flink 2.3 where they are not plain.
"""

import pytest

from tests.plan.marked import edge, plan, refused, remarked, schema, world
from tidemark.errors import CatalogError, NotSupported, PlanError


def names(sql: str, at=None) -> list[str]:
    return list(edge(sql, at).names)


# --- output names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a, a, a AS b FROM t", ["a", "a0", "b"]),
        ("SELECT a0, a, a, a FROM (SELECT a, comp AS a0 FROM t)", ["a0", "a", "a1", "a2"]),
        ("SELECT a, a, a0 FROM (SELECT a, comp AS a0 FROM t)", ["a", "a1", "a0"]),
        ("SELECT 1, a + 1, a FROM t", ["EXPR$0", "EXPR$1", "a"]),
        ("SELECT (1), ((a)) FROM t", ["EXPR$0", "a"]),
        ("SELECT DISTINCT(a) FROM t", ["a"]),
        ("SELECT +a, (+a), + +a AS p FROM t", ["EXPR$0", "EXPR$1", "p"]),
        ("SELECT +a FROM t GROUP BY a HAVING +a > 1", ["EXPR$0"]),
        ("SELECT (a), COUNT(*) FROM t GROUP BY (a)", ["a", "EXPR$1"]),
        ("SELECT *, 1 FROM u", ["a", "ts", "EXPR$2"]),
        ("SELECT r.x, r.y.z, arr[1], (r).x FROM t", ["x", "z", "EXPR$2", "EXPR$3"]),
        (
            "SELECT current_date, CURRENT_TIMESTAMP, NOW()",
            ["current_date", "CURRENT_TIMESTAMP", "EXPR$2"],
        ),
        ("SELECT a AS `A b`, `a` FROM u", ["A b", "a"]),
        ("SELECT a, 1 FROM u UNION ALL SELECT a AS x, 2 FROM u", ["a", "EXPR$1"]),
        ("VALUES (1, 'a')", ["EXPR$0", "EXPR$1"]),
        ("SELECT * FROM (VALUES (1), (2)) AS n", ["n"]),
        ("SELECT n.n FROM ((VALUES 1)) AS n", ["n"]),
        ("SELECT * FROM (VALUES (1)) AS n (x)", ["x"]),
        ("SELECT * FROM (VALUES (ROW(1, 'a'))) AS n", ["EXPR$0", "EXPR$1"]),
        ("SELECT * FROM (SELECT 1) AS n", ["EXPR$0"]),
    ],
)
def test_columns_are_named(sql, expected):
    assert names(sql) == expected


# --- columns, tables and rows ------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT u.a FROM u",
        "SELECT x.a FROM u AS x",
        "SELECT default_database.u.a FROM u",
        "SELECT default_catalog.default_database.u.a FROM default_database.u",
        "SELECT a FROM u AS `x y` WHERE `x y`.a > 1",
        "SELECT s.a FROM (SELECT a FROM u) s",
        "SELECT s.a FROM u AS s(a, b)",
        "TABLE k",
    ],
)
def test_column_is_found_by_its_table(sql):
    assert names(sql)[0] in ("a", "id")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT r.* FROM t", "x INT, y ROW<`z` STRING, `w` INT NOT NULL>"),
        ("SELECT t.r.* FROM t", "x INT, y ROW<`z` STRING, `w` INT NOT NULL>"),
        ("SELECT r.y.* FROM t", "z STRING, w INT"),
        ("SELECT x.* FROM u AS x", "a INT, ts TIMESTAMP(3) *event*"),
        ("SELECT t.r.y.w FROM t", "w INT"),
        ("SELECT s.y FROM u AS s(x, y)", "y TIMESTAMP(3) *event*"),
    ],
)
def test_rows_and_tables_open_into_columns(sql, expected):
    assert schema(sql) == expected


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ("SELECT «nope» FROM u", "column `nope` not found in any table"),
        ("SELECT «A» FROM u", "column `A` not found in any table"),
        ("SELECT «u.nope» FROM u", "column `nope` not found in table `u`"),
        ("SELECT «U.a» FROM u", "table `U` not found in the FROM clause"),
        ("SELECT «u.a» FROM u AS x", "table `u` not found in the FROM clause"),
        ("SELECT «u.*» FROM u AS x", "table `u` not found in the FROM clause"),
        ("SELECT «a.b» FROM u", "INT is not a ROW, so it has no field `b`"),
        ("SELECT «a.*» FROM u", "`.*` requires a ROW, not INT"),
        ("SELECT «r.nope» FROM t", "the row has no field `nope`"),
        ("SELECT a AS z FROM u WHERE «z» > 1", "column `z` not found in any table"),
        ("SELECT «*»", "`*` needs a FROM clause"),
        ("SELECT 1 AS x WHERE «y» > 1", "there are no columns here"),
        ("SELECT «a» FROM (SELECT a, a FROM u)", "column `a` is ambiguous"),
        ("SELECT «a» FROM t CROSS JOIN UNNEST(arr) AS z(a)", "column `a` is ambiguous"),
        (
            "SELECT 1 FROM u, «UNNEST(ARRAY[1]) AS u(b)»",
            "table name or alias `u` is used twice in FROM",
        ),
        ("SELECT * FROM u «AS s(x)»", "found 1 column names for 2 columns"),
        ("SELECT * FROM u «AS s(x, x)»", "column name `x` is used twice"),
    ],
)
def test_name_that_means_nothing_is_refused(marked, message):
    assert refused(marked).message == message


def test_hint_names_what_was_probably_meant():
    assert refused("SELECT «named» FROM k").hint == "did you mean `name`?"
    assert refused("SELECT «kk.id» FROM k").hint == "did you mean `k`?"
    assert refused("SELECT «r.yy» FROM t").notes == {"fields": "x, y"}
    assert refused("SELECT «a» FROM t, UNNEST(arr) AS z(a)").hint == "write `t.a`"


def test_unknown_table_is_refused_at_its_name():
    refused("SELECT * FROM «nope» AS x WHERE x.a > 1", CatalogError)
    refused("INSERT INTO «nope» SELECT 1", CatalogError)
    refused("SELECT * FROM «db.nope»", CatalogError)


# --- UNNEST ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unnest", "expected"),
    [
        ("CROSS JOIN UNNEST(arr)", "EXPR$0 INT"),
        ("CROSS JOIN UNNEST(arr) AS e", "e INT"),
        ("CROSS JOIN UNNEST(arr) AS z(e)", "e INT"),
        (", UNNEST(arr) WITH ORDINALITY AS e", "e INT, ORDINALITY INT NOT NULL"),
        (", UNNEST(arr) WITH ORDINALITY AS z(e, n)", "e INT, n INT NOT NULL"),
        ("CROSS JOIN UNNEST(ar)", "p INT, q STRING"),
        ("CROSS JOIN UNNEST(ar) AS e", "p INT, q STRING"),
        ("CROSS JOIN UNNEST(m) AS e", "KEY STRING, VALUE INT"),
        ("CROSS JOIN UNNEST(m) AS e(k, v)", "k STRING, v INT"),
        ("CROSS JOIN UNNEST(ARRAY[1]) AS z(e)", "e INT NOT NULL"),
        ("LEFT JOIN UNNEST(ARRAY[1]) AS z(e) ON TRUE", "e INT"),
    ],
)
def test_elements_become_columns(unnest, expected):
    assert (
        schema(f"SELECT * FROM (SELECT arr, ar, m FROM t) {unnest}").split("m MAP<STRING, INT>, ")[
            1
        ]
        == expected
    )


def test_elements_can_be_named_like_tables():
    assert names("SELECT e.p, z.f, t.a FROM t, UNNEST(ar) AS e, UNNEST(t.arr) AS z(f)") == [
        "p",
        "f",
        "a",
    ]
    assert schema("SELECT * FROM UNNEST(ARRAY[1, 2]) AS z(e)") == "e INT NOT NULL"


def test_only_collections_have_elements():
    refused("SELECT 1 FROM t CROSS JOIN «UNNEST(a) AS z(e)»")
    refused("SELECT 1 FROM t CROSS JOIN UNNEST(m) «AS z(e)»")
    refused("SELECT 1 FROM t LEFT JOIN UNNEST(arr) AS z(e) ON «e»")


# --- WITH --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("WITH u AS (SELECT 1 AS x) SELECT * FROM u", "x INT NOT NULL"),
        ("WITH u AS (SELECT a FROM u) SELECT * FROM u", "a INT"),
        ("WITH x AS (SELECT a FROM u), y AS (SELECT a AS b FROM x) SELECT * FROM y", "b INT"),
        ("WITH x (p, q) AS (SELECT a, ts FROM u) SELECT q FROM x", "q TIMESTAMP(3) *event*"),
        ("WITH x AS (SELECT 1 AS a), x AS (SELECT 2 AS b) SELECT * FROM x", "b INT NOT NULL"),
        (
            "WITH x AS (SELECT 1 AS a) SELECT * FROM (WITH x AS (SELECT 'b' AS b) SELECT * FROM x)",
            "b CHAR(1) NOT NULL",
        ),
        (
            "WITH x AS (SELECT 1 AS a) SELECT * FROM (WITH y AS (SELECT a AS b FROM x) SELECT * FROM y)",
            "b INT NOT NULL",
        ),
        (
            "WITH x AS (SELECT 1 AS a) SELECT x.a FROM x UNION ALL SELECT z.a FROM x AS z",
            "a INT NOT NULL",
        ),
        ("WITH x AS (SELECT 1 AS a) SELECT a FROM default_database.u", "a INT"),
    ],
)
def test_query_can_be_named_in_front(sql, expected):
    assert schema(sql) == expected


def test_name_is_not_known_before_it_is_given():
    refused(
        "WITH x AS (SELECT b FROM «y»), y AS (SELECT a AS b FROM u) SELECT * FROM x", CatalogError
    )
    refused(
        "SELECT * FROM (WITH x AS (SELECT 1 AS a) SELECT * FROM x) UNION ALL SELECT * FROM «x»",
        CatalogError,
    )


def test_named_query_must_make_sense_even_when_it_is_not_used():
    refused("WITH x AS (SELECT «nope» FROM u) SELECT 1 AS y")
    with pytest.raises(PlanError, match="column names for"):
        plan("WITH x (p) AS (SELECT a, ts FROM u) SELECT 1 AS y")


def test_recursive_names_are_refused():
    refused("«WITH RECURSIVE» x AS (SELECT 1 AS a) SELECT * FROM x", NotSupported)


def test_views_do_not_see_the_names_around_their_use():
    at = world("CREATE VIEW v AS SELECT a FROM u")
    assert schema("WITH u AS (SELECT 'x' AS a) SELECT * FROM v", at) == "a INT"


# --- views -------------------------------------------------------------------------------------


def test_view_of_a_view_keeps_columns_types_and_time():
    at = world(
        "CREATE VIEW v1 AS SELECT a AS x, ts FROM u; CREATE VIEW v2 AS SELECT x, ts AS t FROM v1 WHERE x > 1"
    )
    assert schema("SELECT v2.x, t FROM v2", at) == "x INT, t TIMESTAMP(3) *event*"


def test_error_in_a_view_points_to_the_definition_of_the_view():
    view = "CREATE VIEW v AS\n  SELECT x.a FROM «gone» AS x"
    at = world(
        "CREATE TABLE gone (a INT); " + view.replace("«", "").replace("»", ""), "DROP TABLE gone"
    )
    refused("SELECT * FROM v", CatalogError, at=at, inside="CREATE TABLE gone (a INT); " + view)


def test_error_in_a_view_of_a_view_points_to_the_innermost_definition():
    inner, outer = (
        "CREATE VIEW inner_ AS SELECT a + 1 AS b FROM gone",
        "CREATE VIEW outer_ AS SELECT b FROM inner_",
    )
    at = world(
        "CREATE TABLE gone (a INT)", inner, outer, "DROP TABLE gone; CREATE TABLE gone (c INT)"
    )
    refused(
        "SELECT * FROM outer_", at=at, inside="CREATE VIEW inner_ AS SELECT «a» + 1 AS b FROM gone"
    )


def test_error_in_a_computed_column_points_to_its_create_table():
    text = "CREATE TABLE n (s STRING, b AS twice(s)) WITH ('connector' = 'fake')"
    at = world(
        "CREATE FUNCTION twice AS 'tests.plan.functions.twice' LANGUAGE PYTHON",
        text,
        "DROP FUNCTION twice",
    )
    with pytest.raises(PlanError) as caught:
        plan("SELECT s FROM n", at)
    assert remarked(caught.value) == text.replace("twice(s)", "«twice(s)»")
