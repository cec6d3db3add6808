"""OVER in a SELECT: which operators it becomes, their types, and what is refused."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported, PlanError
from tidemark.kernels.over.spec import OverFrame
from tidemark.physical.explain import explain
from tidemark.plan.nodes import LateRows, Over, WindowAggregate, walk

DDL = """
CREATE TABLE s (k STRING, i INT, n INT NOT NULL, x DOUBLE, d DATE, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE kept (k STRING, i BIGINT) WITH ('connector' = 'fake');
CREATE TABLE lates (k STRING, o STRING) WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables():
    return world(DDL)


def over(call: str, window: str = "PARTITION BY k ORDER BY ts", items: str = "k") -> str:
    return f"SELECT {items}, {call} OVER ({window}) AS r FROM s"


def operators(sql: str, tables) -> list[Over]:
    return [node for node in walk(root(sql, tables)) if isinstance(node, Over)]


@pytest.mark.parametrize(
    ("written", "frame"),
    [
        ("", OverFrame(None, 0)),
        ("ROWS UNBOUNDED PRECEDING", OverFrame(None, 0, by_rows=True)),
        ("ROWS 2 PRECEDING", OverFrame(-2, 0, by_rows=True)),
        ("ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", OverFrame(-2, -1, by_rows=True)),
        ("RANGE INTERVAL '5' SECOND PRECEDING", OverFrame(-5000, 0)),
        ("RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", OverFrame(0, None)),
        (
            "RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND INTERVAL -'1' SECOND FOLLOWING",
            OverFrame(-5000, -1000),
        ),
    ],
)
def test_frames_are_distances_from_the_row(written, frame, tables):
    [node] = operators(over("SUM(i)", f"PARTITION BY k ORDER BY ts {written}"), tables)

    assert [function.frame for function in node.functions] == [frame]


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("SUM(i)", "INT"),
        ("SUM(n)", "INT NOT NULL"),
        ("COUNT(*)", "BIGINT NOT NULL"),
        ("ROW_NUMBER()", "BIGINT NOT NULL"),
        ("LAG(n)", "INT"),
        ("LAG(n, 1, 0)", "INT NOT NULL"),
        ("LAG(i, 1, 0)", "INT"),
        ("LAG(k, 1, '-')", "STRING"),
        ("LAG(x, 1, 0)", "DOUBLE"),
        ("LAG(n, 1, CAST(0 AS BIGINT))", "INT NOT NULL"),
        ("LAG(CAST(k AS CHAR(3)), 1, k)", "CHAR(3)"),
        ("LAG(CAST(n AS DECIMAL(10, 2)), 1, 0.0)", "DECIMAL(10, 2) NOT NULL"),
        ("CUME_DIST()", "DOUBLE NOT NULL"),
    ],
)
def test_results_have_types(call, type_, tables):
    assert schema(over(call), tables) == f"k STRING, r {type_}"


