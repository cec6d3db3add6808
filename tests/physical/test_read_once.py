"""A table of which an operator gets several inputs is read once, with the columns of all of them."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark import types as t
from tidemark.physical import ColumnStage, Operator, PhysicalPlan, Readings, Settings, physical_plan
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
    sql: str,
    *,
    streaming: bool = False,
    readable: str | None = "",
    once: bool = True,
    given: Readings | None = None,
) -> PhysicalPlan:
    settings = Settings(
        readable=None if readable is None else lambda scan, _: scan.table.name.startswith(readable),
        reads_once=lambda scan, _: once,
        readings=given,
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


def test_only_what_can_be_is_read_once() -> None:
    sql = SIDES.format(OF_A, OF_B)

    assert set(readings(physical(sql, once=False))) == {None}
    assert readings(physical(sql, readable="others")) == []


WINDOWS = "SELECT a.id AS id, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, a.id"
SUMS = "SELECT a.id AS id, SUM(kind) AS n FROM events WHERE kind > 1 GROUP BY a.id"


def test_a_stream_reads_a_table_once_and_has_one_marker_of_its_end() -> None:
    plan = physical(
        f"SELECT * FROM ({WINDOWS}) AS l JOIN ({SUMS}) AS r ON l.id = r.id", streaming=True
    )

    assert plan.readings == ((0, 1),)
    assert readings(plan).count(0) == 2
    marks = [given.watermark for each in plan.operators for given in each.inputs if given.watermark]
    assert [(mark.end, mark.declared) for mark in marks] == [(0, False), (0, False)]


def test_what_spark_computes_of_a_stream_separates_readings() -> None:
    """The frame of what is below is made before the other side is lowered."""
    left = f"SELECT id, CURRENT_TIMESTAMP AS now FROM ({WINDOWS})"
    other = f"SELECT * FROM ({left}) AS l JOIN ({SUMS}) AS r ON l.id = r.id"
    both = f"SELECT * FROM ({left}) AS x JOIN ({SUMS}) AS y ON x.id = y.id JOIN ({SUMS}) AS z ON x.id = z.n"

    assert physical(other, streaming=True).readings == ()
    assert physical(both, streaming=True).readings == ((1, 2),)
    assert physical(both).readings == ((0, 1, 2),)


def test_what_spark_computes_of_a_table_is_read_for_itself() -> None:
    by_spark = (
        "SELECT now, COUNT(*) AS n FROM (SELECT CURRENT_TIMESTAMP AS now FROM events) GROUP BY now"
    )
    plan = physical(
        f"SELECT l.n FROM ({by_spark}) AS l JOIN ({SUMS}) AS r ON l.n = r.n", streaming=True
    )

    assert plan.readings == ()


def test_a_stream_that_resumes_reads_together_what_it_did() -> None:
    sql = f"SELECT * FROM ({WINDOWS}) AS l JOIN ({SUMS}) AS r ON l.id = r.id"

    assert physical(sql, streaming=True, given=()).readings == ()
    assert physical(sql, streaming=True, given=((0, 1),), once=False).readings == ((0, 1),)
    assert physical(sql, streaming=True, given=((0, 1),), readable="others").readings == ((0, 1),)
    assert physical(sql, streaming=True, given=((0, 7),)).readings == ()
