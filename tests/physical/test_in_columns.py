"""What workers read and compute in columns: the largest parts of a batch that can be."""

from __future__ import annotations

import pytest

from tests.physical.test_plans import AS_OF, TABLES
from tests.plan.marked import root, world
from tidemark.physical import ColumnStage, Compute, Operator, PhysicalPlan, Settings, physical_plan
from tidemark.physical.stages import walk
from tidemark.physical.words import line
from tidemark.plan.nodes import AssignWatermark, Filter, FromChangelog, Project, Scan, ToChangelog


def physical(sql: str, *, streaming: bool = False, readable: str = "") -> PhysicalPlan:
    settings = Settings(readable=lambda scan, streaming: readable in str(scan.table.identifier))
    return physical_plan(root(sql, world(TABLES)), settings, streaming=streaming)


def in_columns(plan: PhysicalPlan) -> list[list[type]]:
    """The nodes of each part, inputs first."""
    return [
        [type(part.node) for part in walk(stage.stage)]
        for stage in walk(plan.root)
        if isinstance(stage, ColumnStage)
    ]


def test_everything_above_a_table_is_in_columns_that_can_be():
    plan = physical("SELECT id + 1 FROM orders WHERE currency = 'EUR'")

    [nodes] = in_columns(plan)
    assert nodes[0] is Scan
    assert nodes[-1] is Project
    assert {AssignWatermark, Filter} <= {*nodes}
    assert isinstance(plan.root, ColumnStage)


def test_changes_as_rows_and_rows_as_changes_are_in_columns():
    coded = "TO_CHANGELOG(input => (SELECT id, currency FROM orders), op => DESCRIPTOR(kind))"
    changes = f"FROM_CHANGELOG(input => (SELECT * FROM {coded}), op => DESCRIPTOR(kind))"
    plan = physical(f"SELECT id + 1 FROM {changes} WHERE currency = 'EUR'")

    [nodes] = in_columns(plan)
    assert {ToChangelog, FromChangelog} <= {*nodes}
    assert isinstance(plan.root, ColumnStage)


def test_both_inputs_of_a_join_are_in_columns():
    plan = physical(AS_OF)

    assert len(in_columns(plan)) == 2
    assert [type(stage) for stage in walk(plan.root)].count(Operator) == 2


@pytest.mark.parametrize(("readable", "packed"), [("", True), ("rates", False)])
def test_spark_sees_no_rows_if_all_parts_are_in_columns(readable, packed):
    assert physical(AS_OF, streaming=True, readable=readable).in_columns == packed


def test_spark_sees_the_rows_that_it_computes_above_an_operator():
    of_all = f"SELECT id FROM ({AS_OF}) AS o UNION ALL SELECT id FROM orders"
    assert not physical(of_all, streaming=True).in_columns


def test_what_only_spark_can_read_is_left_to_spark():
    assert len(in_columns(physical(AS_OF, readable="rates"))) == 1
    assert in_columns(physical(AS_OF, readable="nothing")) == []


def test_what_only_spark_can_compute_is_left_to_spark():
    plan = physical("SELECT RAND() + id FROM orders")

    assert isinstance(plan.root, Compute)
    [nodes] = in_columns(plan)
    assert Scan in nodes


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT RAND() + id FROM orders", "RAND"),
        ("SELECT PRINTF('%d', id) FROM orders", "PRINTF"),
        ("SELECT id, CURRENT_TIMESTAMP FROM orders", "the current time"),
        ("SELECT id, CAST(ts AS TIME) FROM orders", "columns of type TIME or INTERVAL YEAR"),
        ("SELECT id FROM orders WHERE FALSE", None),
        (f"SELECT RAND() FROM ({AS_OF})", "RAND"),
    ],
)
def test_explain_says_what_only_spark_computes(sql, what):
    plan = physical(sql)

    assert isinstance(plan.root, Compute)
    assert plan.root.only_in_spark == what
    assert ("only Spark computes" in line(plan.root)) == (what is not None)


def test_nothing_is_blamed_above_rows_of_spark():
    plan = physical("SELECT RAND() FROM orders WHERE RAND() > 0.5")

    assert isinstance(plan.root, Compute)
    assert plan.root.only_in_spark is None


