"""What a session says without Spark: SHOW, DESCRIBE, SET, and how scripts are planned."""

import pytest

from tests.plan.marked import refused, workspace, world
from tidemark.dialect import parse_script
from tidemark.errors import CatalogError, ParseError, PlanError
from tidemark.session.workspace import Workspace


def rows(sql: str, at=None) -> list[tuple[object, ...]]:
    return list((at or world()).plan_script(sql)[-1].result.rows)


def column(sql: str, at=None) -> list[object]:
    return [row[0] for row in rows(sql, at)]


def titles(sql: str, at=None) -> list[str]:
    return [c.name for c in (at or world()).plan_script(sql)[-1].result.columns]


# --- DESCRIBE, as Flink 2.3 prints it ----------------------------------------------------------


def test_table_is_described_as_flink_does():
    at = workspace(
        """CREATE TABLE d (
          a INT, b STRING METADATA FROM 'timestamp' VIRTUAL, c AS a + 1, d STRING NOT NULL,
          ts TIMESTAMP(3), p AS PROCTIME(),
          WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (d, a) NOT ENFORCED
        ) WITH ('connector' = 'fake')"""
    )
    assert titles("DESCRIBE d", at) == ["name", "type", "null", "key", "extras", "watermark"]
    assert rows("DESC d", at) == [
        ("a", "INT", False, "PRI(d, a)", None, None),
        ("b", "STRING", True, None, "METADATA FROM 'timestamp' VIRTUAL", None),
        ("c", "INT", False, None, "AS a + 1", None),
        ("d", "STRING", False, "PRI(d, a)", None, None),
        ("ts", "TIMESTAMP(3) *ROWTIME*", True, None, None, "ts - INTERVAL '5' SECOND"),
        ("p", "TIMESTAMP_LTZ(3) *PROCTIME*", False, None, "AS PROCTIME()", None),
    ]
    assert rows("SHOW COLUMNS FROM d", at) == rows("DESCRIBE d", at)


def test_current_database_is_a_string_that_is_never_null():
    at = workspace("CREATE VIEW v AS SELECT CURRENT_DATABASE() AS here")
    assert rows("DESCRIBE v", at) == [("here", "STRING", False, None, None, None)]


def test_comments_get_a_column_only_where_there_are_some():
    at = workspace("CREATE TABLE d (a INT COMMENT 'the a', b INT)")
    assert titles("DESCRIBE d", at)[-1] == "comment"
    assert [row[-1] for row in rows("DESCRIBE d", at)] == ["the a", None]


def test_view_is_described_by_its_columns():
    at = world("CREATE VIEW v (x, y) AS SELECT a, ts FROM u")
    assert rows("DESCRIBE v", at) == [
        ("x", "INT", True, None, None, None),
        ("y", "TIMESTAMP(3) *ROWTIME*", True, None, None, None),
    ]


def test_description_needs_no_connector():
    at = Workspace()
    at.plan_script(
        "CREATE TABLE d (a INT, m STRING METADATA FROM 'anything') WITH ('connector' = 'nope')"
    )
    assert column("DESCRIBE d", at) == ["a", "m"]


# --- SHOW --------------------------------------------------------------------------------------

