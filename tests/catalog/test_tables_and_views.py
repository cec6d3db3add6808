"""CREATE, DROP and what hides what. Answers marked so were seen on Flink 2.3."""

import pytest

from tests.plan.marked import refused, schema, workspace
from tidemark.errors import CatalogError, PlanError

T = "CREATE TABLE t (a INT) WITH ('connector' = 'fake');"


def names(at, what="TABLES") -> list[object]:
    return [row[0] for row in at.plan_script(f"SHOW {what}")[0].result.rows]


# --- create ------------------------------------------------------------------------------------


def test_name_can_be_taken_once():
    error = refused(T + "CREATE TABLE «t» (b INT)", CatalogError, at=workspace())
    assert error.message == "table `t` already exists"
    assert "CREATE OR REPLACE" in error.hint


def test_if_not_exists_keeps_what_is_there():
    at = workspace(
        T, "CREATE TABLE IF NOT EXISTS t (b STRING); CREATE VIEW IF NOT EXISTS t AS SELECT 1 AS x"
    )
    assert schema("SELECT * FROM t", at) == "a INT"


def test_or_replace_takes_the_place_of_table_and_view():
    at = workspace(T, "CREATE OR REPLACE TABLE t (b STRING)")
    assert schema("SELECT * FROM t", at) == "b STRING"
    at.plan_script("CREATE OR REPLACE VIEW t AS SELECT 1 AS x")
    assert schema("SELECT * FROM t", at) == "x INT NOT NULL"
    assert names(at, "VIEWS") == ["t"]


def test_refused_replacement_leaves_everything_as_it_was():
    at = workspace(T)
    refused("CREATE OR REPLACE VIEW t AS SELECT «nope» FROM t", at=at)
    assert schema("SELECT * FROM t", at) == "a INT"


def test_refused_replacement_of_a_table_hidden_by_a_temporary_one_leaves_both():
    at = workspace(T, "CREATE TEMPORARY TABLE t (x INT)")
    with pytest.raises(PlanError):
        at.plan_script("CREATE OR REPLACE TABLE t (b AS nope)")
    assert schema("SELECT * FROM t", at) == "x INT"
    at.plan_script("DROP TEMPORARY TABLE t")
    assert schema("SELECT * FROM t", at) == "a INT"


def test_declaration_is_checked_when_it_is_made():
    refused("CREATE TABLE x (a INT, b AS «nope» + 1)", at=workspace())
    refused("CREATE VIEW v AS SELECT «nope» FROM t", at=workspace(T))


def test_table_may_have_no_options_until_it_is_used():
    assert schema("SELECT * FROM t", workspace("CREATE TABLE t (a INT)")) == "a INT"


# --- columns and constraints -------------------------------------------------------------------


def test_key_columns_are_not_null():
    at = workspace("CREATE TABLE x (a INT, b INT, PRIMARY KEY (b, a) NOT ENFORCED)")
    assert schema("SELECT * FROM x", at) == "a INT NOT NULL, b INT NOT NULL"


@pytest.mark.parametrize(
    "marked",
    [
        "CREATE TABLE x (a INT, «PRIMARY KEY (nope) NOT ENFORCED»)",
        "CREATE TABLE x (a INT, «PRIMARY KEY (a, a) NOT ENFORCED»)",
        "CREATE TABLE x (a INT, b AS a, «PRIMARY KEY (b) NOT ENFORCED»)",
        "CREATE TABLE x (a INT, b INT METADATA, «PRIMARY KEY (b) NOT ENFORCED»)",
        "CREATE TABLE x (a TIMESTAMP(3), «WATERMARK FOR z AS a»)",
    ],
)
def test_constraint_names_columns_that_can_carry_it(marked):
    refused(marked, CatalogError)


@pytest.mark.parametrize("column", ["nope", "b"])
def test_partition_columns_are_physical(column):
    error = refused(f"CREATE TABLE «x» (a INT, b AS a) PARTITIONED BY ({column})", CatalogError)
    assert f"PARTITIONED BY column `{column}`" in error.message


def test_computed_columns_do_not_see_each_other():
    error = refused("CREATE TABLE x (a INT, b AS a + 1, c AS «b» + 1)")
    assert "computed" in str(error)


# --- temporary objects -------------------------------------------------------------------------


def test_temporary_table_hides_a_permanent_one():
    at = workspace(T, "CREATE TEMPORARY TABLE t (b STRING)")
    assert schema("SELECT * FROM t", at) == "b STRING"
    assert names(at) == ["t"]
    at.plan_script("DROP TEMPORARY TABLE t")
    assert schema("SELECT * FROM t", at) == "a INT"