def test_what_a_filter_drops_altogether_is_left_to_spark_which_does_not_run_it():
    plan = physical("SELECT id FROM orders WHERE FALSE")

    assert all(Filter not in nodes for nodes in in_columns(plan))


def test_projections_above_an_operator_are_in_columns():
    plan = physical(f"SELECT id + 1 FROM ({AS_OF}) WHERE rate > 1", readable="nothing")

    assert isinstance(plan.root, ColumnStage)
    assert isinstance(plan.root.stage, Compute)
    assert any(isinstance(stage, Operator) for stage in walk(plan.root))


def test_times_of_day_are_left_to_spark_which_cannot_read_them_from_arrow():
    plan = physical("SELECT id, CAST(ts AS TIME) FROM orders WHERE id > 1")

    assert isinstance(plan.root, Compute)
    [nodes] = in_columns(plan)
    assert nodes[-1] is Filter


@pytest.mark.parametrize("sql", [AS_OF, "SELECT id FROM orders"])
def test_a_stream_is_read_in_columns_too(sql: str):
    assert in_columns(physical(sql, streaming=True)) == in_columns(physical(sql))


FILTERED = AS_OF.replace("orders AS o", "(SELECT * FROM orders WHERE id > 1) AS o")


def test_workers_follow_a_watermark_below_a_filter_for_the_operator():
    [orders, *_] = physical(FILTERED, streaming=True).operators[-1].inputs

    assert isinstance(orders.stage, ColumnStage)
    assert orders.stage.follows
    assert orders.watermark is not None
    assert not orders.watermark.declared
    assert orders.watermark.end is not None


@pytest.mark.parametrize("sink_follows", [False, True])
def test_workers_follow_a_watermark_that_only_the_sink_waits_for(sink_follows: bool):
    settings = Settings(readable=lambda *_: True, sink_follows=sink_follows)
    both = "SELECT id FROM orders UNION ALL SELECT id FROM orders WHERE id > 1"

    plan = physical_plan(root(both, world(TABLES)), settings, streaming=True)

    stages = [stage for stage in walk(plan.root) if isinstance(stage, ColumnStage)]
    assert [stage.follows for stage in stages] == [sink_follows] * 2


WINDOWS = (
    "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1'"
    " MINUTE)) WHERE id > 1 GROUP BY window_start, window_end"
)


@pytest.mark.parametrize(
    ("keys", "follows"), [("", True), (", currency", True), (", ARRAY[id]", False)]
)
def test_workers_only_follow_a_watermark_if_they_can_hash_the_keys(keys: str, follows: bool):
    plan = physical(WINDOWS + keys, streaming=True)

    [given] = plan.operators[-1].inputs
    assert given.watermark is not None
    assert given.watermark.declared != follows
    assert isinstance(given.stage, ColumnStage) == follows
    assert any(isinstance(stage, ColumnStage) for stage in walk(given.stage))


def test_a_watermark_is_declared_to_spark_if_it_computes_something_above():
    plan = physical(FILTERED.replace("id > 1", "id > RAND()"), streaming=True)

    known = plan.operators[-1].inputs[0].watermark
    assert known is not None and known.declared
    assert AssignWatermark not in in_columns(plan)[0]


@pytest.mark.parametrize("call", ["CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP"])
def test_the_clock_is_read_by_spark_which_reads_it_once_for_the_whole_query(call: str):
    plan = physical(f"SELECT id, {call} FROM orders WHERE id > 1")

    assert isinstance(plan.root, Compute)
    [nodes] = in_columns(plan)
    assert nodes[-1] is Filter


def twice(number: int) -> int:
    return 2 * number


def test_functions_of_the_user_are_called_by_spark_which_ships_their_modules():
    function = f"CREATE FUNCTION twice AS '{__name__}.twice' LANGUAGE PYTHON;"
    catalog = world(f"{TABLES};{function}")
    settings = Settings(readable=lambda scan, streaming: True)

    plan = physical_plan(root("SELECT twice(id) FROM orders", catalog), settings, streaming=False)

    assert isinstance(plan.root, Compute)
    [nodes] = in_columns(plan)
    assert Scan in nodes