@pytest.mark.parametrize(
    ("frame", "type_"),
    [
        ("ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "INT"),
        ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "INT"),
        ("RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW", "INT"),
        ("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "INT NOT NULL"),
        ("RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "INT NOT NULL"),
    ],
)
def test_a_sum_over_a_frame_bounded_by_a_distance_is_nullable(frame, type_, tables):
    sql = over("SUM(n)", f"PARTITION BY k ORDER BY ts {frame}")

    assert schema(sql, tables) == f"k STRING, r {type_}"


def test_the_event_time_stays_one_so_results_can_be_grouped_by_windows(tables):
    view = over("SUM(i)", items="k, ts")
    windows = (
        f"SELECT window_start, MAX(r) FROM TABLE(TUMBLE((SELECT * FROM ({view})), DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    )
    tables.plan_script(f"CREATE VIEW o AS {view}")

    assert schema(view, tables) == "k STRING, ts TIMESTAMP(3) *event*, r INT"
    assert edge(view, tables).changelog is Changelog.APPEND
    sql = windows.replace(f"(SELECT * FROM ({view}))", "TABLE o")
    assert any(isinstance(node, WindowAggregate) for node in walk(root(sql, tables)))


def test_calls_with_one_window_share_an_operator_whatever_their_frames(tables):
    sql = (
        "SELECT SUM(i) OVER w, COUNT(*) OVER (w ROWS 1 PRECEDING), LAG(i) OVER v, MAX(i) OVER "
        "(ORDER BY ts) FROM s WINDOW w AS (PARTITION BY k ORDER BY ts), v AS (w)"
    )

    assert sorted(len(node.functions) for node in operators(sql, tables)) == [1, 3]


def test_only_requested_columns_and_results_reach_the_operator(tables):
    sql = f"SELECT r FROM ({over('SUM(i)', items='*, COUNT(x) OVER (ORDER BY ts) AS c')})"

    [node] = operators(sql, tables)
    assert node.input.edge.names == ("k", "i", "ts")


def test_without_readers_it_is_removed_where_two_projections_meet_and_else_drops_late_rows(tables):
    rows = over("SUM(i)", items="*, COUNT(x) OVER (PARTITION BY k ORDER BY ts) AS c")
    tumbling = f"TUMBLE(TABLE ({rows}), DESCRIPTOR(ts), INTERVAL '1' DAY)"

    for removed in (
        f"SELECT k, ts FROM ({rows})",
        f"SELECT k, COUNT(*) FROM ({rows}) GROUP BY k",
        f"SELECT k, COUNT(*) FROM ({rows}) GROUP BY k, TUMBLE(ts, INTERVAL '1' DAY)",
    ):
        assert operators(removed, tables) == []
    for kept in (
        f"SELECT COUNT(*) FROM ({rows})",
        f"SELECT k FROM (SELECT * FROM ({rows}) WHERE i > 3)",
        f"SELECT k, COUNT(*) FROM TABLE({tumbling}) GROUP BY k, window_start, window_end",
    ):
        [node] = operators(kept, tables)
        assert len(node.functions) == 1


@pytest.mark.parametrize(
    ("window", "mode"),
    [
        ("ORDER BY ts", "by time"),
        ("ORDER BY pt", "by time"),
        ("ORDER BY ts DESC", "updates"),
        ("ORDER BY i", "updates"),
        ("ORDER BY ts, i", "updates"),
        ("ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING", "updates"),
        ("PARTITION BY k", "updates"),
    ],
)
def test_results_are_final_only_by_time(window, mode, tables):
    [node] = operators(over("SUM(i)", window), tables)

    assert (node.by_time, node.updates) == (mode == "by time", mode == "updates")
    assert edge(over("SUM(i)", window), tables).changes == (mode == "updates")


def test_in_batch_mode_results_are_emitted_at_the_end():
    tables = world(DDL, "SET 'execution.runtime-mode' = 'batch'")
    [node] = operators(over("SUM(i)", "ORDER BY i DESC"), tables)

    assert node.at_end
    assert edge(over("SUM(i)", "ORDER BY i DESC"), tables).changelog is Changelog.APPEND


def test_groups_are_rows_too(tables):
    sql = "SELECT k, SUM(i) AS total, SUM(SUM(i)) OVER (ORDER BY k) + 1 AS r FROM s GROUP BY k"

    assert schema(sql, tables) == "k STRING, total INT, r INT"
    assert len(operators(sql, tables)) == 1


def test_explain_says_what_is_kept(tables):
    [node] = operators(over("SUM(i)", "PARTITION BY k ORDER BY ts ROWS 2 PRECEDING"), tables)
    said = node.description

    assert said.details[:2] == ("key=[k]", "order=[ts]")
    assert "SUM(i) ROWS BETWEEN 2 PRECEDING AND CURRENT ROW" in said.details[2]
    assert "the rows that frames reach back to" in said.keeps


def test_rows_at_the_watermark_are_late_for_it(tables):
    both = plan(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO kept {over('SUM(CAST(i AS BIGINT))')}; "
        "INSERT INTO lates SELECT k, late_operator FROM s$late; END",
        tables,
    )

    [late] = [node for node in walk(both.of_single_roots.roots[1]) if isinstance(node, LateRows)]
    assert (late.operator, late.lateness_ms) == ("over of k", 0)


def test_late_rows_of_bounded_frames_are_only_known_to_the_operator(tables):
    frame = "PARTITION BY k ORDER BY ts ROWS 1 PRECEDING"
    counted = over("SUM(CAST(i AS BIGINT))", frame)

    def late(items: str) -> str:
        return (
            f"EXECUTE STATEMENT SET BEGIN INSERT INTO kept {counted}; "
            f"INSERT INTO lates SELECT {items}; END"
        )

    assert plan(late("k, late_operator FROM s$late"), tables)
    aggregated = late("k, MAX(late_operator) FROM s$late GROUP BY k, TUMBLE(pt, INTERVAL '1' DAY)")
    with pytest.raises(NotSupported, match="OVER with bounded frames"):
        plan(aggregated, tables)


@pytest.mark.parametrize(
    ("marked", "error"),
    [
        ("SELECT i FROM s WHERE «SUM(i) OVER (ORDER BY ts)» > 1", PlanError),
        ("SELECT SUM(«SUM(i) OVER (ORDER BY ts)») OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT «ABS(i)» OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT «ROW_NUMBER()» FROM s", PlanError),
        ("SELECT «RANK() OVER (PARTITION BY k)» FROM s", PlanError),
        ("SELECT RANK() OVER (ORDER BY ts «ROWS 1 PRECEDING») FROM s", PlanError),
        ("SELECT LAG(i, «n») OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT «LAG(i, 1, k)» OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT «LAG(k, 1, 0)» OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT NTILE(«0») OVER (ORDER BY ts) FROM s", PlanError),
        ("SELECT SUM(i) OVER «w» FROM s WINDOW v AS (ORDER BY ts)", PlanError),
        ("SELECT SUM(i) OVER (w «ORDER BY i») FROM s WINDOW w AS (ORDER BY ts)", PlanError),
        ("SELECT SUM(i) OVER (ORDER BY ts ROWS «n» PRECEDING) FROM s", PlanError),
        ("SELECT SUM(i) OVER (ORDER BY ts RANGE «5» PRECEDING) FROM s", PlanError),
        ("SELECT SUM(i) OVER (ORDER BY ts RANGE «INTERVAL '1' MONTH» PRECEDING) FROM s", PlanError),
        ("SELECT SUM(i) OVER (ORDER BY k «RANGE 5 PRECEDING») FROM s", PlanError),
        (
            "SELECT SUM(i) OVER (ORDER BY ts «ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING») FROM s",
            PlanError,
        ),
        ("SELECT SUM(i) OVER (ORDER BY ts «ROWS UNBOUNDED FOLLOWING») FROM s", PlanError),
        ("SELECT «LAG(i) IGNORE NULLS» OVER (ORDER BY ts) FROM s", NotSupported),
        ("SELECT «SUM(i) RESPECT NULLS» OVER (ORDER BY ts) FROM s", NotSupported),
    ],
)
def test_what_is_wrong_is_marked(marked, error, tables):
    refused(marked, error, at=tables)


@pytest.mark.parametrize("distance", ["1 + 1", "CAST(2 AS BIGINT)", "-(-2)", "3 * 2 - 4"])
def test_distances_may_be_computed(distance, tables):
    for call in ("LAG(i, {})", "SUM(i)"):
        frame = "" if "LAG" in call else " ROWS {} PRECEDING"
        written = f"SELECT {call} OVER (ORDER BY ts{frame}) AS r FROM s"
        same = (explain(plan(written.format(one), tables)) for one in (distance, "2"))
        assert len(set(same)) == 1


@pytest.mark.parametrize("function", ["LAG(i)", "LEAD(i, 2)"])
def test_respect_nulls_is_what_values_of_other_rows_do_anyway(function, tables):
    query = f"SELECT {function}{{}} OVER (PARTITION BY k ORDER BY ts) FROM s"
    assert plan(query.format(" RESPECT NULLS"), tables) == plan(query.format(""), tables)


def test_respect_nulls_may_follow_a_call_with_an_aggregate(tables):
    query = "SELECT k, LAG(MAX(i)){} OVER (ORDER BY k) FROM s GROUP BY k"
    assert plan(query.format(" RESPECT NULLS"), tables) == plan(query.format(""), tables)


def test_rows_that_are_kept_forever_are_warned_of(tables):
    tables.plan_script(
        "CREATE TABLE open_end (k STRING, i INT) WITH ('connector' = 'fake', 'bounded' = 'false')"
    )
    by_value = "SELECT SUM(i) OVER (PARTITION BY k ORDER BY i) AS r FROM open_end"

    assert "keeps all rows forever" in plan(by_value, tables).warnings[0]
    tables.plan_script("SET 'table.exec.state.ttl' = '1 d'")
    assert not plan(by_value, tables).warnings


def test_a_subquery_in_where_is_about_the_rows_that_are_grouped():
    tables = world(DDL, "SET 'execution.runtime-mode' = 'batch'")
    query = (
        "SELECT k, RANK() OVER (ORDER BY SUM(i) DESC) AS r FROM s "
        "WHERE k IN (SELECT k FROM kept) AND i > 1 GROUP BY k"
    )

    assert schema(query, tables) == "k STRING, r BIGINT NOT NULL"


CHANGES = "(SELECT k, COUNT(*) AS n, PROCTIME() AS pt FROM s GROUP BY k)"


@pytest.mark.parametrize(
    "call",
    [
        "SUM(n) OVER (ORDER BY pt)",
        "SUM(n) OVER (PARTITION BY k ORDER BY n, pt)",
        "MAX(pt) OVER (ORDER BY n)",
    ],
)
def test_the_processing_time_of_rows_that_change_has_no_order(call, tables):
    """A row is retracted at another time than it was inserted."""
    refused(f"SELECT «{call}» FROM {CHANGES}", NotSupported, at=tables)


def test_rows_that_change_are_kept_without_their_processing_times(tables):
    query = f"SELECT pt, SUM(n) OVER (ORDER BY n) AS r FROM {CHANGES}"
    [found] = [node for node in walk(root(query, tables)) if isinstance(node, Over)]

    assert not any(column.time == "processing" for column in found.input.edge.columns)
    assert edge(query, tables).columns[0].time == "processing"
