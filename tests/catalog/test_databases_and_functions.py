"""Databases, catalogs, USE, and where functions live. Answers are those of Flink 2.3."""

import pytest

from tests.plan.marked import edge, refused, schema, workspace
from tidemark.errors import CatalogError, NotSupported, OptionError, UnknownFunction

TWICE = "AS 'tests.plan.functions.twice' LANGUAGE PYTHON"


def shown(at, what: str) -> list[object]:
    return [row[0] for row in at.plan_script(f"SHOW {what}")[0].result.rows]


# --- databases ---------------------------------------------------------------------------------


def test_name_means_the_current_database():
    at = workspace("CREATE DATABASE d; USE d; CREATE TABLE t (a INT)")
    assert schema("SELECT * FROM t", at) == "a INT"
    assert schema("SELECT * FROM default_catalog.d.t", at) == "a INT"
    at.plan_script("USE default_catalog.default_database")
    refused("SELECT * FROM «t»", CatalogError, at=at)


@pytest.mark.parametrize(
    ("marked", "hint"),
    [
        ("CREATE DATABASE «d»", None),
        ("CREATE DATABASE «nope.e»", None),
        ("USE «dd»", "did you mean `d`?"),
        ("DROP DATABASE «dd»", "did you mean `d`?"),
        ("DROP DATABASE «default_database»", "switch to another database with USE first"),
        ("DROP DATABASE «filled»", "add CASCADE to drop them too"),
        ("CREATE TABLE «nope.t» (a INT)", None),
        ("SHOW TABLES FROM «nope»", None),
    ],
)
def test_databases_are_there_or_not(marked, hint):
    at = workspace("CREATE DATABASE d; CREATE DATABASE filled; CREATE TABLE filled.t (a INT)")
    assert refused(marked, CatalogError, at=at).hint == hint


def test_dropped_database_takes_tables_and_functions_with_it():
    at = workspace(
        f"CREATE DATABASE d; CREATE TABLE d.t (a INT); CREATE FUNCTION d.f {TWICE}; DROP DATABASE d CASCADE"
    )
    at.plan_script("CREATE DATABASE d")
    assert shown(at, "TABLES FROM d") == []
    refused("SELECT «d.f('x')»", UnknownFunction, at=at)


def test_if_clauses_forgive():
    at = workspace("CREATE DATABASE d")
    for statement in (
        "CREATE DATABASE IF NOT EXISTS d",
        "DROP DATABASE IF EXISTS nope",
        "DROP CATALOG IF EXISTS nope",
        "CREATE CATALOG IF NOT EXISTS default_catalog WITH ('type' = 'generic_in_memory')",
        "DROP FUNCTION IF EXISTS nope",
    ):
        assert at.plan_script(statement)[0].message.endswith(("already exists", "does not exist"))


# --- catalogs ----------------------------------------------------------------------------------


def test_catalog_has_a_database_to_begin_with():
    at = workspace("CREATE CATALOG c WITH ('type' = 'generic_in_memory'); USE CATALOG c")
    assert shown(at, "CURRENT DATABASE") == ["default"]
    at.plan_script(
        "CREATE CATALOG m WITH ('type' = 'generic_in_memory', 'default-database' = 'mine'); USE CATALOG m"
    )
    assert shown(at, "CURRENT DATABASE") == ["mine"]
    assert shown(at, "DATABASES") == ["mine"]
    assert shown(at, "CATALOGS") == ["c", "default_catalog", "m"]


def test_catalog_comes_back_to_its_first_database():
    at = workspace(
        "CREATE DATABASE a; USE a; CREATE CATALOG c WITH ('type' = 'generic_in_memory'); USE CATALOG c"
    )
    at.plan_script("USE CATALOG default_catalog")
    assert shown(at, "CURRENT DATABASE") == ["default_database"]


@pytest.mark.parametrize(
    ("marked", "kind"),
    [
        ("«CREATE CATALOG x»", OptionError),
        ("CREATE CATALOG x WITH («'type' = 'hive'»)", NotSupported),
        ("CREATE CATALOG x WITH ('type' = 'generic_in_memory', «'x' = 'y'»)", OptionError),
        ("CREATE CATALOG «default_catalog» WITH ('type' = 'generic_in_memory')", CatalogError),
        ("DROP CATALOG «nope»", CatalogError),
        ("DROP CATALOG «default_catalog»", CatalogError),
        ("USE CATALOG «nope»", CatalogError),
    ],
)
def test_catalogs_are_there_or_not(marked, kind):
    refused(marked, kind, at=workspace())


