"""INTERSECT and EXCEPT: joins and counts of rows that exist already."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.errors import PlanError
from tidemark.plan.nodes import GroupAggregate, RegularJoin, Unnest, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (a INT, b STRING) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (c BIGINT, d STRING) WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def kinds(sql: str, tables: Workspace) -> list[str]:
    """The stateful operators, from the top."""
    return [type(node).__name__ for node in walk(root(sql, tables)) if node.is_stateful]


@pytest.mark.parametrize(("word", "how"), [("INTERSECT", "semi"), ("EXCEPT", "anti")])
def test_a_set_operation_joins_the_sides_and_drops_duplicates(word, how, tables):
    sql = f"SELECT a, b FROM l {word} SELECT c, d FROM r"
    [join] = [node for node in walk(root(sql, tables)) if isinstance(node, RegularJoin)]

    assert (join.how, join.left_keys, join.nulls_equal) == (how, (0, 1), (True, True))
    assert kinds(sql, tables) == ["GroupAggregate", "RegularJoin"]
    assert schema(sql, tables) == "a BIGINT, b STRING"


def test_rows_that_are_distinct_already_are_not_grouped_again(tables):
    sql = "SELECT b FROM l INTERSECT SELECT d FROM r EXCEPT SELECT d FROM r WHERE c > 1"

    assert kinds(sql, tables) == ["RegularJoin", "GroupAggregate", "RegularJoin"]


@pytest.mark.parametrize("word", ["INTERSECT", "EXCEPT"])
def test_all_counts_the_rows_of_both_sides_and_repeats_them(word, tables):
    sql = f"SELECT b FROM l {word} ALL SELECT d FROM r"
    found = list(walk(root(sql, tables)))

    [counts] = [node for node in found if isinstance(node, GroupAggregate)]
    assert [call.function for call in counts.calls] == ["COUNT", "COUNT"]
    assert any(isinstance(node, Unnest) for node in found)
    assert schema(sql, tables) == "b STRING"


def test_both_sides_need_columns_of_the_same_types(tables):
    error = refused("SELECT a FROM l EXCEPT ALL «SELECT c, d FROM r»", PlanError, at=tables)
    assert error.message.startswith("EXCEPT ALL requires the same number of columns")

    error = refused("SELECT a FROM l INTERSECT «SELECT d FROM r»", PlanError, at=tables)
    assert error.message == "INTERSECT: column `a` is INT on the left and STRING on the right"


@pytest.mark.parametrize(
    ("first", "second", "type_"),
    [("ts FROM x", "tc FROM y", "TIMESTAMP(3)"), ("tc FROM y", "ts FROM x", "TIMESTAMP_LTZ(3)")],
)
def test_an_event_time_of_another_kind_becomes_that_of_the_first_query(first, second, type_):
    tables = world(
        "CREATE TABLE x (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');"
        "CREATE TABLE y (tc TIMESTAMP_LTZ(3), WATERMARK FOR tc AS tc) WITH ('connector' = 'fake');"
    )
    sql = f"SELECT {first} UNION ALL SELECT {second}"
    [column] = root(sql, tables).edge.columns

    assert (column.time, column.type.text()) == ("event", type_)
    assert any("their watermarks" in warning for warning in plan(sql, tables).warnings)