def test_hidden_table_can_only_go_after_what_hides_it():  # as Flink
    at = workspace(T, "CREATE TEMPORARY TABLE t (b STRING)")
    error = refused("DROP TABLE «t»", CatalogError, at=at)
    assert error.hint == "drop it with DROP TEMPORARY TABLE"


def test_table_hidden_by_a_temporary_view_can_go():  # as Flink
    at = workspace(T, "CREATE TEMPORARY VIEW t AS SELECT 1 AS x; DROP TABLE t")
    assert schema("SELECT * FROM t", at) == "x INT NOT NULL"


def test_temporary_table_may_live_in_a_database_that_is_not_there():  # as Flink
    at = workspace("CREATE TEMPORARY TABLE nodb.t (a INT)")
    assert schema("SELECT * FROM nodb.t", at) == "a INT"


def test_temporary_table_outlives_its_database():  # as Flink
    at = workspace("CREATE DATABASE d; CREATE TEMPORARY TABLE d.t (a INT); DROP DATABASE d")
    assert schema("SELECT * FROM d.t", at) == "a INT"


# --- drop --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marked", "hint"),
    [
        ("DROP TABLE «orderz»", "did you mean `orders`?"),
        ("DROP VIEW «orders»", "`orders` is a table"),
        ("DROP TABLE «latest»", "`latest` is a view"),
        ("DROP TEMPORARY TABLE «orders»", "it is not temporary: DROP TABLE orders"),
        ("DROP TEMPORARY TABLE «latest»", "it is not temporary: DROP VIEW latest"),
    ],
)
def test_what_is_not_there_cannot_be_dropped(marked, hint):
    at = workspace("CREATE TABLE orders (a INT); CREATE VIEW latest AS SELECT a FROM orders")
    assert refused(marked, CatalogError, at=at).hint == hint


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE IF EXISTS nope",
        "DROP VIEW IF EXISTS t",
        "DROP TABLE IF EXISTS nodb.nope",
        "DROP TEMPORARY TABLE IF EXISTS t",
    ],
)
def test_if_exists_forgives(statement):
    at = workspace(T)
    assert "does not exist" in at.plan_script(statement)[0].message
    assert names(at) == ["t"]


# --- views -------------------------------------------------------------------------------------


def test_view_names_its_columns():
    at = workspace(T, "CREATE VIEW v (x, y) AS SELECT a, a + 1 FROM t")
    assert schema("SELECT * FROM v", at) == "x INT, y INT"
    assert [row[0] for row in at.plan_script("DESCRIBE v")[0].result.rows] == ["x", "y"]


@pytest.mark.parametrize("columns", ["(x)", "(x, x)"])
def test_view_names_each_column_once(columns):
    with pytest.raises(PlanError, match="column name"):
        workspace(T, f"CREATE VIEW v {columns} AS SELECT a, a + 1 FROM t")


def test_view_means_the_tables_of_the_place_where_it_was_made():  # as Flink
    at = workspace(
        T, "CREATE VIEW v AS SELECT a FROM t; CREATE DATABASE d; USE d; CREATE TABLE t (a STRING)"
    )
    assert schema("SELECT * FROM default_database.v", at) == "a INT"


def test_view_in_another_database_means_the_tables_of_the_current_one():
    at = workspace(T, "CREATE DATABASE d; CREATE VIEW d.v AS SELECT a FROM t; USE d")
    assert schema("SELECT * FROM v", at) == "a INT"


@pytest.mark.parametrize(
    "statement",
    ["CREATE OR REPLACE VIEW v AS SELECT * FROM «v»", "ALTER VIEW v AS SELECT * FROM «v»"],
)
def test_view_cannot_be_made_of_itself(statement):
    at = workspace(T, "CREATE VIEW v AS SELECT a FROM t")
    assert refused(statement, at=at).message == "view `v` refers to itself"


def test_views_cannot_be_made_of_each_other():
    at = workspace(T, "CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM v")
    refused(
        "ALTER VIEW v AS SELECT a FROM w",
        at=at,
        inside="CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM «v»",
    )


def test_missing_table_suggests_the_nearest_and_where_else_there_is_one():
    at = workspace("CREATE TABLE orders (a INT); CREATE DATABASE d; CREATE TABLE d.rates (a INT)")
    assert refused("SELECT * FROM «oders»", CatalogError, at=at).hint == "did you mean `orders`?"
    elsewhere = refused("SELECT * FROM «rates»", CatalogError, at=at).hint
    assert elsewhere == "did you mean `default_catalog.d.rates`?"
    assert refused("SELECT * FROM «d.rate»", CatalogError, at=at).hint == "did you mean `rates`?"
