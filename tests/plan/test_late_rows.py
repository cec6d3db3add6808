"""`name$late`: which operators drop rows of a table, and what the companion's rows are."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported
from tidemark.kernels.windows.spec import Cumulating, Session, Sliding
from tidemark.physical.explain import explain
from tidemark.plan.joins.co_groups import bind_co_group
from tidemark.plan.late_rows import bind_late_rows
from tidemark.plan.nodes import (
    AssignWindows,
    CoGroup,
    Filter,
    LateRows,
    Scan,
    Sink,
    UnionAll,
    Unnest,
    walk,
)

DDL = """
CREATE TABLE s (k STRING, c STRING, i INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'fake');
CREATE TABLE z (k STRING, lz TIMESTAMP_LTZ(3), WATERMARK FOR lz AS lz) WITH ('connector' = 'fake');
CREATE TABLE versions (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE o (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE VIEW big AS SELECT k, i * 2 AS twice, ts FROM s WHERE i > 10;
CREATE TABLE counts (k STRING, n BIGINT) WITH ('connector' = 'fake', 'updates' = 'true');
CREATE TABLE lates (k STRING, o STRING, b BIGINT) WITH ('connector' = 'fake');
"""
TUMBLE = "SELECT k, COUNT(*) FROM s GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
LATE = "SELECT k, late_operator, late_by FROM s$late"


@pytest.fixture
def tables():
    return world(DDL)


def beside(tables, *queries: str, late: str = LATE) -> list[LateRows]:
    """The operators of the late rows, in a statement set with other queries, where each is a job of
    its own."""
    inserts = [f"INSERT INTO counts {query};" for query in queries]
    sql = f"EXECUTE STATEMENT SET BEGIN INSERT INTO lates {late}; {' '.join(inserts)} END"
    root = plan(sql, tables).of_single_roots.roots[0]
    assert isinstance(root, Sink)
    assert root.table.name == "lates"
    return [node for node in walk(root) if isinstance(node, LateRows)]


def test_a_row_keeps_its_columns_and_says_why_it_is_late(tables):
    assert schema("SELECT * FROM s$late", tables) == (
        "k STRING, c STRING, i INT, ts TIMESTAMP(3), "
        "pt TIMESTAMP_LTZ(3) NOT NULL *processing*, late_operator STRING NOT NULL, "
        "late_time TIMESTAMP(3) NOT NULL, late_watermark TIMESTAMP(3) NOT NULL, "
        "late_by BIGINT NOT NULL"
    )
    assert schema("SELECT late_watermark, l.late_by FROM z$late AS l", tables) == (
        "late_watermark TIMESTAMP_LTZ(3) NOT NULL, late_by BIGINT NOT NULL"
    )


def test_changes_that_are_late_are_rows_with_a_kind(tables):
    of_changes = edge("SELECT * FROM versions$late", tables)

    assert of_changes.changelog is Changelog.APPEND
    assert of_changes.names[-1] == "late_kind"


def test_without_other_operators_a_row_is_late_at_or_behind_the_watermark(tables):
    [late] = beside(tables)

    assert (late.operator, late.assigner, late.given) == ("source", None, None)


@pytest.mark.parametrize(
    ("query", "assigner", "words"),
    [
        (TUMBLE, Sliding(10_000, 10_000), "window-aggregate of k, TUMBLE(size 10 s)"),
        (
            "SELECT c, COUNT(*) FROM s "
            "GROUP BY c, HOP(ts, INTERVAL '2' SECOND, INTERVAL '10' SECOND)",
            Sliding(10_000, 2_000),
            "window-aggregate of c, HOP(size 10 s, slide 2 s)",
        ),
        (
            "SELECT k, COUNT(*) FROM s GROUP BY k, SESSION(ts, INTERVAL '5' SECOND)",
            Session(5_000),
            "window-aggregate of k, SESSION(gap 5 s)",
        ),
        (
            "SELECT 'all', COUNT(*) FROM TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), "
            "INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
            Cumulating(10_000, 5_000),
            "window-aggregate, CUMULATE(size 10 s, step 5 s)",
        ),
    ],
)
def test_the_windows_of_another_insert_decide_what_is_late(tables, query, assigner, words):
    [late] = beside(tables, query)

    assert (late.assigner, late.operator) == (assigner, words)
    assert late.input.edge.names[late.time] == "ts"
    assert [late.input.edge.names[key] for key in late.keys] == (
        ["k"] if isinstance(assigner, Session) else []
    )


def test_rows_that_a_session_function_drops_are_reported_once_for_all_operators_above_it(tables):
    top = (
        "SELECT k, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
        "ORDER BY i) AS rn FROM TABLE(SESSION(TABLE s PARTITION BY c, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND))) WHERE rn <= 3"
    )
    [late] = beside(tables, top)

    assert (late.assigner, late.operator) == (
        Session(5_000),
        "session-window of c, SESSION(gap 5 s)",
    )
    assert [late.input.edge.names[key] for key in late.keys] == ["c"]


def test_rows_reach_the_operator_through_its_filters_with_all_their_columns(tables):
    query = TUMBLE.replace("FROM s", "FROM (SELECT k, ts, i FROM s WHERE i > 3) WHERE i < 9")
    [late] = beside(tables, query, late="SELECT c, late_operator, i FROM s$late")

    assert any(isinstance(node, Filter) for node in walk(late.input))
    assert late.edge.names[:5] == ("k", "c", "i", "ts", "pt")
    assert [late.input.edge.types[place] for place in late.kept] == list(late.edge.types[:5])


def test_allowed_lateness_is_that_of_the_windows(tables):
    tables.plan_script("SET 'table.exec.emit.allow-lateness' = '1 min'")
    [late] = beside(tables, f"{TUMBLE} EMIT WITHOUT DELAY AFTER WATERMARK")

    assert late.lateness_ms == 60_000


def test_a_row_is_reported_once_for_all_its_windows_and_grouping_sets(tables):
    top = (
        "SELECT k, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
        "ORDER BY i) AS rn FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '2' SECOND, "
        "INTERVAL '10' SECOND))) WHERE rn <= 3"
    )
    [ranked] = beside(tables, top)
    sets = (
        "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end, ROLLUP (k, c)"
    )
    [grouped] = beside(tables, sets)

    assert [n.last_only for n in walk(ranked.input) if isinstance(n, AssignWindows)] == [True]
    assert ranked.operator == "window-rank of k, HOP(size 10 s, slide 2 s)"
    assert not any(isinstance(node, Unnest) for node in walk(grouped.input))


def test_each_operator_reports_its_late_rows_and_equal_operators_report_them_once(tables):
    minute = TUMBLE.replace("'10' SECOND", "'1' MINUTE")
    summed = TUMBLE.replace("COUNT(*)", "SUM(CAST(i AS BIGINT))")

    late = beside(tables, TUMBLE, summed, minute)

    assert [one.assigner for one in late] == [Sliding(10_000, 10_000), Sliding(60_000, 60_000)]


def test_operators_of_other_tables_and_those_that_drop_nothing_do_not_count(tables):
    never_late = [
        "SELECT k, COUNT(*) FROM s GROUP BY k",
        "SELECT k, COUNT(*) FROM s GROUP BY k, TUMBLE(pt, INTERVAL '1' MINUTE)",
        TUMBLE.replace("FROM s", "FROM z").replace("ts", "lz"),
    ]
    [late] = beside(tables, *never_late)

    assert late.operator == "source"


def test_a_view_has_late_rows_of_its_own(tables):
    query = TUMBLE.replace("FROM s", "FROM big")
    late = "SELECT k, late_operator, CAST(twice AS BIGINT) FROM big$late"
    [of_view] = beside(tables, query, late=late)
    [of_others] = beside(tables, TUMBLE, late=late)

    assert of_view.operator == "window-aggregate of k, TUMBLE(size 10 s)"
    assert of_view.edge.names[:3] == ("k", "twice", "ts")
    assert of_others.operator == "source"


def test_a_table_of_that_name_takes_precedence(tables):
    tables.plan_script("CREATE TABLE s$late (mine INT) WITH ('connector' = 'fake')")

    assert schema("SELECT * FROM s$late", tables) == "mine INT"


def test_without_event_time_nothing_is_late(tables):
    refused("SELECT * FROM «k$late»", at=tables)


WINDOWS = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
MEET = (
    f"SELECT a.k, 1 FROM {WINDOWS.format('s')} AS a LEFT JOIN {WINDOWS.format('o')} AS b "
    "ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"
)


def sources_of(late: LateRows) -> list[str]:
    """The tables whose rows may be late, and those of which only the watermark counts."""
    nodes = [late.input, *late.beside]
    return [n.table.name for node in nodes for n in walk(node) if isinstance(n, Scan)]


def test_late_rows_of_a_window_join_depend_on_the_watermark_of_both_sides(tables):
    [late] = beside(tables, MEET)
    [of_right] = beside(tables, MEET.replace("LEFT", "FULL"), late=LATE.replace("s$", "o$"))

    assert late.operator == "window-join of k, TUMBLE(size 10 s), left side"
    assert of_right.operator == "window-join of k, TUMBLE(size 10 s), right side"
    assert (sources_of(late), sources_of(of_right)) == (["s", "o"], ["o", "s"])
    assert late.given is not None
    assert [late.input.edge.names[place] for place in late.given] == ["window_start", "window_end"]
    assert late.input.edge.names[late.time] == "ts"
    assert [node.edge.names for node in late.beside] == [("ts",)]


def test_a_table_that_is_joined_with_itself_is_late_on_both_sides(tables):
    late = beside(tables, MEET.replace("TABLE o", "TABLE s"))

    assert [one.operator.split(", ")[-1] for one in late] == ["left side", "right side"]


def late_by(group: CoGroup, rows: str, tables) -> LateRows:
    """What a co-group drops of a table's rows."""
    late = bind_late_rows(root(f"SELECT * FROM {rows}", tables), rows, None, (group,))
    assert isinstance(late, LateRows)
    return late


def test_late_rows_of_a_co_group_depend_on_its_windows(tables):
    sides = [root(f"SELECT * FROM {WINDOWS.format(name)}", tables) for name in "so"]
    group = bind_co_group(sides[0], sides[1], (["k"], ["k"]), gap_ms=None)
    late = late_by(group, "o", tables)

    assert late.operator == "co-group of k, TUMBLE(size 10 s), right side"
    assert late.given is not None
    assert sources_of(late) == ["o", "s"]


def test_late_rows_of_a_co_group_depend_on_the_sessions_of_both_sides(tables):
    sides = [root(f"SELECT * FROM {name}", tables) for name in "so"]
    group = bind_co_group(sides[0], sides[1], (["c"], ["k"]), gap_ms=5000)
    late = late_by(group, "s", tables)

    assert late.operator == "co-group of c, left side"
    assert (late.assigner, late.shares_sessions) == (Session(5000), True)
    assert [late.input.edge.names[key] for key in late.keys] == ["c"]
    [other] = late.beside
    assert [str(column.type) for column in other.edge.columns] == ["STRING", "TIMESTAMP(3)"]


NEAR = "l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts"


def test_an_interval_join_that_drops_late_rows_reports_those_behind_the_watermark(tables):
    tables.plan_script("SET 'tidemark.interval-join.late-rows' = 'drop'")
    join = f"SELECT l.k, 1 FROM o AS l JOIN s AS r ON {NEAR}"
    [late] = beside(tables, join)

    assert late.operator == "interval-join of k, right side"
    # One millisecond behind it; in a source, a row at the watermark is late too.
    assert (late.given, late.assigner, late.lateness_ms) == (None, None, 1)
    assert sources_of(late) == ["s", "o"]


def test_an_interval_join_of_sql_drops_nothing(tables):
    [late] = beside(tables, f"SELECT l.k, 1 FROM o AS l JOIN s AS r ON {NEAR}")

    assert late.operator == "source"


def test_a_temporal_join_drops_late_left_rows_as_flink_2_4_does_and_joins_them_as_2_3(tables):
    as_of = "LEFT JOIN versions FOR SYSTEM_TIME AS OF l.ts AS v ON l.i = v.id"
    join = f"SELECT l.k, v.id FROM s AS l {as_of}"
    [joined] = beside(tables, join)
    tables.plan_script("SET 'tidemark.flink-version' = '2.4'")
    [late] = beside(tables, join)

    assert joined.operator == "source"
    assert late.operator == "temporal-join of i, left side"
    assert (late.given, late.assigner, late.lateness_ms) == (None, None, 0)
    assert sources_of(late) == ["s", "versions"]


def test_late_versions_are_never_dropped(tables):
    tables.plan_script("SET 'tidemark.flink-version' = '2.4'")
    as_of = "JOIN versions FOR SYSTEM_TIME AS OF l.ts AS v ON l.i = v.id"
    [late] = beside(
        tables,
        f"SELECT l.k, v.id FROM s AS l {as_of}",
        late="SELECT late_kind, late_operator, late_by FROM versions$late",
    )

    assert late.operator == "source"


def test_a_join_above_an_interval_join_waits_as_long_as_its_rows_may_lag(tables):
    pairs = f"(SELECT l.k, l.ts FROM o AS l JOIN o AS r ON {NEAR}) AS b"
    join = f"SELECT a.k, 1 FROM s AS a JOIN {pairs} ON a.k = b.k AND a.ts = b.ts"
    tables.plan_script("SET 'tidemark.interval-join.late-rows' = 'drop'")
    [late] = beside(tables, join)

    assert late.held_back_ms == 5000
    assert sources_of(late) == ["s", "o", "o"]


def test_rows_are_late_through_a_union_by_the_watermark_of_all_its_branches(tables):
    both = "FROM (SELECT k, ts FROM o UNION ALL SELECT c, ts FROM s WHERE i > 3) AS u"
    [late] = beside(tables, TUMBLE.replace("FROM s", both))

    assert late.operator == "window-aggregate of k, TUMBLE(size 10 s)"
    assert sources_of(late) == ["s", "o"]
    assert any(isinstance(node, Filter) for node in walk(late.input))
    assert late.edge.names[:3] == ("k", "c", "i")


def test_sessions_through_a_union_are_refused_by_name(tables):
    union = TUMBLE.replace("FROM s", "FROM (SELECT k, ts FROM s UNION ALL SELECT k, ts FROM s)")
    marked = (
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO lates {LATE.replace('s$late', '«s$late»')}; "
        f"INSERT INTO counts {union.replace('TUMBLE', 'SESSION')}; END"
    )
    error = refused(marked, NotSupported, at=tables)

    assert "view of the UNION ALL" in str(error)


def test_late_rows_are_described_but_not_among_the_tables(tables):
    [shown] = tables.plan_script("SHOW TABLES")
    [described] = tables.plan_script("DESCRIBE s$late")

    assert not any("late" in str(name) and name != "lates" for (name,) in shown.result.rows)
    assert [row[0] for row in described.result.rows][-4:] == [
        "late_operator",
        "late_time",
        "late_watermark",
        "late_by",
    ]


def test_explain_says_which_operator_drops_the_rows(tables):
    text = explain(plan("SELECT k FROM s$late", tables))

    assert "LateRows(operator=[source], time=[ts])" in text


def test_several_operators_make_a_union(tables):
    sql = (
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO lates {LATE}; INSERT INTO counts {TUMBLE}; "
        f"INSERT INTO counts {TUMBLE.replace('10', '20')}; END"
    )
    root = plan(sql, tables).roots[0]

    assert any(isinstance(node, UnionAll) for node in walk(root))
