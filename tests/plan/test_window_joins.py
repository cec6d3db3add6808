"""Window joins: what they mean as a plan, and what is refused, with the caret at the guilty SQL."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.errors import NotSupported, PlanError
from tidemark.kernels.windows.spec import Sliding
from tidemark.physical.explain import explain
from tidemark.plan.nodes import (
    Filter,
    IntervalJoin,
    RegularJoin,
    WindowAggregate,
    WindowJoin,
    delay_ms,
    is_stateful,
    walk,
)
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (
  id INT NOT NULL, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3), lz TIMESTAMP_LTZ(3),
  pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake');
CREATE TABLE r (id BIGINT NOT NULL, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3),
  pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE z (id INT, k STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE TABLE updated (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
"""

SAME = "a.window_start = b.window_start AND a.window_end = b.window_end"


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def tumble(table: str, seconds: int = 10, time: str = "ts") -> str:
    return f"TABLE(TUMBLE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '{seconds}' SECOND))"


def query(on: str, how: str = "", right: str = "r") -> str:
    return f"SELECT a.id, b.id FROM {tumble('l')} AS a {how} JOIN {tumble(right)} AS b ON {on}"


def join_of(sql: str, tables: Workspace) -> WindowJoin:
    [found] = [node for node in walk(root(sql, tables)) if isinstance(node, WindowJoin)]
    return found


def names(join: WindowJoin, places: tuple[int, ...], side: str) -> list[str]:
    return [getattr(join, side).edge.names[place] for place in places]


@pytest.mark.parametrize(
    "sql",
    [
        query(f"a.k = b.k AND {SAME}"),
        query("b.window_end = a.window_end AND a.k = b.k AND (b.window_start = a.window_start)"),
        query(f"{SAME} WHERE b.k = a.k"),
        f"SELECT a.id FROM {tumble('l')} AS a, {tumble('r')} AS b WHERE a.k = b.k AND {SAME}",
        f"SELECT a.id FROM (SELECT * FROM {tumble('l')} WHERE v > 1) AS a "
        f"JOIN (SELECT k, window_end AS e, window_start AS s FROM {tumble('r')}) AS b "
        "ON a.k = b.k AND a.window_start = b.s AND a.window_end = b.e",
    ],
)
def test_a_join_on_both_bounds_of_the_same_windows_is_a_window_join(sql, tables):
    join = join_of(sql, tables)

    assert join.how == "inner"
    assert names(join, join.left_keys, "left") == ["k"]
    assert names(join, join.right_keys, "right") == ["k"]
    assert names(join, join.left_window, "left") == ["window_start", "window_end"]
    windows = [join.right.edge.columns[place].window for place in join.right_window]
    assert [(w.says, w.assigner) for w in windows if w is not None] == [
        ("start", Sliding(10_000, 10_000)),
        ("end", Sliding(10_000, 10_000)),
    ]


def sessions(table: str, seconds: int = 5, of: str = "PARTITION BY k", time: str = "ts") -> str:
    arguments = f"TABLE {table} {of}, DESCRIPTOR({time}), INTERVAL '{seconds}' SECOND"
    return f"TABLE(SESSION({arguments}))"


# Partitioned otherwise it is a regular join in Flink, with the same pairs.
@pytest.mark.parametrize("of", ["PARTITION BY k", "PARTITION BY v", ""])
def test_sessions_of_each_side_join_by_their_bounds(of, tables):
    sql = (
        f"SELECT a.id FROM {sessions('l')} AS a FULL JOIN {sessions('r', of=of)} AS b "
        f"ON a.k = b.k AND {SAME}"
    )
    join = join_of(sql, tables)

    assert names(join, join.left_window, "left") == ["window_start", "window_end"]
    assert [is_stateful(side) for side in (join.left, join.right)] == [True, True]


