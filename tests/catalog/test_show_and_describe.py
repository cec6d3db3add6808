"""SHOW, DESCRIBE, ALTER and their kin, without Spark. The answers are those of Flink 2.3."""

import pytest

from tests.plan.marked import refused, schema, workspace
from tidemark.dialect import parse_script, to_sql
from tidemark.errors import CatalogError, NotSupported, OptionError, ParseError, PlanError

SETUP = """
CREATE TABLE plain (id INT COMMENT 'the id', name STRING, price DECIMAL(10, 2) NOT NULL, c AS id + 1)
  WITH ('connector' = 'fake');
CREATE TABLE p (id INT, dt STRING, hr INT) PARTITIONED BY (dt, hr) WITH ('connector' = 'fake');
CREATE VIEW v AS SELECT id, c FROM plain;
CREATE CATALOG mine COMMENT 'my catalog' WITH ('type' = 'generic_in_memory', 'default-database' = 'db');
CREATE DATABASE d1 COMMENT 'db one' WITH ('k' = 'v');
CREATE FUNCTION f1 AS 'm.f' LANGUAGE PYTHON;
CREATE TEMPORARY FUNCTION f2 AS 'm.f' LANGUAGE PYTHON;
CREATE TEMPORARY SYSTEM FUNCTION f3 AS 'm.f' LANGUAGE PYTHON;
"""


def shown(statement: str, *before: str) -> list[tuple]:
    """The rows that a statement prints."""
    return list(workspace(SETUP, *before).plan_script(statement)[-1].result.rows)


def names(statement: str, *before: str) -> list[str]:
    return [row[0] for row in shown(statement, *before)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SHOW TABLES LIKE 'p%'", ["p", "plain"]),
        ("SHOW TABLES ILIKE 'P'", ["p"]),
        ("SHOW TABLES LIKE 'P'", []),
        ("SHOW VIEWS", ["v"]),
        ("SHOW VIEWS IN d1", []),
        ("SHOW CATALOGS NOT ILIKE 'D%'", ["mine"]),
        ("SHOW DATABASES IN mine", ["db"]),
        (r"SHOW DATABASES LIKE 'default\_%'", ["default_database"]),
        (r"SHOW DATABASES LIKE 'd\_'", []),
        ("SHOW DATABASES LIKE 'd_'", ["d1"]),
        ("SHOW USER FUNCTIONS", ["f1", "f2", "f3"]),
        ("SHOW USER FUNCTIONS NOT LIKE 'f2'", ["f1", "f3"]),
        ("SHOW MODULES", ["core"]),
        ("SHOW FULL MODULES", ["core"]),
        ("SHOW JARS", []),
        ("SHOW MODELS", []),
        ("SHOW PROCEDURES", []),
        ("SHOW MATERIALIZED TABLES IN d1", []),
        ("SHOW COLUMNS IN plain ILIKE 'I%'", ["id"]),
        ("SHOW PARTITIONS p", []),
    ],
)
def test_names_that_are_shown(statement, expected):
    assert names(statement) == expected


def test_columns_have_the_names_of_flink():
    def header(statement: str) -> list[str]:
        [planned] = workspace(SETUP).plan_script(statement)
        return [column.name for column in planned.result.columns]

    assert header("SHOW USER FUNCTIONS") == ["function name"]
    assert header("SHOW FULL MODULES") == ["module name", "used"]
    assert header("SHOW PARTITIONS p") == ["partition name"]
    assert header("SHOW MATERIALIZED TABLES") == ["materialized table"]
    assert header("SHOW JARS") == ["jars"]
    assert header("DESCRIBE CATALOG mine") == ["info name", "info value"]