def test_dropped_catalog_is_gone():
    at = workspace("CREATE CATALOG c WITH ('type' = 'generic_in_memory'); DROP CATALOG c")
    assert shown(at, "CATALOGS") == ["default_catalog"]


# --- functions ---------------------------------------------------------------------------------


def test_function_lives_in_its_database():
    at = workspace(f"CREATE DATABASE d; CREATE FUNCTION d.f {TWICE}")
    assert schema("SELECT d.f('x') AS y, default_catalog.d.f('x') AS z", at) == "y STRING, z STRING"
    refused("SELECT «f('x')»", UnknownFunction, at=at)
    at.plan_script("USE d")
    assert edge("SELECT f('x')", at).types


def test_function_names_fold_case():
    at = workspace(f"CREATE FUNCTION Foo {TWICE}")
    assert edge("SELECT FOO('x'), foo('x')", at).types
    refused(f"CREATE FUNCTION «fOO» {TWICE}", CatalogError, at=at)


def test_system_function_is_known_in_every_database():
    at = workspace(f"CREATE DATABASE d; CREATE TEMPORARY SYSTEM FUNCTION f {TWICE}; USE d")
    assert edge("SELECT f('x')", at).types


def test_temporary_function_hides_a_permanent_one():
    at = workspace(
        f"CREATE FUNCTION f {TWICE}; CREATE TEMPORARY FUNCTION f AS 'tests.plan.functions.typed' LANGUAGE PYTHON"
    )
    assert schema("SELECT f(1, 'x') AS y", at) == "y DECIMAL(10, 2)"
    at.plan_script("DROP TEMPORARY FUNCTION f")
    assert schema("SELECT f('x') AS y", at) == "y STRING"


@pytest.mark.parametrize(
    ("marked", "hint"),
    [
        ("DROP FUNCTION «tmp»", "drop it with DROP TEMPORARY FUNCTION"),
        ("DROP TEMPORARY FUNCTION «perm»", "did you mean `perm`?"),
        ("DROP FUNCTION «prem»", "did you mean `perm`?"),
    ],
)
def test_function_is_dropped_as_what_it_is(marked, hint):
    at = workspace(f"CREATE FUNCTION perm {TWICE}; CREATE TEMPORARY FUNCTION tmp {TWICE}")
    assert refused(marked, CatalogError, at=at).hint == hint


def test_functions_of_other_languages_are_refused():
    refused("«CREATE FUNCTION f AS 'a.b.C' LANGUAGE JAVA»", NotSupported, at=workspace())
    refused("«CREATE FUNCTION f AS 'a.b.C'»", NotSupported, at=workspace())


def test_the_refusal_says_how_to_name_a_function_of_python():
    error = refused(
        "«CREATE FUNCTION f AS 'a.b.C' USING JAR 'x.jar'»", NotSupported, at=workspace()
    )

    assert error.hint is not None
    assert "SET 'tidemark.function.stand-in.a.b.C' = 'module.function'" in error.hint


@pytest.mark.parametrize("tail", ["", " LANGUAGE SCALA", " USING JAR 'a.jar', JAR 'b.jar'"])
def test_a_function_of_python_is_named_for_a_class_by_an_option(tail):
    name = "tidemark.connectors.nexmark.functions.count_char"
    at = workspace(
        f"SET 'tidemark.function.stand-in.a.b.C' = '{name}'; "
        f"CREATE TEMPORARY FUNCTION f AS 'a.b.C'{tail}"
    )

    assert schema("SELECT f('abacus', 'a') AS n", at) == "n BIGINT NOT NULL"


def test_a_function_of_python_stands_in_for_a_known_class_of_java():
    at = workspace("CREATE FUNCTION f AS 'com.github.nexmark.flink.udf.CountChar'")

    assert schema("SELECT f('abacus', 'a') AS n", at) == "n BIGINT NOT NULL"