THINGS = """
CREATE DATABASE d; CREATE TABLE d.x (a INT);
CREATE TABLE orders (a INT, ab INT, c INT); CREATE TABLE rates (a INT); CREATE VIEW latest AS SELECT a FROM rates;
CREATE FUNCTION my_f AS 'a.b' LANGUAGE PYTHON;
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SHOW TABLES", ["latest", "orders", "rates"]),
        ("SHOW TABLES FROM d", ["x"]),
        ("SHOW TABLES IN default_catalog.d", ["x"]),
        ("SHOW TABLES LIKE '%e_s'", ["orders"]),
        ("SHOW TABLES LIKE 'O%'", []),
        ("SHOW TABLES NOT LIKE '%s'", ["latest"]),
        ("SHOW VIEWS", ["latest"]),
        ("SHOW VIEWS FROM d", []),
        ("SHOW DATABASES", ["d", "default_database"]),
        ("SHOW DATABASES FROM default_catalog LIKE 'd'", ["d"]),
        ("SHOW CATALOGS", ["default_catalog"]),
        ("SHOW FUNCTIONS LIKE 'my%'", ["my_f"]),
        ("SHOW FUNCTIONS FROM d LIKE 'my%'", []),
        ("SHOW FUNCTIONS LIKE 'upp%'", ["upper"]),
        ("SHOW CURRENT CATALOG", ["default_catalog"]),
        ("SHOW CURRENT DATABASE", ["default_database"]),
        ("SHOW COLUMNS FROM orders LIKE 'a%'", ["a", "ab"]),
        ("SHOW COLUMNS FROM orders NOT LIKE 'a%'", ["c"]),
        ("SHOW MODULES", ["core"]),
    ],
)
def test_show_lists_names(statement, expected):
    assert column(statement, workspace(THINGS)) == expected


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        ("SHOW TABLES", "table name"),
        ("SHOW VIEWS", "view name"),
        ("SHOW DATABASES", "database name"),
        ("SHOW CATALOGS", "catalog name"),
        ("SHOW FUNCTIONS", "function name"),
        ("SHOW CURRENT DATABASE", "current database name"),
        ("SHOW CREATE VIEW latest", "result"),
    ],
)
def test_columns_of_show_are_called_as_in_flink(statement, title):
    assert titles(statement, workspace(THINGS)) == [title]


def test_show_create_gives_the_statement_that_would_make_it():
    text = """CREATE TABLE t (
      a INT COMMENT 'it''s', m STRING METADATA FROM 'x' VIRTUAL, c AS a + 1, ts TIMESTAMP(3),
      WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED
    ) COMMENT 'all' PARTITIONED BY (a) WITH ('connector' = 'fake', 'k' = 'v')"""
    at = workspace(text)
    [shown] = column("SHOW CREATE TABLE t", at)
    again = workspace(shown)
    assert column("SHOW CREATE TABLE t", again) == [shown]
    assert again.catalogs.relations() == at.catalogs.relations()


def test_show_create_view_gives_its_query():
    at = world("CREATE TEMPORARY VIEW v (x) COMMENT 'c' AS SELECT a FROM u WHERE a > 1")
    [shown] = column("SHOW CREATE VIEW v", at)
    assert shown.startswith(
        "CREATE TEMPORARY VIEW default_catalog.default_database.v (x) COMMENT 'c' AS"
    )
    assert parse_script(shown).statements


def test_show_create_hides_secrets_and_nothing_else():
    at = workspace(
        """CREATE TABLE s (a INT) WITH (
          'connector' = 'kafka', 'properties.sasl.password' = 'p1', 'token' = 'p2', 'Access-Key' = 'p3',
          'http-headers' = 'p5', 'fs.azure.account.key' = 'p6', 'credentials' = 'p7',
          'properties.sasl.jaas.config' = 'user p4', 'topic' = 'visible', 'key.format' = 'json')"""
    )
    [shown] = column("SHOW CREATE TABLE s", at)
    assert not any(secret in shown for secret in ("p1", "p2", "p3", "p4", "p5", "p6", "p7"))
    assert "'topic' = 'visible'" in shown
    assert "'key.format' = 'json'" in shown


@pytest.mark.parametrize(
    ("marked", "hint"),
    [
        ("SHOW CREATE TABLE «latest»", "SHOW CREATE VIEW latest"),
        ("SHOW CREATE VIEW «rates»", "SHOW CREATE TABLE rates"),
        ("SHOW CREATE TABLE «rate»", "did you mean `rates`?"),
        ("DESCRIBE «rate»", "did you mean `rates`?"),
        ("SHOW COLUMNS FROM «rate»", "did you mean `rates`?"),
    ],
)
def test_what_is_not_there_cannot_be_shown(marked, hint):
    assert refused(marked, CatalogError, at=workspace(THINGS)).hint == hint


# --- scripts -----------------------------------------------------------------------------------


def test_statements_take_effect_one_after_another_until_one_fails():
    at = workspace()
    with pytest.raises(PlanError) as caught:
        at.plan_script(
            "CREATE TABLE a (x INT);\nCREATE VIEW b AS SELECT y FROM a;\nCREATE TABLE c (x INT)",
            "my.sql",
        )
    assert str(caught.value).startswith("my.sql:2:25  column `y` not found")
    assert at.catalogs.relation_names() == ["a"]


def test_nothing_takes_effect_where_the_text_cannot_be_read():
    at = workspace()
    with pytest.raises(ParseError):
        at.plan_script("CREATE TABLE a (x INT); CREATE TABEL b (x INT)")
    assert at.catalogs.relation_names() == []


def test_workspaces_know_nothing_of_each_other():
    one, other = (
        workspace("CREATE TABLE a (x INT); SET 'pipeline.max-parallelism' = '3'"),
        workspace(),
    )
    assert other.catalogs.relation_names() == []
    assert other.options.get("pipeline.max-parallelism") is None
    assert one.catalogs.relation_names() == ["a"]
