"""Operators move and keep only the columns that are used."""

from __future__ import annotations

import pytest

from tests.plan.marked import root
from tests.plan.test_temporal_joins import join_of, tables
from tidemark.plan.nodes import Project, TopN, walk

__all__ = ["tables"]


@pytest.mark.parametrize(
    ("selected", "left", "right", "output"),
    [
        ("o.id, x.rate", ("id", "cur", "ts"), ("cur", "rate", "rt"), ("id", "rate")),
        ("x.rt, o.cur", ("cur", "ts"), ("cur", "rt"), ("cur", "rt")),
        (
            "o.id + x.rate AS r, o.id AS i",
            ("id", "cur", "ts"),
            ("cur", "rate", "rt"),
            ("id", "rate"),
        ),
    ],
)
def test_a_join_takes_keys_times_and_what_is_selected(selected, left, right, output, tables):
    sql = f"SELECT {selected} FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"
    join = join_of(sql, tables)

    assert join.left.edge.names == left
    assert join.right.edge.names == right
    assert join.edge.names == output


def test_a_condition_above_a_join_asks_for_its_columns(tables):
    sql = (
        "SELECT o.id FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x "
        "ON o.cur = x.cur AND x.rate > o.id"
    )

    assert join_of(sql, tables).edge.names == ("id", "rate")


@pytest.mark.parametrize("rows", ["LIMIT 2", "WHERE id > 1 LIMIT 2 OFFSET 1"])
def test_the_first_rows_keep_a_column_that_nothing_reads(rows, tables):
    node = root(f"SELECT COUNT(*) FROM (SELECT * FROM o {rows})", tables)
    [first] = [part for part in walk(node) if isinstance(part, TopN)]

    assert len(first.edge.columns) == 1


def test_rows_stay_where_no_column_is_selected(tables):
    sql = "SELECT 1 FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"

    assert join_of(sql, tables).edge.names == ("cur",)


def test_a_query_keeps_its_columns_and_their_order(tables):
    sql = "SELECT x.rate, o.ts, o.id FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.cur = x.cur"
    query = root(sql, tables)

    assert isinstance(query, Project)
    assert query.edge.names == ("rate", "ts", "id")
    assert [e.name for e in query.expressions] == ["rate", "ts", "id"]