def test_catalog_is_described():
    rows = [("name", "mine"), ("type", "generic_in_memory"), ("comment", "my catalog")]
    assert shown("DESCRIBE CATALOG mine") == rows
    assert shown("DESC CATALOG EXTENDED mine") == [*rows, ("option:default-database", "db")]
    assert shown("DESCRIBE CATALOG mine", "ALTER CATALOG mine COMMENT 'other'")[-1][1] == "other"
    assert shown("SHOW CREATE CATALOG mine") == [
        (
            "CREATE CATALOG mine COMMENT 'my catalog' WITH (\n"
            "  'default-database' = 'db',\n  'type' = 'generic_in_memory'\n)",
        )
    ]


def test_database_is_described():
    altered = "ALTER DATABASE d1 SET ('k2' = 'v2'); ALTER DATABASE d1 COMMENT 'two'"
    rows = [("name", "d1"), ("comment", "two"), ("option:k", "v"), ("option:k2", "v2")]
    assert shown("DESCRIBE DATABASE EXTENDED d1", altered) == rows


def test_function_is_described():
    rows = [
        ("is system function", "false"),
        ("is temporary", "true"),
        ("class name", "m.f"),
        ("function language", "PYTHON"),
        ("resource uris", "[]"),
    ]
    assert shown("DESCRIBE FUNCTION f2") == rows
    assert shown("DESCRIBE FUNCTION f3") == [
        ("is system function", "true"),
        ("is temporary", "true"),
    ]
    assert shown("DESCRIBE FUNCTION EXTENDED `SUM`")[2:4] == [
        ("kind", "AGGREGATE"),
        ("requirements", "[]"),
    ]
    described = shown("DESCRIBE FUNCTION f1", "ALTER FUNCTION f1 AS 'm.g' LANGUAGE PYTHON")
    assert ("class name", "m.g") in described


def test_table_named_like_a_kind_is_described():
    assert names("DESCRIBE catalog", "CREATE TABLE `catalog` (a INT)") == ["a"]


def test_partitions_are_added_and_dropped():
    added = "ALTER TABLE p ADD PARTITION (hr=1, dt='a') PARTITION (dt='b', hr=2)"
    assert names("SHOW PARTITIONS p", added) == ["dt=a/hr=1", "dt=b/hr=2"]
    assert names("SHOW PARTITIONS p PARTITION (dt = 'a')", added) == ["dt=a/hr=1"]
    again = "ALTER TABLE p ADD IF NOT EXISTS PARTITION (dt='a', hr=1)"
    assert len(names("SHOW PARTITIONS p", added, again)) == 2
    gone = "ALTER TABLE p DROP PARTITION (dt='a', hr=1), PARTITION (dt='b', hr=2)"
    assert names("SHOW PARTITIONS p", added, gone) == []
    missing = "ALTER TABLE p DROP IF EXISTS PARTITION (dt='x', hr=1)"
    assert len(names("SHOW PARTITIONS p", added, missing)) == 2


def test_comments_of_tables_and_views_are_altered():
    altered = "ALTER TABLE plain COMMENT 'new'; ALTER VIEW v COMMENT 'newer'"
    assert "COMMENT 'new'" in names("SHOW CREATE TABLE plain", altered)[0]
    assert "COMMENT 'newer'" in names("SHOW CREATE VIEW v", altered)[0]


def test_columns_of_a_dropped_key_stay_not_null():
    at = workspace("CREATE TABLE t (a INT, b INT, PRIMARY KEY (a) NOT ENFORCED)")
    at.plan_script("ALTER TABLE t DROP CONSTRAINT PK_a")
    assert schema("SELECT * FROM t", at) == "a INT NOT NULL, b INT"


def test_core_is_the_only_module():
    [planned] = workspace().plan_script("USE MODULES core")
    assert planned.message == "module `core` is in use"


