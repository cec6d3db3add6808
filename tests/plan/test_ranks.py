"""ROW_NUMBER() in a subquery: which kind of ranking it is, and what is refused of it."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.plan.bind.ranks import RULES
from tidemark.plan.nodes import KeepFirst, KeepLast, LateRows, TemporalJoin, TopN, WindowRank, walk

DDL = """
CREATE TABLE s (k STRING, c STRING, i INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE o (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE kept (k STRING, i INT) WITH ('connector' = 'fake');
CREATE TABLE lates (k STRING, o STRING) WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables():
    return world(DDL)


def ranked(order: str, where: str = "rn = 1", items: str = "*", over: str = "s") -> str:
    return (
        f"SELECT {items} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS rn "
        f"FROM {over}) WHERE {where}"
    )


@pytest.mark.parametrize("function", ["RANK", "DENSE_RANK"])
@pytest.mark.parametrize(
    ("order", "unique"), [("ts", False), ("ts DESC", False), ("i DESC, c", False)]
)
def test_any_number_of_rows_may_have_the_first_rank(function, order, unique, tables):
    sql = ranked(order, items="k, i, rn").replace("ROW_NUMBER", function)
    [top] = [n for n in walk(root(sql, tables)) if isinstance(n, TopN)]

    assert (top.by, top.high) == (function, 1)
    assert bool(edge(sql, tables).keys) == unique
    assert f"{function}=[1]" in top.description.details


def test_rows_that_get_better_change_the_ranks_of_others(tables):
    counted = "(SELECT k, c, COUNT(*) AS i FROM s GROUP BY k, c)"
    sql = ranked("i DESC", "rn <= 3", over=counted)
    tops = [
        next(n for n in walk(root(one, tables)) if isinstance(n, TopN))
        for one in (sql, sql.replace("ROW_NUMBER", "RANK"))
    ]

    assert [top.rows for top in tops] == ["updates", "retractions"]


def test_ranks_in_windows_are_window_ranks(tables):
    windowed = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    sql = ranked("i", "rn <= 2", items="k, i, rn", over=windowed).replace("ROW_NUMBER", "RANK")
    sql = sql.replace("PARTITION BY k", "PARTITION BY k, window_start, window_end")
    [rank] = [n for n in walk(root(sql, tables)) if isinstance(n, WindowRank)]

    assert rank.by == "RANK"
    assert "RANK=[1 to 2]" in rank.description.details


def test_a_rank_without_an_end_is_refused_on_a_stream(tables):
    error = refused(
        "SELECT * FROM (SELECT *, «RANK() OVER (PARTITION BY k ORDER BY i)» AS rn FROM s) "
        "WHERE rn >= 2",
        at=tables,
    )
    assert error.message == "RANK() on a stream requires a rank end"


@pytest.mark.parametrize("where", ["rn = 1", "1 = rn", "rn <= 1", "rn < 2", "rn BETWEEN 1 AND 1"])
def test_the_first_row_number_may_be_selected_in_any_way(where, tables):
    assert [type(n) for n in walk(root(ranked("ts", where), tables))].count(KeepFirst) == 1


def test_the_first_row_of_a_key_is_never_retracted(tables):
    first = edge(ranked("ts"), tables)

    assert first.changelog is Changelog.APPEND
    assert first.keys == (("k",),)
    assert edge(ranked("ts DESC"), tables).changelog is Changelog.RETRACT


def test_the_number_of_a_first_row_is_one(tables):
    assert schema(ranked("ts", items="k, ts, rn"), tables) == (
        "k STRING, ts TIMESTAMP(3) *event*, rn BIGINT NOT NULL"
    )


def test_only_requested_columns_reach_the_operator(tables):
    [first] = [n for n in walk(root(ranked("ts", items="i"), tables)) if isinstance(n, KeepFirst)]

    assert first.input.edge.names == ("k", "i", "ts")


def test_the_first_row_in_processing_time_is_the_first_to_arrive(tables):
    processing_time, by_time = (
        next(n for n in walk(root(ranked(order), tables)) if isinstance(n, KeepFirst))
        for order in ("pt", "ts")
    )

    assert (processing_time.processing_time, by_time.processing_time) == (True, False)


def test_first_rows_by_the_clock_never_change(tables):
    ranked = "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS rn FROM s) WHERE rn <= 2"

    changes = [edge(ranked.format(by), tables).changes for by in ("PROCTIME()", "PROCTIME() DESC")]
    assert changes == [False, True]


def test_explain_says_what_is_kept(tables):
    [first] = [n for n in walk(root(ranked("ts"), tables)) if isinstance(n, KeepFirst)]
    said = first.description

    assert (said.name, said.details) == ("KeepFirst", ("key=[k]", "first by=[ts]"))
    assert "its first row until the watermark reaches the row's ts" in said.keeps


def test_a_view_of_first_rows_is_a_versioned_table(tables):
    tables.plan_script(f"CREATE VIEW firsts AS {ranked('ts', items='k, i, ts')}")
    join = "SELECT o.k, v.i FROM o JOIN firsts FOR SYSTEM_TIME AS OF o.ts AS v ON o.k = v.k"

    assert any(isinstance(node, TemporalJoin) for node in walk(root(join, tables)))


def test_rows_before_the_watermark_are_late_for_it(tables):
    both = plan(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO kept {ranked('ts', items='k, i')}; "
        "INSERT INTO lates SELECT k, late_operator FROM s$late; END",
        tables,
    )

    [late] = [node for node in walk(both.of_single_roots.roots[1]) if isinstance(node, LateRows)]
    assert (late.operator, late.lateness_ms) == ("keep-first of k", 1)


@pytest.mark.parametrize(
    ("order", "node", "rule"),
    [
        ("ts", KeepFirst, "keep first"),
        ("ts DESC", KeepLast, "keep last"),
        ("i DESC", TopN, "top n"),
    ],
)
def test_each_kind_of_ranking_has_a_rule(order, node, rule, tables):
    assert any(isinstance(part, node) for part in walk(root(ranked(order), tables)))
    assert rule in [known.name for known in RULES]
