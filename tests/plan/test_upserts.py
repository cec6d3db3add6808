"""Where upserts get the rows that they replace, and what reads them as they are."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, plan, refused, root, unmarked, world
from tidemark import types as t
from tidemark.catalog.tables import Changelog, UserFunction
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError
from tidemark.plan.kept_state import LayoutOptions, kept_state
from tidemark.plan.nodes import (
    ChangelogNormalize,
    Filter,
    LateRows,
    Node,
    RegularJoin,
    TemporalJoin,
    TopN,
    walk,
)
from tidemark.plan.widening import widened
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE up (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), twice AS v * 2,
  WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'UPSERT');
CREATE TABLE o (id INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE TABLE changes (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true');
CREATE VIEW big AS SELECT id, v, ts FROM up WHERE v > 3;
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def normalizing(node: Node) -> list[ChangelogNormalize]:
    return [part for part in walk(node) if isinstance(part, ChangelogNormalize)]


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT k, COUNT(*) FROM up GROUP BY k", 1),
        ("SELECT DISTINCT k FROM up", 1),
        ("SELECT id FROM up WHERE v > 3", 1),
        ("SELECT k, v FROM up", 1),
        ("SELECT id + 1 AS id FROM up", 1),
        ("SELECT id FROM up ORDER BY v LIMIT 2", 1),
        ("SELECT id, SUM(v) OVER (PARTITION BY k) FROM up", 1),
        ("SELECT id FROM o INTERSECT SELECT id FROM up", 1),
        ("SELECT id FROM up UNION ALL SELECT id FROM up", 2),
        ("SELECT o.id FROM o JOIN up ON o.id = up.v", 1),
        ("SELECT k FROM up WHERE k IN (SELECT k FROM up)", 2),
        ("SELECT up.id FROM up JOIN up FOR SYSTEM_TIME AS OF up.ts AS x ON up.id = x.id", 1),
        ("SELECT id, x FROM up CROSS JOIN UNNEST(ARRAY[1, 2]) AS t (x)", 1),
        ("SELECT window_start, COUNT(*) FROM TUMBLE(TABLE up, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
         "GROUP BY window_start, window_end", 1),
        ("SELECT (SELECT COUNT(*) FROM up) AS n", 1),
    ],
)  # fmt: skip
def test_operators_that_must_retract_rows_get_whole_changes(sql, count, tables):
    planned = root(sql, tables)

    assert len(normalizing(planned)) == count
    assert planned.edge.changelog is not Changelog.UPSERT


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM up",
        "SELECT v, id AS number FROM up",
        "SELECT id FROM (SELECT id, v * 2 FROM up)",
    ],
)
def test_a_result_with_the_key_is_a_table_of_upserts(sql, tables):
    planned = root(sql, tables)

    assert normalizing(planned) == []
    assert planned.edge.changelog is Changelog.UPSERT


@pytest.mark.parametrize("time", ["ts", "pt"])
def test_a_temporal_join_replaces_versions_by_key_itself(time, tables):
    tables.plan_script("SET 'tidemark.temporal-join.load-phase' = '10 s'")
    sql = f"SELECT o.id, x.v FROM o JOIN up FOR SYSTEM_TIME AS OF o.{time} AS x ON o.id = x.id"
    [join] = [part for part in walk(root(sql, tables)) if isinstance(part, TemporalJoin)]

    assert join.right.edge.changelog is Changelog.UPSERT
    assert join.edge.changelog is Changelog.APPEND


def test_a_version_ends_when_its_update_does_not_pass_a_filter(tables):
    sql = "SELECT o.id, x.v FROM o JOIN big FOR SYSTEM_TIME AS OF o.ts AS x ON o.id = x.id"
    [join] = [part for part in walk(root(sql, tables)) if isinstance(part, TemporalJoin)]

    assert [node.tests for node in normalizing(join.right)] == [True]
    assert not join.retractions_overwrite


def test_a_filter_is_a_condition_of_the_operator(tables):
    sql = (
        "SELECT k, COUNT(*) FROM (SELECT k, v + 1 AS w FROM up) WHERE w > 3 AND k = 'a' GROUP BY k"
    )
    planned = root(sql, tables)
    [node] = normalizing(planned)

    assert node.description.details == ("key=[id]", "condition=[(((v + 1) > 3) AND (k = 'a'))]")
    assert node.edge.names == ("id", "k")
    assert not any(isinstance(part, Filter) for part in walk(planned))


def test_a_filter_by_a_function_of_a_user_does_not_see_deletes(tables):
    odd = UserFunction("odd", (t.Int(),), t.Boolean(), implementation=lambda n: n % 2 == 1)
    tables.catalogs.put_function(Name(("odd",)), odd)
    planned = root("SELECT id FROM up WHERE odd(v)", tables)

    assert [node.tests for node in normalizing(planned)] == [False]


def test_a_sink_of_changes_gets_the_rows_before_updates(tables):
    planned = root("INSERT INTO changes SELECT id, v FROM up", tables)

    assert planned.edge.changelog is Changelog.RETRACT


def test_nothing_is_added_to_tables_with_whole_changes(tables):
    assert normalizing(root("SELECT n, COUNT(*) FROM cdc GROUP BY n", tables)) == []


def test_the_plan_of_an_upsert_table_keeps_its_times_and_keys(tables):
    grouped = edge("SELECT * FROM (SELECT id, ts, v FROM up WHERE v > 3)", tables)

    assert [column.time for column in grouped.columns] == [None, "event", None]
    assert grouped.keys == (("id",),)


def test_only_the_key_and_requested_columns_are_kept(tables):
    [node] = normalizing(root("SELECT k, COUNT(*) FROM up GROUP BY k", tables))

    assert node.edge.names == ("id", "k")
    assert [node.edge.names[key] for key in node.keys] == ["id"]


def test_processing_time_does_not_make_a_row_another_one(tables):
    [node] = normalizing(root("SELECT k, pt, v FROM up", tables))

    assert [node.edge.names[place] for place in node.compared] == ["id", "k", "v"]


def test_rows_that_retract_take_part_in_top_n(tables):
    [top] = [
        n for n in walk(root("SELECT id FROM up ORDER BY v LIMIT 2", tables)) if type(n) is TopN
    ]

    assert top.rows == "retractions"


def test_a_join_knows_the_key_of_normalized_rows(tables):
    sql = "SELECT o.id FROM o JOIN up ON o.id = up.id"
    [join] = [part for part in walk(root(sql, tables)) if isinstance(part, RegularJoin)]

    assert join.right.edge.keys == (("id",),)


def test_a_plan_that_keeps_columns_of_a_checkpoint_has_the_same_operators(tables):
    planned = plan(
        "SELECT o.id FROM o JOIN (SELECT id FROM up WHERE v > 3) AS x ON o.id = x.id", tables
    )

    assert [node.tests for node in normalizing(planned.roots[0])] == [True]
    assert widened(planned.whole[0], ()) == planned.roots[0]


def test_late_rows_of_the_source_are_those_that_arrive(tables):
    [late] = [n for n in walk(root("SELECT id FROM up$late", tables)) if isinstance(n, LateRows)]

    assert normalizing(late) == []


def test_late_rows_of_an_operator_are_whole_changes(tables):
    both = plan(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO changes SELECT 1, MAX(v) FROM "
        "TUMBLE(TABLE up, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end; "
        "INSERT INTO changes SELECT id, v FROM up$late; END",
        tables,
    )
    [late] = [n for n in walk(both.of_single_roots.roots[1]) if isinstance(n, LateRows)]

    assert late.operator.startswith("window-aggregate")
    assert len(normalizing(late)) == 1


def test_explain_uses_flinks_name(tables):
    [node] = normalizing(root("SELECT k FROM up", tables))
    said = node.description

    assert (said.name, said.details) == ("ChangelogNormalize", ("key=[id]",))
    assert said.keeps.startswith("one row per key")


def test_state_fits_if_key_and_columns_are_the_same(tables):
    def kept(sql: str) -> list[str]:
        states = kept_state(root(sql, tables), LayoutOptions("UTC"))
        return [state.hash for state in states if state.kind == "changelog-normalize"]

    assert kept("SELECT k FROM up") == kept("SELECT k AS other FROM up")
    assert kept("SELECT k FROM up") != kept("SELECT v FROM up")


def test_upserts_without_a_key_are_refused(tables):
    declared = "CREATE TABLE keyless (a INT) WITH («'connector' = 'fake'», 'changelog' = 'UPSERT')"
    tables.plan_script(unmarked(declared))
    error = refused("SELECT a FROM keyless", at=tables, inside=declared)

    assert error.message == "table `keyless` sends upserts, but has no primary key"


# --- changes that are delivered more than once ---------------------------------------------------

DUPLICATES = "SET 'table.exec.source.cdc-events-duplicate' = 'true'"


def test_changes_that_may_come_again_are_normalized_by_the_primary_key():
    tables = world(DDL, DUPLICATES)

    [normalize] = normalizing(root("SELECT id, n FROM cdc", tables))
    assert normalize.keys == (0,)
    assert edge("SELECT id, n FROM cdc", tables).changelog is Changelog.RETRACT
    assert not normalizing(root("SELECT id FROM o", tables))


def test_a_temporal_join_replaces_versions_that_come_again_itself():
    ddl = """CREATE TABLE versions (id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
      PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT')"""
    sql = "SELECT o.id, x.v FROM o JOIN versions FOR SYSTEM_TIME AS OF o.ts AS x ON o.id = x.id"

    assert not normalizing(root(sql, world(DDL, ddl, DUPLICATES)))


def test_changes_that_may_come_again_need_a_primary_key():
    ddl = "CREATE TABLE c (id INT) WITH ('connector' = 'fake', 'changelog' = 'RETRACT')"

    with pytest.raises(PlanError, match="table `c` is a changelog, but has no primary key"):
        root("SELECT id FROM c", world(ddl, DUPLICATES))
