"""ALTER: what changes, what must stay, and that a refused one changes nothing."""

import pytest

from tests.plan.marked import edge, plan, refused, remarked, schema, workspace
from tidemark.errors import CatalogError, OptionError, PlanError

T = """CREATE TABLE t (
  a INT, b STRING, ts TIMESTAMP(3), comp AS a + 1, WATERMARK FOR ts AS ts
) WITH ('connector' = 'fake', 'x' = '1');"""


def table():
    return workspace(T)


def created(at, name="t") -> str:
    return at.plan_script(f"SHOW CREATE TABLE {name}")[0].result.rows[0][0]


# --- columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "columns"),
    [
        ("ADD x INT", ["a", "b", "ts", "comp", "x"]),
        (
            "ADD (x INT, y STRING FIRST, z AS x + 1 AFTER a)",
            ["y", "a", "z", "b", "ts", "comp", "x"],
        ),
        ("MODIFY b INT FIRST", ["b", "a", "ts", "comp"]),
        ("MODIFY (b INT AFTER ts, a BIGINT)", ["a", "ts", "b", "comp"]),
        ("RENAME b TO c", ["a", "c", "ts", "comp"]),
        ("DROP b", ["a", "ts", "comp"]),
        ("DROP (comp, a)", ["b", "ts"]),
    ],
)
def test_columns_can_be_changed(action, columns):
    at = table()
    at.plan_script(f"ALTER TABLE t {action}")
    assert list(edge("SELECT * FROM t", at).names) == columns


def test_modified_column_has_its_new_type_everywhere():
    at = table()
    at.plan_script("ALTER TABLE t MODIFY a BIGINT NOT NULL")
    assert schema("SELECT a, comp FROM t", at) == "a BIGINT NOT NULL, comp BIGINT NOT NULL"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("ADD «a INT»", "column `a` already exists"),
        ("ADD (x INT AFTER «nope»)", "column `nope` does not exist"),
        ("MODIFY «nope INT»", "column `nope` does not exist"),
        ("RENAME «nope» TO x", "column `nope` does not exist"),
        ("RENAME b TO «a»", "column `a` already exists"),
        ("RENAME «a» TO x", "column `a` is used by computed column `comp`"),
        ("RENAME «ts» TO x", "column `ts` is used by the watermark"),
        ("DROP «a»", "column `a` is used by computed column `comp`"),
        ("DROP «ts»", "column `ts` is used by the watermark"),
        ("DROP (b, «b»)", "column `b` is listed twice"),
    ],
)
def test_column_that_cannot_be_changed_stays(action, message):
    at = table()
    assert refused(f"ALTER TABLE t {action}", CatalogError, at=at).message == message
    assert list(edge("SELECT * FROM t", at).names) == ["a", "b", "ts", "comp"]


def test_a_key_that_does_not_fit_is_marked_in_the_definition_that_the_table_would_have():
    at = table()
    inside = "  «PRIMARY KEY (nope) NOT ENFORCED»"
    with pytest.raises(CatalogError, match="primary key column `nope`") as caught:
        at.plan_script("ALTER TABLE t ADD PRIMARY KEY (nope) NOT ENFORCED")
    assert inside in remarked(caught.value)
    assert caught.value.source.name == "definition of t"


# --- watermark, key, options, name -------------------------------------------------------------


def test_watermark_can_be_dropped_and_added_again():
    at = table()
    at.plan_script("ALTER TABLE t DROP WATERMARK")
    assert schema("SELECT ts FROM t", at) == "ts TIMESTAMP(3)"
    at.plan_script("ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '1' SECOND")
    assert schema("SELECT ts FROM t", at) == "ts TIMESTAMP(3) *event*"


def test_key_can_be_added_and_dropped():
    at = table()
    at.plan_script("ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED")
    assert edge("SELECT * FROM t", at).keys == (("a",),)
    at.plan_script("ALTER TABLE t DROP PRIMARY KEY")
    assert edge("SELECT * FROM t", at).keys == ()


def test_key_follows_a_column_that_is_renamed():
    at = table()
    at.plan_script("ALTER TABLE t ADD PRIMARY KEY (b, a) NOT ENFORCED; ALTER TABLE t RENAME b TO c")
    assert edge("SELECT * FROM t", at).keys == (("c", "a"),)


