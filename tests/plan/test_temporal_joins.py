"""Temporal joins: what they mean as a plan, and what is refused, with the caret at the guilty SQL."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog, TemporalFunction
from tidemark.errors import NotSupported, PlanError
from tidemark.physical.explain import explain
from tidemark.plan.nodes import Filter, KeepLast, TemporalJoin, is_stateful, walk
from tidemark.plan.words import words
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE o (
  id INT, cur STRING, n BIGINT, ts TIMESTAMP(3), lz TIMESTAMP_LTZ(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake');
CREATE TABLE r (cur STRING, kind INT, rate INT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt,
  PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE live (cur STRING, rate INT, PRIMARY KEY (cur) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'RETRACT', 'bounded' = 'false');
CREATE TABLE two (cur STRING, kind INT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt,
  PRIMARY KEY (cur, kind) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE plain (cur STRING, rate INT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt)
  WITH ('connector' = 'fake');
CREATE TABLE timeless (cur STRING, rate INT, PRIMARY KEY (cur) NOT ENFORCED)
  WITH ('connector' = 'fake');
CREATE TABLE zoned (cur STRING, zt TIMESTAMP_LTZ(3), WATERMARK FOR zt AS zt,
  PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE VIEW v AS SELECT cur AS code, rate * 2 AS twice, rt FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY rt DESC) AS rn FROM plain
) WHERE rn = 1;
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def join_of(sql: str, tables: Workspace) -> TemporalJoin:
    [found] = [node for node in walk(root(sql, tables)) if isinstance(node, TemporalJoin)]
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o.id, x.rate FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur",
        "SELECT o.id, x.rate FROM o, r FOR SYSTEM_TIME AS OF o.ts AS x WHERE o.cur = x.cur",
        "SELECT o.id, x.rate FROM o, r FOR SYSTEM_TIME AS OF o.ts AS x ON x.cur = o.cur",
        "SELECT o.id, x.rate FROM o JOIN r AS x FOR SYSTEM_TIME AS OF ts ON o.cur = x.cur",
    ],
)
def test_every_spelling_is_one_join(sql, tables):
    join = join_of(sql, tables)

    left, right = join.left.edge.names, join.right.edge.names
    assert join.how == "inner"
    assert [left[i] for i in join.left_keys] == [right[i] for i in join.right_keys] == ["cur"]
    assert (left[join.left_time], right[join.right_time]) == ("ts", "rt")


def test_both_time_attributes_and_the_left_row_kinds_survive(tables):
    sql = "SELECT o.id, o.ts, x.rt FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"

    assert schema(sql, tables) == "id INT, ts TIMESTAMP(3) *event*, rt TIMESTAMP(3) *event*"
    assert root(sql, tables).edge.changelog is Changelog.APPEND


def test_a_left_join_makes_the_right_columns_nullable(tables):
    sql = "SELECT x.cur FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"

    assert schema(sql, tables) == "cur STRING"


def test_the_rest_of_the_condition_is_tested_on_the_joined_row(tables):
    sql = (
        "SELECT 1 FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur AND x.rate > o.id"
    )

    assert any(isinstance(node, Filter) for node in walk(root(sql, tables)))


def test_a_key_that_where_compares_is_not_tested_again_above_the_join(tables):
    """NULL matches NULL in the join; `NULL = NULL` above it would drop the row."""
    sql = (
        "SELECT o.id, x.rate FROM o, r FOR SYSTEM_TIME AS OF o.ts AS x "
        "WHERE o.id > 3 AND o.cur = x.cur"
    )

    tested = [node for node in walk(root(sql, tables)) if isinstance(node, Filter)]

    assert [words(node.condition) for node in tested] == ["(id > 3)"]


def test_where_may_use_tables_that_are_joined_after_the_versions(tables):
    join = join_of(
        "SELECT 1 FROM o, r FOR SYSTEM_TIME AS OF o.ts AS x, plain AS p "
        "WHERE o.cur = x.cur AND p.cur = x.cur",
        tables,
    )

    assert [join.left.edge.names[key] for key in join.left_keys] == ["cur"]


def test_keys_that_are_not_distinct_are_keys(tables):
    join = join_of(
        "SELECT 1 FROM o JOIN v FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur IS NOT DISTINCT FROM x.code",
        tables,
    )

    assert [join.right.edge.names[key] for key in join.right_keys] == ["code"]


def test_keys_may_be_expressions_of_other_types(tables):
    sql = "SELECT 1 FROM o JOIN two FOR SYSTEM_TIME AS OF o.ts AS x ON UPPER(o.cur) = x.cur AND o.n = x.kind"
    join = join_of(sql, tables)

    left = [str(join.left.edge.types[i].with_nullable(True)) for i in join.left_keys]
    right = [str(join.right.edge.types[i].with_nullable(True)) for i in join.right_keys]
    assert left == right == ["STRING", "BIGINT"]


def test_a_deduplication_view_has_its_key_and_time_inferred(tables):
    join = join_of(
        "SELECT 1 FROM o JOIN v FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.code", tables
    )

    assert join.right.edge.keys == (("code",),)
    assert any(isinstance(node, KeepLast) for node in walk(join.right))
    assert not join.retractions_overwrite


def test_above_a_filter_of_the_view_retractions_take_the_place_of_versions(tables):
    tables.plan_script("CREATE VIEW f AS SELECT * FROM v WHERE twice <> 4")

    join = join_of(
        "SELECT 1 FROM o JOIN f FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.code", tables
    )

    assert join.retractions_overwrite


def test_a_stream_is_joined_by_processing_time_once_it_has_been_loaded(tables):
    sql = "SELECT o.id, x.rate FROM o JOIN live FOR SYSTEM_TIME AS OF o.pt AS x ON o.cur = x.cur"
    with pytest.raises(NotSupported) as caught:
        root(sql, tables)
    assert "FLINK-19830" in str(caught.value)
    assert "SET 'tidemark.temporal-join.load-phase'" in str(caught.value)

    tables.plan_script("SET 'tidemark.temporal-join.load-phase' = '10 s'")

    join = join_of(sql, tables)
    assert (join.right_time, join.load_idle_ms) == (None, 10_000)
    text = explain(plan(sql, tables))
    assert "load phase=[until the right side is silent for 10000 ms]" in text
    message = refused(
        "SELECT 1 FROM o JOIN «plain FOR SYSTEM_TIME AS OF o.pt AS x» ON o.cur = x.cur", at=tables
    ).message
    assert message == "`plain` has no key to keep the latest row of"


def test_a_view_is_planned_with_the_options_of_its_session(tables):
    join = "SELECT o.id, x.rate FROM o JOIN live FOR SYSTEM_TIME AS OF o.pt AS x ON o.cur = x.cur"
    with pytest.raises(NotSupported):
        tables.plan_script(f"CREATE VIEW enriched AS {join}")
    tables.plan_script("SET 'tidemark.temporal-join.load-phase' = '10 s'")
    tables.plan_script(f"CREATE VIEW enriched AS {join}")

    assert join_of("SELECT * FROM enriched", tables).load_idle_ms == 10_000


def test_late_left_rows_are_dropped_as_flink_2_4_does_and_explain_says_so(tables):
    sql = "SELECT o.id, x.rate FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"
    assert not join_of(sql, tables).drops_late
    tables.plan_script("SET 'tidemark.flink-version' = '2.4'")

    assert join_of(sql, tables).drops_late
    assert "versions by=[rt], drops late rows" in explain(plan(sql, tables))


def test_a_temporal_function_does_not_wait_for_a_load_phase(tables):
    tables.plan_script("SET 'tidemark.temporal-join.load-phase' = '10 s'")
    tables.declare_temporal_function(TemporalFunction("rates", "plain", "rt", ("cur",)))

    sql = "SELECT 1 FROM o, LATERAL TABLE(rates(o.pt)) AS x WHERE o.cur = x.cur"
    assert join_of(sql, tables).load_idle_ms is None


def test_a_temporal_function_joins_by_either_time(tables):
    tables.declare_temporal_function(TemporalFunction("rates", "plain", "rt", ("cur",)))
    sql = "SELECT 1 FROM o, LATERAL TABLE(rates(o.{})) AS x WHERE o.cur = x.cur"

    by_event_time = join_of(sql.format("ts"), tables)
    assert by_event_time.right.edge.names[by_event_time.right_time] == "rt"
    assert join_of(sql.format("pt"), tables).right_time is None


def test_a_call_of_a_temporal_function_may_rename_its_columns(tables):
    tables.declare_temporal_function(TemporalFunction("rates", "plain", "rt", ("cur",)))
    sql = "SELECT b FROM o, LATERAL TABLE(rates(o.ts)) AS x (a, b, c) WHERE o.cur = x.a"

    join = join_of(sql, tables)
    assert join.right.edge.names[join.right_time] == "c"


def test_a_temporal_function_by_processing_time_cannot_be_called_with_an_event_time(tables):
    tables.plan_script("CREATE VIEW now_rates AS SELECT cur, PROCTIME() AS since FROM plain")
    tables.declare_temporal_function(TemporalFunction("rates", "now_rates", "since", ("cur",)))

    with pytest.raises(PlanError, match="`rates` requires a processing time"):
        plan("SELECT 1 FROM zoned, LATERAL TABLE(rates(zt)) AS x WHERE zoned.cur = x.cur", tables)


def test_a_key_on_a_table_that_only_inserts_is_warned_of(tables):
    tables.plan_script(
        "CREATE TABLE ins (cur STRING, rt TIMESTAMP(3), WATERMARK FOR rt AS rt, "
        "PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'fake')"
    )
    made = plan("SELECT 1 FROM o JOIN ins FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur", tables)

    assert ["`ins` is append-only" in warning for warning in made.warnings] == [True]


def test_plans_know_whether_they_have_state(tables):
    assert is_stateful(root("SELECT * FROM v", tables))
    assert not is_stateful(root("SELECT * FROM plain", tables))


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT 1 FROM o «RIGHT JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur»",
            "RIGHT temporal joins",
        ),
        (
            "SELECT 1 FROM o «FULL JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur»",
            "FULL temporal joins",
        ),
        (
            "SELECT 1 FROM o JOIN live FOR SYSTEM_TIME AS OF «o.pt» AS x ON o.cur = x.cur",
            "processing-time temporal join",
        ),
        (
            "SELECT 1 FROM o WHERE EXISTS "
            "(SELECT 1 FROM «r FOR SYSTEM_TIME AS OF o.ts AS x» WHERE o.cur = x.cur)",
            "FOR SYSTEM_TIME AS OF without a left side",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(marked, message, tables):
    assert message in refused(marked, NotSupported, at=tables).message


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT 1 FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON «o.id = x.rate»",
            "whole primary key of `r`",
        ),
        (
            "SELECT 1 FROM o JOIN two FOR SYSTEM_TIME AS OF o.ts AS x ON «o.cur = x.cur»",
            "whole primary key of `two`",
        ),
        (
            "SELECT 1 FROM o JOIN r FOR SYSTEM_TIME AS OF «o.lz» AS x ON o.cur = x.cur",
            "a time attribute of the left side",
        ),
        (
            "SELECT 1 FROM o JOIN r FOR SYSTEM_TIME AS OF «o.ts + INTERVAL '1' SECOND» AS x ON o.cur = x.cur",
            "a time attribute of the left side",
        ),
        (
            "SELECT 1 FROM o JOIN zoned FOR SYSTEM_TIME AS OF «o.ts» AS x ON o.cur = x.cur",
            "the same type of event time",
        ),
        (
            "SELECT 1 FROM o, r FOR SYSTEM_TIME AS OF o.ts AS x WHERE «o.id = x.rate AND o.n > 1»",
            "whole primary key of `r`",
        ),
        (
            "SELECT 1 FROM o, «r FOR SYSTEM_TIME AS OF o.ts AS x»",
            "requires a condition on the key",
        ),
    ],
)
def test_senseless_sql_is_refused_where_it_is(marked, message, tables):
    assert message in refused(marked, at=tables).message


@pytest.mark.parametrize(
    ("table", "missing"),
    [("plain", "no primary key"), ("timeless", "no event-time attribute")],
)
def test_a_regular_table_says_what_it_lacks_to_be_versioned(table, missing, tables):
    with pytest.raises(PlanError, match=f"`{table}` is not a versioned table") as raised:
        root(
            f"SELECT 1 FROM o JOIN {table} FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur", tables
        )

    assert missing in raised.value.message
    assert "ROW_NUMBER()" in (raised.value.hint or "")
