"""Top-N, ORDER BY and LIMIT: what is planned, and what is refused."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported, PlanError
from tidemark.plan.nodes import SortByTime, TopN, walk

DDL = """
CREATE TABLE s (k STRING, c STRING, i INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
"""
COUNTED = "(SELECT k, c, COUNT(*) AS n, MIN(i) AS least, MAX(i) AS most FROM s GROUP BY k, c)"


@pytest.fixture
def tables():
    return world(DDL)


def ranked(over: str, where: str = "rn <= 3", items: str = "*", rows: str = "s") -> str:
    numbered = f"SELECT *, ROW_NUMBER() OVER ({over}) AS rn FROM {rows}"
    return f"SELECT {items} FROM ({numbered}) WHERE {where}"


def top_n(query: str, tables) -> TopN:
    [found] = [node for node in walk(root(query, tables)) if isinstance(node, TopN)]
    return found


@pytest.mark.parametrize(
    ("where", "ranks"),
    [
        ("rn <= 3", (1, 3)),
        ("rn = 2", (2, 2)),
        ("3 > rn AND rn > 1", (2, 2)),
        ("rn BETWEEN 2 AND 5 AND rn < 5", (2, 4)),
    ],
)
def test_conditions_on_the_number_say_which_rows_are_wanted(where, ranks, tables):
    found = top_n(ranked("PARTITION BY k ORDER BY i", where), tables)

    assert (found.low, found.high) == ranks


def test_the_number_is_only_kept_up_to_date_if_it_is_selected(tables):
    assert top_n(ranked("ORDER BY i"), tables).ranked
    assert not top_n(ranked("ORDER BY i", items="k"), tables).ranked


def test_only_requested_columns_reach_the_operator(tables):
    found = top_n(ranked("PARTITION BY k ORDER BY i", items="k, rn"), tables)

    assert found.input.edge.names == ("k", "i")


def test_keys_and_orders_may_be_expressions(tables):
    query = ranked("PARTITION BY UPPER(k), i + 1 ORDER BY i * 2 DESC NULLS FIRST, ts")

    assert schema(query, tables) == (
        "k STRING, c STRING, i INT, ts TIMESTAMP(3) *event*, pt TIMESTAMP_LTZ(3) NOT NULL "
        "*processing*, rn BIGINT NOT NULL"
    )
    assert "DESC NULLS FIRST, ts" in top_n(query, tables).description.details[1]


def test_a_row_and_its_number_identify_the_rows_of_a_key(tables):
    one = edge(ranked("PARTITION BY k ORDER BY i", "rn = 2"), tables)
    more = edge(ranked("PARTITION BY k ORDER BY i"), tables)

    assert (one.keys, more.keys) == ((("k",),), (("k", "rn"),))
    assert one.changelog is Changelog.RETRACT


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        ("n DESC", "updates"),
        ("most DESC, k", "updates"),
        ("least NULLS LAST", "updates"),
        ("least", "retractions"),  # NULL, which is first, may become a number
        ("most DESC NULLS FIRST", "retractions"),
        ("n", "retractions"),
        ("n DESC, most", "retractions"),
        ("n + 1 DESC", "retractions"),
    ],
)
def test_only_rows_that_get_better_replace_themselves(order, rows, tables):
    found = top_n(ranked(f"PARTITION BY k ORDER BY {order}", rows=COUNTED), tables)

    assert found.rows == rows
    assert bool(found.unique) == (rows == "updates")


def test_a_filter_of_what_changes_may_delete_rows(tables):
    on_key, on_count = (
        top_n(ranked("ORDER BY n DESC", rows=f"(SELECT * FROM {COUNTED} WHERE {where})"), tables)
        for where in ("k <> 'x'", "n < 5")
    )

    assert (on_key.rows, on_count.rows) == ("updates", "retractions")


def test_ranks_by_something_else_than_the_groups_need_all_rows(tables):
    assert top_n(ranked("PARTITION BY most ORDER BY n DESC", rows=COUNTED), tables).rows == (
        "retractions"
    )


def test_explain_says_what_is_kept(tables):
    said = top_n(ranked("PARTITION BY k ORDER BY i DESC, c"), tables).description

    assert said.details == ("key=[k]", "order=[i DESC, c]", "rows=[1 to 3]")
    assert said.keeps.startswith("the first 3 row(s) of each key; until 'table.exec.state.ttl'")


def test_qualify_is_a_condition_on_window_functions(tables):
    number = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY i DESC)"
    hidden = f"SELECT k FROM s AS x QUALIFY {number} <= 2 AND x.c <> 'a'"
    named = f"SELECT k, {number} AS rn FROM s QUALIFY rn <= 2 ORDER BY c LIMIT 5"

    assert schema(hidden, tables) == "k STRING"
    assert [n.high for n in walk(root(hidden, tables)) if isinstance(n, TopN)] == [2]
    assert schema(named, tables) == "k STRING, rn BIGINT NOT NULL"
    assert [n.high for n in walk(root(named, tables)) if isinstance(n, TopN)] == [5, 2]


# --- ORDER BY and LIMIT --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("SELECT k, i FROM s ORDER BY i LIMIT 2", "i"),
        ("SELECT k, i FROM s ORDER BY 2 DESC LIMIT 2", "i DESC"),
        ("SELECT i AS k, k AS i FROM s ORDER BY k LIMIT 2", "k"),
        ("SELECT * FROM s ORDER BY s.k, i FETCH NEXT 2 ROWS ONLY", "k, i"),
        ("SELECT DISTINCT k FROM s ORDER BY k LIMIT 2", "k"),
        ("SELECT DISTINCT (s.k), i AS n FROM s ORDER BY s.k, i LIMIT 2", "k, n"),
        ("SELECT DISTINCT i, UPPER(k) FROM s ORDER BY UPPER(k) LIMIT 2", "EXPR$1"),
        ("SELECT s.i, c.k FROM s JOIN s AS c ON s.i = c.i ORDER BY k, i LIMIT 2", "k, i"),
        ("SELECT * FROM s JOIN s AS c ON s.i = c.i ORDER BY k DESC LIMIT 2", "k DESC"),
        ("SELECT c.*, s.k AS x FROM s JOIN s AS c ON s.i = c.i ORDER BY k, x LIMIT 2", "k, x"),
        ("SELECT k FROM s UNION ALL SELECT c FROM s ORDER BY k LIMIT 2", "k"),
        ("SELECT k, COUNT(*) AS n FROM s GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2", "n DESC"),
        ("SELECT k FROM s LIMIT 2", "as they arrive"),
    ],
)
def test_a_query_is_ordered_by_its_columns_or_those_of_its_rows(query, order, tables):
    found = top_n(query, tables)

    assert found.description.details[0] == f"order=[{order}]"
    assert (found.low, found.high, found.keys) == (1, 2, ())


def test_an_offset_leaves_out_the_first_rows(tables):
    found = top_n("SELECT k FROM s ORDER BY i LIMIT 2 OFFSET 3", tables)

    assert (found.low, found.high) == (4, 5)


def test_the_first_rows_to_arrive_are_never_retracted(tables):
    assert edge("SELECT k FROM s LIMIT 2", tables).changelog is Changelog.APPEND
    assert edge("SELECT k FROM s ORDER BY k LIMIT 2", tables).changelog is Changelog.RETRACT


def test_columns_to_order_by_do_not_come_out(tables):
    assert schema("SELECT k FROM s ORDER BY i + 1, c LIMIT 2", tables) == "k STRING"


def test_a_stream_is_sorted_by_its_time(tables):
    [found] = [
        node
        for node in walk(root("SELECT ts, i FROM s ORDER BY ts, i DESC", tables))
        if isinstance(node, SortByTime)
    ]

    assert found.description.details == ("order=[ts, i DESC]",)
    assert edge("SELECT k FROM s ORDER BY ts", tables).changelog is Changelog.APPEND


def test_in_processing_time_rows_come_in_order(tables):
    assert not any(n.is_stateful for n in walk(root("SELECT k FROM s ORDER BY pt", tables)))


@pytest.mark.parametrize("limit", ["ORDER BY {} LIMIT 2", "rn <= 2"])
def test_in_processing_time_the_newest_rows_are_the_last_to_arrive(limit, tables):
    query = f"SELECT k FROM s {limit.format('pt DESC, i')}"
    if limit.startswith("rn"):
        query = (
            "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC, i) AS rn "
            f"FROM s) WHERE {limit}"
        )
    found = top_n(query, tables)

    assert (found.order, found.newest_first) == ((), True)
    assert found.edge.changelog is Changelog.RETRACT
    assert "order=[newest first]" in found.description.details


@pytest.mark.parametrize("order", ["pt", "pt DESC", "n"])
def test_rows_that_change_are_kept_without_their_processing_times(order, tables):
    """Those of a retraction are not those of the row that it retracts."""
    counted = "(SELECT k, COUNT(*) AS n, PROCTIME() AS pt FROM s GROUP BY k)"
    query = (
        f"SELECT k, n, pt FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY {order}) AS rn "
        f"FROM {counted}) WHERE rn <= 2"
    )
    found = top_n(query, tables)

    assert not any(column.time == "processing" for column in found.input.edge.columns)
    assert not found.newest_first
    assert edge(query, tables).columns[2].time == "processing"


def test_the_order_of_a_subquery_has_no_effect(tables):
    query = "SELECT k, COUNT(*) AS n FROM (SELECT * FROM s ORDER BY i) GROUP BY k"

    assert not any(isinstance(node, TopN | SortByTime) for node in walk(root(query, tables)))


def test_a_batch_is_sorted_as_a_whole(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")
    found = top_n("SELECT k FROM s ORDER BY i DESC OFFSET 2", tables)

    assert (found.at_end, found.low, found.high) == (True, 3, None)
    assert found.edge.changelog is Changelog.APPEND


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT k FROM s «ORDER BY i»",
        "SELECT k FROM s «ORDER BY ts DESC»",
        "SELECT k FROM s UNION ALL SELECT c FROM s «ORDER BY k»",
        f"SELECT k FROM {COUNTED} «ORDER BY n»",
        "SELECT k FROM s ORDER BY i «OFFSET 2»",
        "SELECT k FROM s ORDER BY «2» LIMIT 3",
        "SELECT k FROM s ORDER BY «nosuch» LIMIT 3",
        "SELECT k FROM s GROUP BY k ORDER BY «i» LIMIT 3",
        "SELECT DISTINCT k FROM s ORDER BY «i» LIMIT 3",
        "SELECT * FROM (SELECT *, «ROW_NUMBER() OVER (PARTITION BY k ORDER BY i)» AS rn FROM s) "
        "WHERE rn > 2",
    ],
)
def test_what_a_stream_cannot_order_is_refused(marked, tables):
    refused(marked, PlanError, at=tables)


def test_numbers_without_an_order_are_refused(tables):
    numbered = "SELECT *, «ROW_NUMBER() OVER (PARTITION BY k)» AS rn FROM s"
    refused(f"SELECT * FROM ({numbered}) WHERE rn = 2", NotSupported, at=tables)