@pytest.mark.parametrize(("words", "how"), [("LEFT", "left"), ("RIGHT", "right"), ("FULL", "full")])
def test_padded_columns_take_nulls_and_time_attributes_survive(words, how, tables):
    sql = (
        f"SELECT a.id, a.window_time AS wt, b.id AS rid FROM {tumble('l')} AS a "
        f"{words} JOIN {tumble('r')} AS b ON a.k = b.k AND {SAME}"
    )
    not_null = "" if how in ("right", "full") else " NOT NULL"
    not_null_right = "" if how in ("left", "full") else " NOT NULL"

    assert join_of(sql, tables).how == how
    assert schema(sql, tables) == (
        f"id INT{not_null}, wt TIMESTAMP(3){not_null} *event*, rid BIGINT{not_null_right}"
    )
    assert is_stateful(root(sql, tables))
    assert delay_ms(root(sql, tables)) == 0


def test_columns_that_are_not_used_do_not_wait_with_the_rows(tables):
    join = join_of(query(f"a.k = b.k AND {SAME} AND a.v < b.v", "LEFT"), tables)

    assert join.left.edge.names == ("id", "k", "v", "window_start", "window_end")
    assert join.right.edge.names == ("id", "k", "v", "window_start", "window_end")
    assert join.condition is not None


def test_what_remains_of_an_inner_joins_condition_is_a_filter_above_it(tables):
    sql = query(f"a.k = b.k AND {SAME} AND a.d * b.d > 3")

    assert any(isinstance(node, Filter) for node in walk(root(sql, tables)))
    assert join_of(sql, tables).condition is None


def test_keys_may_be_expressions_and_take_nulls(tables):
    on = f"a.id = b.id AND UPPER(a.k) = b.k AND a.v IS NOT DISTINCT FROM b.v AND {SAME}"
    join = join_of(query(on, "FULL"), tables)

    types = [str(join.left.edge.columns[place].type) for place in join.left_keys]
    assert types == ["BIGINT NOT NULL", "STRING", "INT"]
    assert join.nulls_equal == (False, False, True)


def test_windows_of_aggregates_join_too_and_joined_rows_aggregate_by_their_window(tables):
    sums = (
        "(SELECT k, window_start, window_end, COUNT(*) AS n FROM {} "
        "GROUP BY k, window_start, window_end)"
    )
    sql = (
        f"SELECT a.window_start, a.window_end, SUM(a.n + b.n) AS n FROM {sums.format(tumble('l'))} "
        f"AS a JOIN {sums.format(tumble('r'))} AS b ON a.k = b.k AND {SAME} "
        "GROUP BY a.window_start, a.window_end"
    )
    top = root(sql, tables)

    assert len([node for node in walk(top) if isinstance(node, WindowJoin)]) == 1
    first = next(node for node in walk(top) if isinstance(node, WindowAggregate))
    assert first.given is not None


@pytest.mark.parametrize(
    ("test", "how", "keys"),
    [
        (f"EXISTS (SELECT 1 FROM {tumble('r')} AS b WHERE b.k = a.k AND {SAME})", "semi", 1),
        (f"NOT EXISTS (SELECT 1 FROM {tumble('r')} AS b WHERE b.k = a.k AND {SAME})", "anti", 1),
        (f"a.k IN (SELECT k FROM {tumble('r')} AS b WHERE {SAME})", "semi", 1),
        # NULL might be equal to anything, so it is not a key.
        (f"a.k NOT IN (SELECT k FROM {tumble('r')} AS b WHERE {SAME})", "anti", 0),
        (f"a.id NOT IN (SELECT id FROM {tumble('r')} AS b WHERE {SAME})", "anti", 1),
    ],
)
def test_subqueries_over_the_same_windows_are_semi_and_anti_joins(test, how, keys, tables):
    sql = f"SELECT a.id FROM {tumble('l')} AS a WHERE a.v > 1 AND {test}"
    join = join_of(sql, tables)

    assert (join.how, len(join.left_keys)) == (how, keys)
    assert (join.condition is None) == (keys == 1)
    assert schema(sql, tables) == "id INT NOT NULL"