def test_distribution_can_be_added_modified_and_dropped():
    at = table()
    at.plan_script("ALTER TABLE t ADD DISTRIBUTION BY HASH(b) INTO 4 BUCKETS")
    assert "DISTRIBUTED BY HASH(b) INTO 4 BUCKETS" in created(at)
    message = "column `b` is used by DISTRIBUTED BY"
    assert refused("ALTER TABLE t RENAME «b» TO c", CatalogError, at=at).message == message
    at.plan_script("ALTER TABLE t MODIFY DISTRIBUTION INTO 2 BUCKETS")
    assert "DISTRIBUTED INTO 2 BUCKETS" in created(at)
    at.plan_script("ALTER TABLE t DROP DISTRIBUTION")
    assert "DISTRIBUTED" not in created(at)


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ("«ALTER TABLE t DROP DISTRIBUTION»", "the table has no distribution"),
        ("«ALTER TABLE t ADD WATERMARK FOR ts AS ts»", "the table already has a watermark"),
        ("«ALTER TABLE t MODIFY PRIMARY KEY (a) NOT ENFORCED»", "the table has no primary key"),
        ("«ALTER TABLE t DROP PRIMARY KEY»", "the table has no primary key"),
        ("ALTER TABLE «t2» ADD x INT", "table `t2` does not exist"),
        ("ALTER VIEW «t» RENAME TO v", "view `t` does not exist"),
        ("«ALTER TABLE t RENAME TO u»", "`u` already exists"),
        (
            "ALTER TABLE t RENAME TO «other.t»",
            "RENAME cannot move a table or view to another database",
        ),
    ],
)
def test_what_does_not_fit_the_table_is_refused(marked, message):
    at = workspace(T, "CREATE TABLE u (a INT)")
    assert refused(marked, CatalogError, at=at).message == message


def test_options_can_be_set_and_reset():
    at = table()
    at.plan_script("ALTER TABLE t SET ('bounded' = 'false', 'x' = '2')")
    assert not edge("SELECT * FROM t", at).bounded
    at.plan_script("ALTER TABLE t RESET ('bounded')")
    assert edge("SELECT * FROM t", at).bounded
    assert "'x' = '2'" in created(at)
    refused("«ALTER TABLE t RESET ('connector')»", OptionError, at=at)


def test_table_and_view_can_be_renamed():
    at = workspace(T, "CREATE VIEW v AS SELECT a FROM t")
    at.plan_script("ALTER VIEW v RENAME TO w; ALTER TABLE t RENAME TO t2")
    assert at.catalogs.relation_names() == ["t2", "w"]


def test_if_exists_forgives():
    [planned] = workspace().plan_script("ALTER TABLE IF EXISTS nope ADD x INT")
    assert planned.message == "table `nope` does not exist"


def test_view_can_be_given_another_query():
    at = workspace(T, "CREATE VIEW v (x) AS SELECT a FROM t", "ALTER VIEW v AS SELECT b, a FROM t")
    assert schema("SELECT * FROM v", at) == "b STRING, a INT"


# --- meaning -----------------------------------------------------------------------------------


def test_change_that_makes_no_sense_is_refused_as_a_whole():
    at = table()
    with pytest.raises(PlanError, match="must be a TIMESTAMP"):
        at.plan_script("ALTER TABLE t MODIFY (b INT, ts BIGINT)")
    assert schema("SELECT b, ts FROM t", at) == "b STRING, ts TIMESTAMP(3) *event*"


def test_errors_in_a_table_altered_by_another_script_point_to_its_definition():
    at = workspace(
        "CREATE TABLE t (a INT) WITH ('connector' = 'fake', 'readable' = 'false')",
        "ALTER TABLE t ADD b AS a + 1",
    )
    with pytest.raises(PlanError) as caught:
        plan("SELECT a FROM t", at)
    assert caught.value.source.name == "definition of t"
    assert caught.value.source.text == created(at)
    at_ = caught.value.at
    assert caught.value.source.text[at_.start : at_.end] == "'connector' = 'fake'"


def test_errors_in_a_table_altered_in_the_same_script_point_there():
    script = "CREATE TABLE t (a INT) WITH ('connector' = 'fake', 'readable' = 'false'); ALTER TABLE t ADD b INT;"
    marked = script.replace("'connector' = 'fake'", "«'connector' = 'fake'»")
    refused(marked + " SELECT a FROM t", at=workspace())


# --- databases and catalogs --------------------------------------------------------------------


def test_options_of_databases_and_catalogs_can_be_changed():
    at = workspace("CREATE DATABASE d WITH ('k' = '1')")
    at.plan_script("ALTER DATABASE d SET ('k' = '2', 'l' = '3'); ALTER DATABASE d SET ('l' = '4')")
    assert at.catalogs.database("default_catalog", "d").options == {"k": "2", "l": "4"}
    refused("ALTER DATABASE «e» SET ('k' = '2')", CatalogError, at=at)
