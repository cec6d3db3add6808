"""Group windows and aggregates: what they mean as a plan, and what is refused at its place."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported
from tidemark.kernels.windows.spec import Emit, Firing, Session, Sliding
from tidemark.physical.explain import explain
from tidemark.plan.nodes import Filter, Node, WindowAggregate, walk

DDL = """
CREATE TABLE s (
  k STRING, a TINYINT, i INT, n INT NOT NULL, d DECIMAL(10, 2), e DECIMAL(10, 2) NOT NULL,
  f FLOAT, x DOUBLE, v VARCHAR(5) NOT NULL, b BOOLEAN, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake');
CREATE TABLE z (k STRING, lz TIMESTAMP_LTZ(3), WATERMARK FOR lz AS lz) WITH ('connector' = 'fake');
CREATE TABLE versions (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
"""
TUMBLE = "TUMBLE(ts, INTERVAL '10' SECOND)"


@pytest.fixture
def tables():
    return world(DDL)


def windows_of(node: Node) -> list[WindowAggregate]:
    return [part for part in walk(node) if isinstance(part, WindowAggregate)]


def window_of(sql: str, tables) -> WindowAggregate:
    [found] = windows_of(root(sql, tables))
    return found


# --- types, as Flink gives them ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("COUNT(*)", "BIGINT NOT NULL"),
        ("COUNT(DISTINCT i)", "BIGINT NOT NULL"),
        ("SUM(a)", "TINYINT"),
        ("SUM(n)", "INT NOT NULL"),
        ("SUM(n) FILTER (WHERE b)", "INT"),
        ("SUM(e)", "DECIMAL(38, 2) NOT NULL"),
        ("AVG(d)", "DECIMAL(38, 6)"),
        ("AVG(i)", "INT"),
        ("AVG(f)", "FLOAT"),
        ("MIN(v)", "VARCHAR(5) NOT NULL"),
        ("MAX(b)", "BOOLEAN"),
        ("STDDEV_POP(n)", "INT NOT NULL"),
        ("VAR_POP(f)", "FLOAT"),
        ("VAR_SAMP(e)", "DECIMAL(38, 6)"),
        ("STDDEV(x)", "DOUBLE"),
        ("FIRST_VALUE(v)", "VARCHAR(5) NOT NULL"),
        ("LISTAGG(k, ';')", "STRING"),
        ("COLLECT(i)", "MULTISET<INT> NOT NULL"),
        ("ARRAY_AGG(n)", "ARRAY<INT NOT NULL> NOT NULL"),
        ("JSON_ARRAYAGG(i)", "STRING NOT NULL"),
        ("JSON_OBJECTAGG(KEY v VALUE i)", "STRING NOT NULL"),
        ("APPROX_COUNT_DISTINCT(i)", "BIGINT NOT NULL"),
    ],
)
def test_results_have_the_types_that_flink_gives_them(call, type_, tables):
    assert schema(f"SELECT {call} AS r FROM s GROUP BY k, {TUMBLE}", tables) == f"r {type_}"


def test_bounds_are_plain_times_and_the_row_time_is_a_time_attribute(tables):
    assert schema(
        "SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) AS a, TUMBLE_END(ts, INTERVAL '10' SECOND) "
        f"AS b, TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS c FROM s GROUP BY {TUMBLE}",
        tables,
    ) == ("a TIMESTAMP(3) NOT NULL, b TIMESTAMP(3) NOT NULL, c TIMESTAMP(3) *event*")


def test_bounds_of_instants_are_what_the_clock_shows_and_the_row_time_is_an_instant(tables):
    assert (
        schema(
            "SELECT TUMBLE_START(lz, INTERVAL '1' DAY) AS a, TUMBLE_ROWTIME(lz, INTERVAL '1' DAY) AS c "
            "FROM z GROUP BY TUMBLE(lz, INTERVAL '1' DAY)",
            tables,
        )
        == "a TIMESTAMP(3) NOT NULL, c TIMESTAMP_LTZ(3) *event*"
    )


# --- what is planned ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "assigner"),
    [
        (TUMBLE, Sliding(10_000, 10_000)),
        ("HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)", Sliding(10_000, 4_000)),
        ("HOP(ts, INTERVAL '10' SECOND, INTERVAL '4' SECOND)", Sliding(4_000, 10_000)),
        ("SESSION(ts, INTERVAL '1:30' MINUTE TO SECOND)", Session(90_000)),
    ],
)
def test_the_window_is_that_of_group_by(window, assigner, tables):
    node = window_of(f"SELECT COUNT(*) FROM s GROUP BY {window}", tables)

    assert (node.assigner, node.keys, node.processing_time) == (assigner, (), False)


@pytest.mark.parametrize("time", ["pt", "PROCTIME()"])
def test_by_processing_time_the_clock_decides(time, tables):
    window = f"({time}, INTERVAL '1' MINUTE)"
    node = window_of(
        f"SELECT k, TUMBLE_START{window}, COUNT(*) FROM s GROUP BY k, TUMBLE{window}", tables
    )

    assert (node.processing_time, node.input.edge.names) == (True, ("k",))


def test_keys_arguments_and_conditions_become_columns_each_once(tables):
    node = window_of(
        "SELECT UPPER(k), SUM(i + 1), MAX(i + 1) FILTER (WHERE b) "
        f"FROM s WHERE i > 0 GROUP BY UPPER(k), {TUMBLE}",
        tables,
    )

    assert len(node.input.edge.columns) == 4  # UPPER(k), i + 1, b, ts
    assert [(c.function, c.arguments, c.filter) for c in node.calls] == [
        ("SUM", (1,), None),
        ("MAX", (1,), 2),
    ]


def test_the_same_call_is_computed_once(tables):
    node = window_of(
        f"SELECT SUM(i), SUM(i) + 1 FROM s GROUP BY {TUMBLE} HAVING SUM(i) > 3", tables
    )

    assert len(node.calls) == 1


def test_having_is_a_filter_above_the_window(tables):
    bound = root(f"SELECT k FROM s GROUP BY k, {TUMBLE} HAVING COUNT(*) > 1", tables)
    [test] = [part for part in walk(bound) if isinstance(part, Filter)]

    assert isinstance(test.input, WindowAggregate)


def test_distinct_is_ignored_where_it_changes_nothing(tables):
    node = window_of(
        f"SELECT MAX(DISTINCT i), COUNT(DISTINCT i), COUNT(n) FROM s GROUP BY {TUMBLE}", tables
    )

    assert [(c.function, c.distinct, len(c.arguments)) for c in node.calls] == [
        ("MAX", False, 1),
        ("COUNT", True, 1),
        ("COUNT", False, 0),  # a column that is never null is as good as a row
    ]


def test_expressions_over_keys_and_results_mix(tables):
    assert (
        schema(
            "SELECT k || '!' AS a, CASE WHEN COUNT(*) > 1 THEN UPPER(k) END AS b, "
            f"SUM(n) / COUNT(*) AS c FROM s GROUP BY k, {TUMBLE}",
            tables,
        )
        == "a STRING, b STRING, c BIGINT NOT NULL"
    )


def test_windows_cascade_by_their_row_time(tables):
    upper, lower = windows_of(
        root(
            "SELECT SUM(n) FROM (SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS r, COUNT(*) AS n "
            f"FROM s GROUP BY k, {TUMBLE}) GROUP BY TUMBLE(r, INTERVAL '1' MINUTE)",
            tables,
        )
    )

    assert (upper.assigner, lower.assigner) == (Sliding(60_000, 60_000), Sliding(10_000, 10_000))


def test_the_result_of_a_changelog_is_inserts_only(tables):
    assert (
        root(f"SELECT SUM(n) FROM versions GROUP BY {TUMBLE}", tables).edge.changelog
        is Changelog.APPEND
    )


def test_explain_describes_the_window_and_the_state(tables):
    text = explain(
        plan(
            f"SELECT k, LISTAGG(DISTINCT v, ';') FROM s GROUP BY k, {TUMBLE} "
            "EMIT WITHOUT DELAY BEFORE WATERMARK",
            tables,
        )
    )

    assert "WindowAggregate(window=[TUMBLE(size 10 s)], time=[ts], key=[k]," in text
    assert "select=[LISTAGG(DISTINCT v, ';')], early=[each row])" in text
    assert "the aggregates of each key and window, until the watermark has reached its end" in text


# --- EMIT --------------------------------------------------------------------------------------

EACH_ROW, EVERY_MINUTE = Firing(each_row=True), Firing(every_ms=60_000)


@pytest.mark.parametrize(
    ("clause", "emit"),
    [
        ("EMIT WITHOUT DELAY BEFORE WATERMARK", Emit(early=EACH_ROW)),
        ("EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK", Emit(early=EVERY_MINUTE)),
        ("EMIT WITHOUT DELAY AFTER WATERMARK", Emit(late=EACH_ROW)),
        (
            "EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK, WITHOUT DELAY AFTER WATERMARK",
            Emit(EVERY_MINUTE, EACH_ROW),
        ),
        ("EMIT WITHOUT DELAY", Emit(EACH_ROW, EACH_ROW)),
    ],
)
def test_emit_decides_when_results_are_emitted(clause, emit, tables):
    tables.plan_script("SET 'table.exec.emit.allow-lateness' = '1 h'")
    node = window_of(f"SELECT COUNT(*) FROM s GROUP BY {TUMBLE} {clause}", tables)

    assert node.emit == emit
    assert node.lateness_ms == (3_600_000 if emit.late else 0)
    assert node.edge.changelog is Changelog.RETRACT


def test_the_keys_mean_what_the_clause_does(tables):
    tables.plan_script(
        "SET 'table.exec.emit.early-fire.enabled' = 'true';"
        "SET 'table.exec.emit.early-fire.delay' = '1 min';"
        "SET 'table.exec.emit.late-fire.enabled' = 'true';"
        "SET 'table.exec.emit.late-fire.delay' = '0 s';"
        "SET 'table.exec.state.ttl' = '1 d'"
    )
    node = window_of(f"SELECT COUNT(*) FROM s GROUP BY {TUMBLE}", tables)

    assert node.emit == Emit(EVERY_MINUTE, EACH_ROW)
    assert node.lateness_ms == 86_400_000


@pytest.mark.parametrize(
    "query", ["SELECT k, COUNT(*) AS n FROM s GROUP BY k", "SELECT COUNT(*) AS n FROM s"]
)
def test_groups_without_a_window_only_insert_in_batch_mode(query, tables):
    assert root(query, tables).edge.changelog is Changelog.RETRACT
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")

    assert root(query, tables).edge.changelog is Changelog.APPEND
    text = explain(plan(query, tables))
    assert "group-aggregate-1: the aggregates of each key, until the input ends" in text


def test_allowed_lateness_without_late_firings_has_no_effect(tables):
    tables.plan_script("SET 'table.exec.emit.allow-lateness' = '1 h'")

    assert window_of(f"SELECT COUNT(*) FROM s GROUP BY {TUMBLE}", tables).lateness_ms == 0


def test_rows_after_the_watermark_need_a_limit(tables):
    error = refused(
        f"SELECT COUNT(*) FROM s GROUP BY {TUMBLE} «EMIT WITHOUT DELAY AFTER WATERMARK»", at=tables
    )

    assert "allow-lateness" in (error.hint or "")


def test_a_session_emits_its_result_once(tables):
    refused(
        "SELECT COUNT(*) FROM s GROUP BY SESSION(ts, INTERVAL '1' SECOND) «EMIT WITHOUT DELAY»",
        at=tables,
    )


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "marked",
    [
        f"SELECT «i» FROM s GROUP BY k, {TUMBLE}",
        f"SELECT k || «v» FROM s GROUP BY k, {TUMBLE}",
        f"SELECT «*» FROM s GROUP BY k, {TUMBLE}",
        f"SELECT «nope» FROM s GROUP BY k, {TUMBLE}",
        f"SELECT k FROM s GROUP BY k, {TUMBLE} HAVING «i» > 1",
        f"SELECT SUM(«SUM(i)») FROM s GROUP BY k, {TUMBLE}",
        f"SELECT k FROM s WHERE «COUNT(*)» > 1 GROUP BY k, {TUMBLE}",
        f"SELECT k FROM s GROUP BY k, «MAX(i)», {TUMBLE}",
        f"SELECT «TUMBLE(ts, INTERVAL '10' SECOND)» FROM s GROUP BY {TUMBLE}",
        f"SELECT «TUMBLE_START(ts, INTERVAL '20' SECOND)» FROM s GROUP BY {TUMBLE}",
        f"SELECT «HOP_START(ts, INTERVAL '10' SECOND)» FROM s GROUP BY {TUMBLE}",
        "SELECT «TUMBLE_ROWTIME(pt, INTERVAL '1' SECOND)» FROM s "
        "GROUP BY TUMBLE(pt, INTERVAL '1' SECOND)",
        "SELECT «TUMBLE_END(ts, INTERVAL '1' SECOND)» FROM s",
        f"SELECT COUNT(*) FROM s GROUP BY {TUMBLE}, «TUMBLE(ts, INTERVAL '5' SECOND)»",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(ts, «INTERVAL '1' MONTH»)",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(ts, «INTERVAL '0' SECOND»)",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(ts, «10»)",
        "SELECT COUNT(*) FROM s GROUP BY «HOP(ts, INTERVAL '10' SECOND)»",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(«i», INTERVAL '10' SECOND)",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(«ts + INTERVAL '1' SECOND», INTERVAL '1' SECOND)",
        f"SELECT «SUM(k)» FROM s GROUP BY {TUMBLE}",
        f"SELECT «LISTAGG(i)» FROM s GROUP BY {TUMBLE}",
        f"SELECT LISTAGG(k, «v») FROM s GROUP BY {TUMBLE}",
        f"SELECT «COUNT()» FROM s GROUP BY {TUMBLE}",
        f"SELECT «MAX(ARRAY[i])» FROM s GROUP BY {TUMBLE}",
        f"SELECT «FIRST_VALUE(i) IGNORE NULLS» FROM s GROUP BY {TUMBLE}",
        f"SELECT COUNT(*) FILTER (WHERE «i») FROM s GROUP BY {TUMBLE}",
    ],
)
def test_invalid_sql_is_refused_where_it_is(marked, tables):
    refused(marked, at=tables)


@pytest.mark.parametrize(
    "marked",
    [
        f"SELECT COUNT(*) FROM s GROUP BY ROLLUP(k), «{TUMBLE}»",
        "SELECT COUNT(*) FROM s GROUP BY TUMBLE(ts, INTERVAL '10' SECOND, «TIME '00:00:03'»)",
    ],
)
def test_unsupported_sql_is_refused_where_it_is(marked, tables):
    refused(marked, NotSupported, at=tables)


def test_an_ungrouped_column_is_named_with_what_is_grouped(tables):
    error = refused(f"SELECT k, «i» FROM s GROUP BY k, {TUMBLE}", at=tables)

    assert error.message == "`i` must be in GROUP BY or in an aggregate function"
    assert error.notes == {"grouped by": f"k, {TUMBLE}"}
