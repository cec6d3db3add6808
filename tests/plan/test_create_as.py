"""CREATE TABLE ... AS: the columns of the table, and what fills it. All answers are Flink 2.3's."""

import pytest

from tests.plan.marked import edge, refused, schema, workspace
from tidemark.dialect import to_sql
from tidemark.dialect.statements import Name
from tidemark.errors import CatalogError, ParseError, PlanError
from tidemark.plan.nodes import Sink

SOURCE = """
CREATE TABLE src (
  id INT NOT NULL, name STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'fake');
"""
WITH = "WITH ('connector' = 'fake', 'updates' = 'true')"


def created(statement: str):
    """The columns of the table, and those of the sink that fills it."""
    at = workspace(SOURCE)
    [planned] = at.plan_script(statement)
    [root] = planned.plan.roots
    assert isinstance(root, Sink)
    return at, root


def test_table_has_the_columns_of_the_query():
    at, root = created(f"CREATE TABLE t {WITH} AS SELECT id, price * 2 AS twice, ts, pt FROM src")
    columns = "id INT NOT NULL, twice DECIMAL(21, 2), ts TIMESTAMP(3), pt TIMESTAMP_LTZ(3) NOT NULL"
    assert schema("SELECT * FROM t", at) == columns
    assert [column.time for column in edge("SELECT * FROM t", at).columns] == [None] * 4
    assert root.input.edge.names == ("id", "twice", "ts", "pt")


def test_columns_without_a_name_get_one():
    at, _ = created(f"CREATE TABLE t {WITH} AS SELECT 1, 'a', COUNT(*) FROM src")
    names = schema("SELECT * FROM t", at)
    assert names == "EXPR$0 INT NOT NULL, EXPR$1 CHAR(1) NOT NULL, EXPR$2 BIGINT NOT NULL"


def test_own_columns_come_first_and_are_null():
    body = (
        "(w AS id + 1, extra STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, "
        "PRIMARY KEY (id) NOT ENFORCED)"
    )
    at, root = created(f"CREATE TABLE t {body} {WITH} AS SELECT id, name, ts FROM src")
    assert schema("SELECT * FROM t", at) == (
        "w INT NOT NULL, extra STRING, id INT NOT NULL, name STRING, ts TIMESTAMP(3) *event*"
    )
    assert at.catalogs.relation(Name(("t",))).primary_key.columns == ("id",)
    assert root.input.edge.names == ("extra", "id", "name", "ts")


def test_declared_types_win_where_values_fit():
    at, root = created(
        f"CREATE TABLE t (id BIGINT, name STRING) {WITH} AS SELECT id, name FROM src"
    )
    assert schema("SELECT * FROM t", at) == "id BIGINT, name STRING"
    assert root.input.edge.types[0].text() == "BIGINT"


def test_names_without_types_order_the_columns():
    at, root = created(f"CREATE TABLE t (name, id) {WITH} AS SELECT id, name FROM src")
    assert schema("SELECT * FROM t", at) == "name STRING, id INT NOT NULL"
    assert root.input.edge.names == ("name", "id")


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("CREATE TABLE t («id STRING») W AS SELECT id, name FROM src", CatalogError),
        ("CREATE TABLE t («name INT») W AS SELECT id, name FROM src", CatalogError),
        ("CREATE TABLE t («name STRING NOT NULL») W AS SELECT name FROM src", CatalogError),
        ("CREATE TABLE t («id AS 1») W AS SELECT id FROM src", CatalogError),
        ("CREATE TABLE «t» (name) W AS SELECT id, name FROM src", CatalogError),
        ("CREATE TABLE t (name, nope) W AS «SELECT id, name FROM src»", CatalogError),
        ("CREATE TABLE «t» (extra INT NOT NULL) W AS SELECT id FROM src", PlanError),
        (
            "CREATE TABLE t («PRIMARY KEY (name) NOT ENFORCED») W AS SELECT id, name FROM src",
            CatalogError,
        ),
        ("CREATE TABLE t (w AS «nope» + 1) W AS SELECT id FROM src", PlanError),
        ("CREATE TABLE t W AS SELECT «nope» FROM src", PlanError),
        ("CREATE TABLE «src» W AS SELECT 1 AS a", CatalogError),
        ("REPLACE TABLE «t» W AS SELECT 1 AS a", CatalogError),
        ("CREATE TABLE t (a, b)«»", ParseError),
        ("CREATE TABLE t W LIKE src «AS» SELECT 1 AS a", ParseError),
        ("REPLACE TABLE t (a INT) W«»", ParseError),
        ("CREATE OR REPLACE TABLE IF NOT EXISTS t W «AS» SELECT 1 AS a", ParseError),
    ],
)
def test_refused_and_nothing_is_created(statement, error):
    at = workspace(SOURCE)
    refused(statement.replace("W", WITH, 1) if " W" in statement else statement, error, at=at)
    assert at.catalogs.relation_names() == ["src"]


def test_existing_table_is_filled_if_not_exists():
    at = workspace(SOURCE, "CREATE TABLE t (n BIGINT) WITH ('connector' = 'fake')")
    [planned] = at.plan_script("CREATE TABLE IF NOT EXISTS t AS SELECT id FROM src")
    assert planned.plan.roots[0].edge is not None
    assert schema("SELECT * FROM t", at) == "n BIGINT"


@pytest.mark.parametrize("words", ["REPLACE", "CREATE OR REPLACE"])
def test_replaced_table_may_be_read_by_the_query(words):
    at = workspace(SOURCE, "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'fake')")
    [planned] = at.plan_script(f"{words} TABLE t {WITH} AS SELECT b AS c FROM t WHERE a = 1")
    assert planned.plan.roots[0].input.edge.names == ("c",)
    assert schema("SELECT * FROM t", at) == "c INT"


def test_explained_table_is_not_created():
    at = workspace(SOURCE)
    [planned] = at.plan_script(
        "EXPLAIN CREATE TABLE t WITH ('connector' = 'print') AS SELECT id FROM src"
    )
    assert "Sink(table=[default_catalog.default_database.t]" in planned.result.rows[0][0]
    assert at.catalogs.relation_names() == ["src"]


def test_later_changes_of_the_table_are_located_in_its_definition():
    at, _ = created(f"CREATE TABLE t {WITH} AS SELECT id, ts FROM src")
    at.plan_script("ALTER TABLE t ADD (w AS id + 1, WATERMARK FOR ts AS ts)")
    assert schema("SELECT w FROM t", at) == "w INT NOT NULL"


def test_statement_prints_as_it_is_written():
    from tidemark.dialect import parse_script

    text = (
        "REPLACE TABLE t (b, a) WITH (\n  'connector' = 'print'\n) AS\nSELECT\n  1 AS a,\n  2 AS b"
    )
    assert to_sql(parse_script(text).statements[0]).split() == text.split()