def test_a_name_in_a_subquery_means_its_own_table_first(tables):
    test = "v > 3 AND k = a.k AND window_start = a.window_start AND window_end = a.window_end"
    sql = (
        f"SELECT id FROM {tumble('l')} AS a WHERE EXISTS (SELECT 1 FROM {tumble('r')} WHERE {test})"
    )
    join = join_of(sql, tables)

    assert names(join, join.left_keys, "left") == ["k"]
    assert "v" not in join.left.edge.names


def test_explain_says_what_waits_and_until_when(tables):
    text = explain(plan(query(f"a.k = b.k AND {SAME} AND a.v < b.v", "LEFT"), tables))

    assert "WindowJoin(left, window=[TUMBLE(size 10 s)], key=[k = k], where=[(v < v)])" in text
    assert "rows of both sides until the watermark reaches their window_end" in text


def test_a_join_of_windows_alone_is_warned_of(tables):
    [warning] = plan(query(SAME), tables).warnings

    assert "no equality besides its windows" in warning


# --- what is a regular join, as in Flink ---------------------------------------------------------

A, B = f"{tumble('l')} AS a", f"{tumble('r')} AS b"


@pytest.mark.parametrize(
    ("sides", "on", "why"),
    [
        (f"{A} JOIN {B}", "a.window_start = b.window_start", "without l.window_end = r.window_end"),
        (f"{A} JOIN {tumble('r', 20)} AS b", SAME, "TUMBLE(size 10 s) and TUMBLE(size 20 s)"),
        (f"{sessions('l')} AS a JOIN {sessions('r', 6)} AS b", SAME,
         "SESSION(gap 5 s) and SESSION(gap 6 s)"),
        (f"{A} JOIN {tumble('z')} AS b", SAME, "by TIMESTAMP(3) and by TIMESTAMP_LTZ(3)"),
    ],
)  # fmt: skip
def test_windows_that_may_differ_are_joined_as_any_columns_and_warned_of(sides, on, why, tables):
    planned = plan(f"SELECT a.id FROM {sides} ON a.k = b.k AND {on}", tables)

    assert any(isinstance(node, RegularJoin) for node in walk(planned.roots[0]))
    [warning] = planned.warnings
    assert "a regular join, which keeps rows forever" in warning
    assert why in warning


def test_a_join_with_a_side_without_windows_is_not_a_window_join(tables):
    planned = plan(f"SELECT a.id FROM {A} JOIN r AS b ON a.k = b.k", tables)

    assert any(isinstance(node, RegularJoin) for node in walk(planned.roots[0]))
    assert planned.warnings == ()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "side"), [("updated", "r", "left"), ("l", "updated", "right")]
)
def test_changelogs_are_refused(one, other, side, tables):
    sql = f"SELECT a.id FROM {tumble(one)} AS a «JOIN {tumble(other)} AS b ON a.k = b.k AND {SAME}»"

    assert f"the {side} side is a changelog" in str(refused(sql, PlanError, at=tables))


@pytest.mark.parametrize("windows", [tumble, sessions])
def test_windows_of_processing_time_are_refused(windows, tables):
    sql = (
        f"SELECT a.id FROM {windows('l', time='pt')} AS a "
        f"«JOIN {windows('r', time='pt')} AS b ON a.k = b.k AND {SAME}»"
    )

    assert "processing-time windows" in refused(sql, NotSupported, at=tables).message


def test_not_in_with_nulls_is_a_condition_of_an_interval_join(tables):
    near = "l.ts BETWEEN r.ts AND r.ts + INTERVAL '3' SECOND"
    sql = f"SELECT id FROM l WHERE l.k NOT IN (SELECT k FROM r WHERE {near})"
    [join] = [node for node in walk(root(sql, tables)) if isinstance(node, IntervalJoin)]

    assert (join.how, join.left_keys, join.condition is None) == ("anti", (), False)