def test_analyze_checks_and_says_that_it_does_nothing():
    batch = "SET 'execution.runtime-mode' = 'batch'"
    at = workspace(SETUP, batch)
    for statement in (
        "ANALYZE TABLE plain COMPUTE STATISTICS",
        "ANALYZE TABLE plain COMPUTE STATISTICS FOR COLUMNS id, name",
        "ANALYZE TABLE p PARTITION (dt = 'a', hr) COMPUTE STATISTICS FOR ALL COLUMNS",
    ):
        assert "no statistics" in at.plan_script(statement)[0].message


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("SHOW PARTITIONS «plain»", CatalogError),
        ("SHOW PARTITIONS p PARTITION («nope = 1»)", CatalogError),
        ("SHOW TABLES NOT «'x'»", ParseError),
        ("DESCRIBE CATALOG «nope»", CatalogError),
        ("DESCRIBE DATABASE «nope»", CatalogError),
        ("DESCRIBE FUNCTION «nope»", CatalogError),
        ("«USE MODULES nope»", CatalogError),
        ("«USE MODULES core, core»", CatalogError),
        ("«LOAD MODULE core»", CatalogError),
        ("«LOAD MODULE hive WITH ('hive-version' = '3.1')»", NotSupported),
        ("«LOAD MODULE other»", NotSupported),
        ("«UNLOAD MODULE core»", NotSupported),
        ("«UNLOAD MODULE nope»", CatalogError),
        ("«ANALYZE TABLE plain COMPUTE STATISTICS»", CatalogError),
        ("«ANALYZE TABLE plain COMPUTE STATISTICS FOR COLUMNS nope»", CatalogError),
        ("«ANALYZE TABLE p COMPUTE STATISTICS»", CatalogError),
        ("«ANALYZE TABLE v COMPUTE STATISTICS»", CatalogError),
        ("ALTER TABLE p ADD PARTITION («dt = 'a'»)", CatalogError),
        ("ALTER TABLE p ADD PARTITION («nope = 1», hr = 1)", CatalogError),
        ("ALTER TABLE p DROP PARTITION («dt = 'a'», hr = 1)", CatalogError),
        ("ALTER TABLE plain ADD PARTITION («id = 1»)", CatalogError),
        ("«ALTER TABLE plain DROP CONSTRAINT nope»", CatalogError),
        ("ALTER TABLE plain RESET «(»)", ParseError),
        ("ALTER «TEMPORARY» FUNCTION f2 AS 'm.g'", ParseError),
        ("ALTER FUNCTION «nope» AS 'm.g' LANGUAGE PYTHON", CatalogError),
        ("«ALTER FUNCTION f1 AS 'a.B'»", NotSupported),
        ("ALTER CATALOG mine SET («'a' = 'b'»)", OptionError),
        ("«ALTER CATALOG mine RESET ('type')»", OptionError),
        ("INSERT INTO plain PARTITION («id = 1») SELECT 'a', 1.5", PlanError),
    ],
)
def test_refusals_point_at_the_mistake(statement, error):
    refused(statement, error, at=workspace(SETUP))


@pytest.mark.parametrize(
    "statement",
    [
        "SHOW PARTITIONS p PARTITION (dt = 'a') ",
        "SHOW TABLES FROM d NOT ILIKE 'a%'",
        "DESCRIBE CATALOG EXTENDED c",
        "DESCRIBE FUNCTION f",
        "USE MODULES core",
        "ANALYZE TABLE t PARTITION (dt) COMPUTE STATISTICS FOR COLUMNS a, b",
        "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
        "ALTER TABLE t ADD IF NOT EXISTS PARTITION (dt = 'a') PARTITION (dt = 'b')",
        "ALTER TABLE t DROP PARTITION (dt = 'a'), PARTITION (dt = 'b')",
        "ALTER TABLE t DROP CONSTRAINT k",
        "ALTER CATALOG c COMMENT 'x'",
        "ALTER FUNCTION f AS 'm.g' LANGUAGE PYTHON",
    ],
)
def test_statements_print_as_they_are_written(statement):
    assert to_sql(parse_script(statement).statements[0]) == statement.strip()
