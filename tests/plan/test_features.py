"""What is not there yet says so by name, with the reason, at its place."""

import pytest

from tests.plan.marked import edge, refused, world
from tidemark.errors import CatalogError, NotSupported, PlanError, UnknownFunction


def test_a_subquery_outside_of_queries_is_refused_at_its_place():
    error = refused("CREATE TABLE x (a INT, b AS «a IN (SELECT 1)»)", NotSupported)
    assert error.message == "a subquery here is not supported"


def test_temporal_join_with_a_table_without_versions_says_what_the_table_lacks():
    error = refused("SELECT 1 FROM u JOIN «k FOR SYSTEM_TIME AS OF u.ts AS r» ON u.a = r.id")

    assert type(error) is PlanError
    assert "`k`" in error.message and "versioned table" in error.message
    assert "PRIMARY KEY" in (error.hint or "") and "WATERMARK" in (error.hint or "")


# --- hints -------------------------------------------------------------------------------------


def test_misspelled_hint_is_refused():
    error = refused("SELECT a FROM u /*+ «OPTION('a' = 'b')» */")
    assert error.hint == "did you mean `OPTIONS`?"
    refused("SELECT /*+ «BRODCAST(u)» */ a FROM u")


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT /*+ «BROADCAST(nope)» */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ «SHUFFLE_HASH(u, nope)» */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ «NEST_LOOP(u)» */ x.a FROM u AS x JOIN k ON x.a = k.id",
        "SELECT /*+ «MULTI_JOIN(u, q)» */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ «SHUFFLE_MERGE()» */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ «BROADCAST('k' = 'v')» */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ «STATE_TTL('nope' = '1 d')» */ a, COUNT(*) FROM u GROUP BY a",
        "SELECT /*+ STATE_TTL(«'u' = 'abc'») */ a, COUNT(*) FROM u GROUP BY a",
        "SELECT /*+ «STATE_TTL(u)» */ a, COUNT(*) FROM u GROUP BY a",
    ],
)
def test_hints_name_tables_of_from(marked):
    """Flink 2.3 refuses each of these as well."""
    refused(marked)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT /*+ BROADCAST(x), SHUFFLE_MERGE(k) */ x.a FROM u AS x JOIN k ON x.a = k.id",
        "SELECT /*+ MULTI_JOIN(u, k) */ u.a FROM u JOIN k ON u.a = k.id",
        "SELECT /*+ NEST_LOOP(q) */ u.a FROM u JOIN (SELECT id FROM k) AS q ON u.a = q.id",
        "SELECT /*+ BROADCAST(nope) */ a FROM u",
    ],
)
def test_join_hints_are_accepted(select):
    assert edge(select).names == ("a",)


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT a FROM «u FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'»",
        "SELECT 1 FROM u JOIN «k FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00' - "
        "INTERVAL '1' DAY AS v» ON u.a = v.id",
    ],
)
def test_time_travel_is_refused(marked):
    assert "keeps no earlier versions" in refused(marked, NotSupported).notes["why"]


def test_options_of_a_hint_win_for_this_query_only():
    at = world()
    assert not edge("SELECT a FROM u /*+ OPTIONS('bounded' = 'false') */", at).bounded
    assert edge("SELECT a FROM u", at).bounded


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT a FROM v /*+ «OPTIONS('a' = 'b')» */",
        "WITH w AS (SELECT 1 AS a) SELECT a FROM w /*+ «OPTIONS('a' = 'b')» */",
        "SELECT a FROM u /*+ «OPTIONS('a')» */",
    ],
)
def test_only_tables_have_options(marked):
    refused(marked, at=world("CREATE VIEW v AS SELECT a FROM u"))


# --- functions ---------------------------------------------------------------------------------


def test_unknown_function_suggests_the_nearest():
    assert (
        refused("SELECT «CONCATT(b, b)» FROM t", UnknownFunction).hint == "did you mean `CONCAT`?"
    )
    at = world("CREATE FUNCTION my_twice AS 'tests.plan.functions.twice' LANGUAGE PYTHON")
    assert (
        refused("SELECT «my_twize(b)» FROM t", UnknownFunction, at=at).hint
        == "did you mean `my_twice`?"
    )


def test_arguments_that_do_not_fit_show_what_does():
    error = refused("SELECT a, «ABS(b)» FROM t")
    assert error.notes["given"] == "STRING"
    assert error.notes["expected"].startswith("ABS(")
    refused("SELECT «UPPER()» FROM t")
    refused("SELECT «UPPER(b, b)» FROM t")


FUNCTIONS = """
CREATE FUNCTION twice AS 'tests.plan.functions.twice' LANGUAGE PYTHON;
CREATE FUNCTION typed AS 'tests.plan.functions.typed' LANGUAGE PYTHON;
CREATE FUNCTION untyped AS 'tests.plan.functions.untyped' LANGUAGE PYTHON;
CREATE FUNCTION gone AS 'tests.plan.nowhere.gone' LANGUAGE PYTHON;
CREATE FUNCTION missing AS 'tests.plan.functions.missing' LANGUAGE PYTHON;
CREATE FUNCTION constant AS 'tests.plan.functions.NOT_A_FUNCTION' LANGUAGE PYTHON;
"""


def test_python_functions_have_the_types_they_declare():
    at = world(FUNCTIONS)
    types = edge(
        "SELECT twice(b), Typed(CAST(1 AS TINYINT), 'x'), default_database.twice('x') FROM t", at
    ).types
    assert [str(type_) for type_ in types] == ["STRING", "DECIMAL(10, 2)", "STRING"]


@pytest.mark.parametrize(
    ("marked", "part"),
    [
        ("SELECT twice(«a») FROM t", "requires STRING here, not INT"),
        ("SELECT «twice(b, b)» FROM t", "takes 1 arguments, not 2"),
        ("SELECT «untyped(b)» FROM t", "the result type of function `untyped` is unknown"),
        ("SELECT «gone(b)» FROM t", "there is no module `tests.plan.nowhere`"),
        ("SELECT «missing(b)» FROM t", "has no `missing`"),
        ("SELECT «constant(b)» FROM t", "is not a function"),
        ("SELECT twice(«x => b») FROM t", None),
    ],
)
def test_python_function_that_cannot_be_called_says_why(marked, part):
    error = refused(marked, PlanError if part else NotSupported, at=world(FUNCTIONS))
    assert part is None or part in error.message


def test_built_in_names_cannot_be_taken():
    for kind in ("FUNCTION", "TEMPORARY FUNCTION", "TEMPORARY SYSTEM FUNCTION"):
        error = refused(f"CREATE {kind} «`upper`» AS 'a.b' LANGUAGE PYTHON", CatalogError)
        assert error.message == "`upper` is a built-in function and cannot be replaced"
