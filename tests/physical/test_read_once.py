"""A table of which an operator gets several inputs is read once, with the columns of all of them."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark import types as t
from tidemark.physical import ColumnStage, Operator, PhysicalPlan, Settings, physical_plan
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Scan
from tidemark.plan.nodes.rows_read import with_rows_read

TABLES = """
CREATE TABLE events (
  kind INT, a ROW<id INT, name STRING, q ROW<x INT, y INT>>, b ROW<id INT, note STRING>, c ROW<id INT, n INT>,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'fake');
CREATE TABLE others (kind INT, a ROW<id INT>) WITH ('connector' = 'fake');
"""
SIDES = "SELECT * FROM (SELECT {}) AS l JOIN (SELECT {}) AS r ON l.id = r.id"
OF_A = "a.id AS id, a.name AS name FROM events WHERE kind = 0"
OF_B = "b.id AS id, a.q.x AS x FROM events WHERE kind = 1"


def physical(
    sql: str, *, streaming: bool = False, readable: str | None = "", once: bool = True
) -> PhysicalPlan:
    settings = Settings(
        readable=None if readable is None else lambda scan, _: scan.table.name.startswith(readable),
        reads_once=lambda scan, _: once,
    )
    return physical_plan(with_rows_read(root(sql, world(TABLES))), settings, streaming=streaming)


def readings(plan: PhysicalPlan) -> list[int | None]:
    """Of each part that workers compute in columns, the reading that it shares."""
    return [stage.reading for stage in walk(plan.root) if isinstance(stage, ColumnStage)]


def in_turns(plan: PhysicalPlan) -> list[tuple[int, ...]]:
    """The inputs that each operator reads in turns."""
    return [stage.read_once for stage in walk(plan.root) if isinstance(stage, Operator)]


def scans(plan: PhysicalPlan) -> list[Scan]:
    nodes = (getattr(stage, "node", None) for stage in walk(plan.root))
    return [node for node in nodes if isinstance(node, Scan)]


def test_inputs_of_one_table_are_read_once() -> None:
    plan = physical(SIDES.format(OF_A, OF_B))

    assert readings(plan)[:2] == [0, 0]
    assert in_turns(plan) == [()]


def test_without_spark_an_operator_reads_its_inputs_in_turns() -> None:
    assert in_turns(physical(SIDES.format(OF_A, OF_B), readable=None)) == [(0, 1)]


def test_a_table_is_read_once_for_several_operators() -> None:
    plan = physical(SIDES.format(OF_A, "DISTINCT b.id AS id FROM events"))

    assert readings(plan).count(0) == 2
    [one, other] = scans(plan)
    assert one is other
    assert in_turns(
        physical(SIDES.format(OF_A, "DISTINCT b.id AS id FROM events"), readable=None)
    ) == [(), ()]


def test_each_table_has_a_reading_of_its_own() -> None:
    sql = SIDES.format(OF_A, "a.id AS id FROM others")
    plan = physical(
        f"SELECT * FROM ({sql}) AS x (i, n, j) JOIN ({sql}) AS y (i, n, j) ON x.i = y.j"
    )

    assert sorted(n for n in readings(plan) if n is not None) == [0, 0, 1, 1]


def test_what_is_read_is_what_any_of_them_reads() -> None:
    one, other = scans(physical(SIDES.format(OF_A, OF_B)))

    assert one is other
    assert one.names_read == {"kind", "a", "b", "ts"}
    narrow = dict(one.rows_read)
    a = narrow["a"]
    assert [field.name for field in a.fields] == ["id", "name", "q"]
    assert isinstance(a.fields[2].type, t.Row)
    assert [field.name for field in a.fields[2].type.fields] == ["x"]
    assert [field.name for field in narrow["b"].fields] == ["id"]
    assert "c" not in narrow


def test_a_row_that_one_of_them_reads_whole_is_read_whole() -> None:
    [scan, _] = scans(physical(SIDES.format("a.id AS id, a FROM events", OF_B)))

    assert "a" not in dict(scan.rows_read)


@pytest.mark.parametrize(
    "sql",
    [
        SIDES.format(OF_A, "a.id AS id FROM others"),
        SIDES.format(OF_A, "b.id AS id FROM events UNION ALL SELECT 1"),
        OF_A.join(["SELECT ", ""]),
    ],
    ids=("another table", "rows of a union", "only one"),
)
def test_other_inputs_are_read_for_themselves(sql: str) -> None:
    assert set(readings(physical(sql))) <= {None}
    assert set(in_turns(physical(sql, readable=None))) <= {()}


def test_only_batches_read_once_and_what_can_be() -> None:
    sql = SIDES.format(OF_A, OF_B)

    assert set(readings(physical(sql, streaming=True))) == {None}
    assert set(readings(physical(sql, once=False))) == {None}
    assert readings(physical(sql, readable="others")) == []
