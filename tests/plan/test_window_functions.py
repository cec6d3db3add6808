"""Window table functions, aggregation over their windows, and window Top-N, as plans."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.errors import PlanError
from tidemark.kernels.windows.spec import Cumulating, Emit, Firing, Session, Sliding
from tidemark.physical.explain import explain
from tidemark.plan.nodes import (
    AssignWindows,
    GroupAggregate,
    Node,
    WindowAggregate,
    WindowRank,
    walk,
)

DDL = """
CREATE TABLE s (k STRING, c STRING, i INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE z (k STRING, lz TIMESTAMP_LTZ(3), WATERMARK FOR lz AS lz) WITH ('connector' = 'fake');
CREATE VIEW tumbled AS
  SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE VIEW sessions AS
  SELECT * FROM TABLE(SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND));
"""
TUMBLED = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
WINDOW = "window_start, window_end"


@pytest.fixture
def tables():
    return world(DDL)


def parts(node: Node, kind: type) -> list:
    return [part for part in walk(node) if isinstance(part, kind)]


@pytest.mark.parametrize(
    ("call", "assigner"),
    [
        ("TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)", Sliding(10_000, 10_000)),
        (
            "TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '-3' SECOND)",
            Sliding(10_000, 10_000, -3_000),
        ),
        (
            "HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
            Sliding(10_000, 5_000),
        ),
        (
            "CUMULATE(DATA => TABLE s, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '5' SECOND, "
            "SIZE => INTERVAL '10' SECOND)",
            Cumulating(10_000, 5_000),
        ),
        (
            "SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
            Session(5_000),
        ),
    ],
)
def test_every_function_gives_its_windows(call, assigner, tables):
    [node] = parts(root(f"SELECT i, window_start FROM TABLE({call})", tables), AssignWindows)

    assert node.assigner == assigner


def test_window_columns_follow_those_of_the_table(tables):
    assert schema("SELECT * FROM tumbled", tables) == (
        "k STRING, c STRING, i INT, ts TIMESTAMP(3) *event*, "
        "pt TIMESTAMP_LTZ(3) NOT NULL *processing*, window_start TIMESTAMP(3) NOT NULL, "
        "window_end TIMESTAMP(3) NOT NULL, window_time TIMESTAMP(3) NOT NULL *event*"
    )
    assert (
        schema(
            "SELECT window_end, window_time FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(lz), "
            "INTERVAL '1' DAY))",
            tables,
        )
        == "window_end TIMESTAMP(3) NOT NULL, window_time TIMESTAMP_LTZ(3) NOT NULL *event*"
    )


# --- grouped -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT k, COUNT(*) FROM {TUMBLED} GROUP BY k, {WINDOW}",
        f"SELECT k, COUNT(*) FROM tumbled WHERE i > 3 GROUP BY {WINDOW}, k",
        "SELECT k, COUNT(*), b, MAX(j) FROM (SELECT UPPER(k) AS k, i + 1 AS j, window_start AS a, "
        "window_end AS b FROM tumbled) GROUP BY a, b, k",
        f"SELECT k, window_time, COUNT(*) FROM tumbled GROUP BY {WINDOW}, window_time, k",
    ],
)
def test_the_function_and_the_aggregation_are_one_operator(sql, tables):
    bound = root(sql, tables)
    [window] = parts(bound, WindowAggregate)

    assert parts(bound, AssignWindows) == []
    assert (window.assigner, window.given, len(window.keys)) == (Sliding(10_000, 10_000), None, 1)
    assert window.input.edge.columns[window.time].time == "event"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM tumbled WHERE window_start > ts GROUP BY {WINDOW}",
        f"SELECT MAX(window_time) FROM tumbled GROUP BY {WINDOW}",
        f"SELECT COUNT(*) FROM (SELECT * FROM tumbled UNION ALL SELECT * FROM tumbled) GROUP BY {WINDOW}",
    ],
)
def test_rows_have_window_columns_if_something_uses_the_window(sql, tables):
    bound = root(sql, tables)
    [window] = parts(bound, WindowAggregate)

    assert parts(bound, AssignWindows)
    assert window.given is not None


def test_the_windows_of_an_aggregation_can_be_grouped_again(tables):
    bound = root(
        f"SELECT window_start, MAX(n) FROM (SELECT {WINDOW}, k, COUNT(*) AS n FROM tumbled "
        f"GROUP BY {WINDOW}, k) GROUP BY {WINDOW}",
        tables,
    )
    upper, lower = parts(bound, WindowAggregate)

    assert upper.given is not None
    assert lower.given is None


def test_windows_cascade_by_window_time(tables):
    tables.plan_script(
        f"CREATE VIEW counted AS SELECT window_time AS r, COUNT(*) AS n FROM tumbled "
        f"GROUP BY {WINDOW}, window_time"
    )
    upper, _ = parts(
        root(
            "SELECT SUM(n) FROM TABLE(TUMBLE(TABLE counted, DESCRIPTOR(r), INTERVAL '1' MINUTE)) "
            f"GROUP BY {WINDOW}",
            tables,
        ),
        WindowAggregate,
    )

    assert (upper.assigner, upper.given) == (Sliding(60_000, 60_000), None)


def test_sessions_are_of_the_columns_that_they_are_grouped_by(tables):
    [window] = parts(
        root(f"SELECT k, COUNT(*) FROM sessions GROUP BY {WINDOW}, k", tables), WindowAggregate
    )

    assert window.assigner == Session(5_000)
    assert window.given is None


@pytest.mark.parametrize("more", ["", ", k, c", ", UPPER(k)"])
def test_sessions_that_are_grouped_otherwise_are_made_first(more, tables):
    bound = root(f"SELECT COUNT(*) FROM sessions GROUP BY {WINDOW}{more}", tables)
    [window], [made] = parts(bound, WindowAggregate), parts(bound, AssignWindows)

    assert window.given is not None
    assert made.assigner == Session(5_000)


def test_rows_of_sessions_are_kept_until_these_are_over(tables):
    text = explain(plan("SELECT i, window_start FROM sessions", tables))

    assert "WindowFunction(window=[SESSION(gap 5 s)], time=[ts], partition=[k])" in text
    assert "session-window-1: rows until the watermark has reached the end of their session" in text
    [made] = parts(root("SELECT i, window_start FROM sessions", tables), AssignWindows)
    assert made.input.edge.names == ("k", "i", "ts")
    assert made.edge.names[:3] == ("k", "i", "ts")


def test_the_rows_of_a_session_can_be_ranked(tables):
    bound = root(ranked(f"{WINDOW}, k", "i DESC", "rn <= 3", "sessions"), tables)

    assert parts(bound, WindowRank)
    assert parts(bound, AssignWindows)


@pytest.mark.parametrize(
    ("grouping", "sets"),
    [
        ("GROUPING SETS ((k, c), (k), ())", "ROW(k, c, 0), ROW(k, NULL, 1), ROW(NULL, NULL, 2)"),
        ("ROLLUP (k, c)", "ROW(k, c, 0), ROW(k, NULL, 1), ROW(NULL, NULL, 2)"),
        (
            "CUBE (k, c)",
            "ROW(k, c, 0), ROW(k, NULL, 1), ROW(NULL, c, 2), ROW(NULL, NULL, 3)",
        ),
        ("ROLLUP ((k, c))", "ROW(k, c, 0), ROW(NULL, NULL, 1)"),
        ("k, ROLLUP (c)", "ROW(k, c, 0), ROW(k, NULL, 1)"),
    ],
)
def test_grouping_sets_are_rows_each_once_per_set(grouping, sets, tables):
    text = explain(plan(f"SELECT COUNT(*) FROM tumbled GROUP BY {WINDOW}, {grouping}", tables))

    assert f"collection=[ARRAY({sets})]" in text


def test_a_key_that_is_not_in_all_grouping_sets_is_nullable_and_grouping_tells_why(tables):
    tables.plan_script(
        "CREATE TABLE nn (k STRING NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'fake')"
    )
    assert (
        schema(
            "SELECT k, GROUPING(k) AS g FROM TABLE(TUMBLE(TABLE nn, DESCRIPTOR(ts), "
            f"INTERVAL '1' SECOND)) GROUP BY {WINDOW}, ROLLUP (k)",
            tables,
        )
        == "k STRING, g BIGINT NOT NULL"
    )


def test_the_emit_clause_is_for_window_functions_too(tables):
    [window] = parts(
        root(f"SELECT COUNT(*) FROM tumbled GROUP BY {WINDOW} EMIT WITHOUT DELAY", tables),
        WindowAggregate,
    )

    assert window.emit == Emit(early=Firing(each_row=True))


# --- ranked ------------------------------------------------------------------------------------


def ranked(partition: str, order: str, where: str, source: str = "tumbled") -> str:
    return (
        f"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {partition} ORDER BY {order}) "
        f"AS rn FROM {source}) WHERE {where}"
    )


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("rn = 1", (1, 1)),
        ("rn <= 3", (1, 3)),
        ("3 > rn", (1, 2)),
        ("rn BETWEEN 2 AND 3", (2, 3)),
        ("rn > 1 AND rn <= 4 AND i > 0", (2, 4)),
    ],
)
def test_numbers_that_are_wanted_are_read_from_where(where, rows, tables):
    [rank] = parts(root(ranked(f"{WINDOW}, k", "i DESC", where), tables), WindowRank)

    assert (rank.low, rank.high) == rows
    assert len(rank.keys) == 1


def test_null_is_smallest_unless_nulls_first_or_last_is_given(tables):
    sql = ranked(WINDOW, "i, k DESC, c NULLS LAST", "rn <= 2")
    [rank] = parts(root(sql, tables), WindowRank)

    assert [(by.descending, by.nulls_last) for by in rank.order] == [
        (False, False),
        (True, True),
        (False, True),
    ]
    assert "order=[i, k DESC, c NULLS LAST], rows=[1 to 2]" in explain(plan(sql, tables))


@pytest.mark.parametrize(
    ("order", "where", "newest"),
    [("ts DESC", "rn = 1", True), ("ts", "rn = 1", False), ("ts DESC", "rn <= 2", False)],
)
def test_the_newest_row_of_a_window_is_the_last_to_arrive(order, where, newest, tables):
    [rank] = parts(root(ranked(f"{WINDOW}, k", order, where), tables), WindowRank)

    assert rank.newest_first is newest


def test_the_star_shows_what_was_there_and_the_number(tables):
    assert schema(
        ranked(WINDOW, "UPPER(k)", "rn <= 2", "(SELECT k, window_start, window_end FROM tumbled)"),
        tables,
    ) == (
        "k STRING, window_start TIMESTAMP(3) NOT NULL, window_end TIMESTAMP(3) NOT NULL, "
        "rn BIGINT NOT NULL"
    )


def test_rows_that_are_updated_cannot_be_numbered(tables):
    source = f"(SELECT {WINDOW}, COUNT(*) AS n FROM tumbled GROUP BY {WINDOW})"
    refused(
        f"SELECT * FROM (SELECT *, «ROW_NUMBER() OVER (PARTITION BY {WINDOW} ORDER BY n)» AS rn "
        f"FROM {source}) WHERE rn = 1 EMIT WITHOUT DELAY",
        at=tables,
    )


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "marked",
    [
        f"SELECT «TUMBLE_START(ts, INTERVAL '10' SECOND)» FROM {TUMBLED} "
        "GROUP BY window_start, window_end",
        "SELECT * FROM «TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts)))»",
        "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(«i»), INTERVAL '1' SECOND))",
        "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(«nope»), INTERVAL '1' SECOND))",
        "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), «INTERVAL '1' MONTH»))",
        "SELECT * FROM TABLE(TUMBLE(TABLE s, «ts», INTERVAL '1' SECOND))",
        "SELECT * FROM TABLE(TUMBLE(TABLE s PARTITION BY «k», DESCRIPTOR(ts), INTERVAL '1' SECOND))",
        "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' SECOND, "
        "«INTERVAL '2' SECOND»))",
        "SELECT * FROM TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '4' SECOND, "
        "«INTERVAL '10' SECOND»))",
        "SELECT * FROM TABLE(TUMBLE(DATA => TABLE s, TIMECOL => DESCRIPTOR(ts), "
        "«WIDTH => INTERVAL '1' SECOND»))",
        f"SELECT GROUPING(«i») FROM tumbled GROUP BY {WINDOW}, ROLLUP (k)",
    ],
)
def test_invalid_sql_is_refused_where_it_is(marked, tables):
    refused(marked, at=tables)


BY_CLOCK = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(pt), INTERVAL '10' SECOND))"


def test_what_waits_for_windows_by_the_clock_is_refused(tables):
    refused(
        f"SELECT * FROM (SELECT *, «ROW_NUMBER() OVER (PARTITION BY {WINDOW} ORDER BY i)» AS rn "
        f"FROM {BY_CLOCK}) WHERE rn = 1",
        PlanError,
        at=tables,
    )


COUNTED_BY_CLOCK = f"SELECT k, {WINDOW}, COUNT(*) AS c FROM {BY_CLOCK} GROUP BY k, {WINDOW}"


@pytest.mark.parametrize(
    "rows",
    [
        f"({COUNTED_BY_CLOCK})",
        f"(SELECT i AS c, {WINDOW} FROM {BY_CLOCK} WHERE window_start > ts)",
        f"(SELECT i AS c, {WINDOW} FROM TABLE(SESSION(TABLE s PARTITION BY k, DESCRIPTOR(pt), "
        "INTERVAL '10' SECOND)))",
    ],
)
def test_groups_of_windows_by_the_clock_never_end_above_other_operators(rows, tables):
    bound = root(f"SELECT MAX(c), window_end FROM {rows} GROUP BY {WINDOW}", tables)

    [groups] = parts(bound, GroupAggregate)
    assert groups.edge.names == ("window_start", "window_end", "$result0")
    assert groups.edge.keys == (("window_start", "window_end"),)


def test_groups_by_the_clock_may_be_by_the_time_of_the_window_and_in_sets(tables):
    assert (
        schema(
            "SELECT k, window_time, SUM(c) AS s, GROUPING(k) AS g "
            f"FROM (SELECT k, {WINDOW}, window_time, 1 AS c FROM {BY_CLOCK} WHERE window_end > ts) "
            f"GROUP BY window_time, {WINDOW}, ROLLUP (k)",
            tables,
        )
        == "k STRING, window_time TIMESTAMP_LTZ(3) NOT NULL, s INT NOT NULL, g BIGINT NOT NULL"
    )


def test_grouping_by_the_start_alone_never_ends(tables):
    bound = root("SELECT COUNT(*) FROM tumbled GROUP BY window_start", tables)

    assert parts(bound, GroupAggregate)
    assert parts(bound, AssignWindows)


def test_the_keys_for_early_results_are_for_group_windows(tables):
    tables.plan_script(
        "SET 'table.exec.emit.early-fire.enabled' = 'true';"
        "SET 'table.exec.emit.early-fire.delay' = '0 s'"
    )
    error = refused(f"SELECT COUNT(*) FROM tumbled «GROUP BY {WINDOW}»", at=tables)

    assert "EMIT" in (error.hint or "")
