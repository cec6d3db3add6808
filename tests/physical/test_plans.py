"""Physical plans: which operators run, what they ask of their inputs, and where watermarks are.

Without Spark: what is decided here, Spark is only asked to do.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plan.marked import root, world
from tidemark.physical import (
    Compute,
    Operator,
    PhysicalPlan,
    Settings,
    WatermarkStage,
    physical_plan,
)
from tidemark.physical.stages import is_stamped, walk
from tidemark.plan.nodes import GroupAggregate, TopN
from tidemark.plan.nodes.base import walk as walk_nodes

TABLES = """
CREATE TABLE orders (
  id INT, currency STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'datagen');
CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'datagen');
CREATE VIEW newest AS SELECT currency, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY ts DESC) AS n FROM rates
) WHERE n = 1;
CREATE TABLE ordered (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake', 'ordered' = 'true');
CREATE TABLE clocked (id INT, p AS PROCTIME()) WITH ('connector' = 'datagen');
"""

AS_OF = (
    "SELECT o.id, r.rate FROM orders AS o"
    " LEFT JOIN newest FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency"
)
NEAR = "orders AS o JOIN rates AS r ON o.currency = r.currency AND r.ts BETWEEN o.ts AND o.ts + INTERVAL '1' SECOND"


def windows(table: str) -> str:
    return f"TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def physical(sql: str, *, streaming: bool = True, **settings) -> PhysicalPlan:
    return physical_plan(root(sql, world(TABLES)), Settings(**settings), streaming=streaming)


def only(plan: PhysicalPlan) -> Operator:
    [operator] = plan.operators
    return operator


def declared(plan: PhysicalPlan) -> list[bool]:
    return [stage.declared for stage in walk(plan.root) if isinstance(stage, WatermarkStage)]


def test_operators_have_ids_by_kind_inputs_first():
    assert [o.id for o in physical(AS_OF).operators] == ["keep-last-1", "temporal-join-1"]

    both = physical(f"{AS_OF} UNION ALL {AS_OF}")
    assert [o.id for o in both.operators] == [
        "keep-last-1",
        "temporal-join-1",
        "keep-last-2",
        "temporal-join-2",
    ]


@pytest.mark.parametrize(
    "around",
    [
        "SELECT id, rate FROM ({}) WHERE id > 3",
        "SELECT rate AS price, id + 1 AS n FROM ({})",
        "SELECT id, COUNT(*) FROM ({}) GROUP BY id",
    ],
)
def test_what_is_put_above_operators_leaves_their_ids(around):
    ids = [operator.id for operator in physical(around.format(AS_OF)).operators]
    assert ids[:2] == ["keep-last-1", "temporal-join-1"]


def test_operator_declares_the_watermark_of_rows_that_nothing_drops():
    plan = physical(f"SELECT o.id FROM {NEAR}")

    assert declared(plan) == [False, False]
    left, right = only(plan).inputs
    assert (left.watermark.behind_ms, left.watermark.declared) == (5000, False)
    assert (right.watermark.behind_ms, right.watermark.declared) == (0, False)


def test_source_declares_the_watermark_below_a_filter_because_dropped_rows_move_it_too():
    plan = physical("SELECT currency, COUNT(*) FROM orders WHERE id > 3 GROUP BY currency")

    assert declared(plan) == [True]
    assert only(plan).inputs[0].watermark.declared


def test_batch_declares_no_watermark():
    plan = physical(f"SELECT o.id FROM {NEAR}", streaming=False)

    assert declared(plan) == [False, False]
    assert [given.watermark for given in only(plan).inputs] == [None, None]
    assert plan.ends == 0


def test_stream_without_state_needs_no_watermark():
    plan = physical("SELECT id FROM orders WHERE id > 3")

    assert plan.operators == () and declared(plan) == [False]


def test_bounded_stream_announces_the_end_of_each_source_once():
    plan = physical(f"SELECT o.id FROM {NEAR}")

    assert plan.ends == 2
    assert [given.watermark.end for given in only(plan).inputs] == [0, 1]


def test_operator_in_processing_time_must_know_the_end_of_its_input():
    processing_time = "SELECT COUNT(*) FROM clocked GROUP BY TUMBLE(p, INTERVAL '2' SECOND)"

    assert only(physical(processing_time)).inputs[0].end == 0
    assert only(physical(processing_time)).tick_ms == 1000
    assert only(physical(processing_time, streaming=False)).inputs[0].end is None


def test_operator_that_keeps_state_for_a_time_looks_at_the_clock_only_if_it_always_did():
    grouped = "SELECT currency, COUNT(*) FROM orders GROUP BY currency"

    assert only(physical(grouped, ttl_ms=1)).tick_ms is None
    assert only(physical(grouped, retention_clock=True)).tick_ms is None
    assert only(physical(grouped, ttl_ms=1, retention_clock=True)).tick_ms == 1000
    assert only(physical(grouped, ttl_ms=86_400_000, retention_clock=True)).tick_ms == 1000


def test_rows_of_another_operator_are_chained():
    join = physical(AS_OF).operators[-1]

    assert [given.chained for given in join.inputs] == [False, True]
    assert [given.watermark is None for given in join.inputs] == [False, True]


def test_join_assigns_windows_itself_where_rows_only_pass_through():
    on = "a.currency = b.currency AND a.window_start = b.window_start AND a.window_end = b.window_end"
    join = f"SELECT a.id FROM (SELECT * FROM {windows('orders')}) a JOIN (SELECT * FROM {windows('rates')}) b ON {on}"

    assert all(given.windows is not None for given in only(physical(join)).inputs)


def test_join_gets_windows_that_a_filter_uses():
    on = "a.currency = b.currency AND a.window_start = b.window_start AND a.window_end = b.window_end"
    late = f"SELECT * FROM {windows('orders')} WHERE window_start > TIMESTAMP '2024-01-01 00:00:00'"
    join = f"SELECT a.id FROM ({late}) a JOIN (SELECT * FROM {windows('rates')}) b ON {on}"

    left, right = only(physical(join)).inputs
    assert left.windows is None and left.watermark.followed
    assert right.windows is not None


def test_time_that_nobody_reads_is_not_moved():
    left, _ = only(physical(f"SELECT o.id FROM {NEAR}")).inputs
    assert not left.shown

    left, _ = only(physical(f"SELECT o.ts FROM {NEAR}")).inputs
    assert left.shown


def test_projection_that_only_picks_is_done_by_the_join():
    plan = physical(f"SELECT r.rate AS price, o.id FROM {NEAR}")

    assert isinstance(plan.root, Operator)
    assert plan.root.edge.names == ("price", "id")
    names = [*plan.root.inputs[0].stage.edge.names, *plan.root.inputs[1].stage.edge.names]
    assert [names[place] for place in plan.root.output] == ["rate", "id"]


def test_projection_that_computes_stays_above_the_join():
    plan = physical(f"SELECT o.id + 1 AS n FROM {NEAR}")

    assert isinstance(plan.root, Compute)


@pytest.mark.parametrize("phases", ["one_phase", "two_phase", "auto"])
def test_aggregation_in_windows_may_have_two_phases(phases):
    counted = (
        f"SELECT window_start, COUNT(*) FROM {windows('orders')} GROUP BY window_start, window_end"
    )

    assert only(physical(counted, phases=phases)).phases == phases


@pytest.mark.parametrize("phases", ["one_phase", "two_phase", "auto"])
def test_only_the_groups_of_a_batch_may_have_two_phases(phases):
    node = root("SELECT id, COUNT(*) FROM orders GROUP BY id", world(TABLES))
    [group] = [n for n in walk_nodes(node) if isinstance(n, GroupAggregate)]
    at_end = replace(group, at_end=True)

    def phases_of(node, *, streaming):
        return only(physical_plan(node, Settings(phases=phases), streaming=streaming)).phases

    assert phases_of(at_end, streaming=False) == phases
    assert phases_of(at_end, streaming=True) == phases_of(group, streaming=True) == "one_phase"


def test_only_a_batch_may_leave_rows_behind_others_out():
    ranked = "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY {by}) AS n FROM orders) WHERE n <= 2"
    for by in ("id", "ts"):
        node = root(ranked.format(by=by), world(TABLES))
        [top] = [n for n in walk_nodes(node) if isinstance(n, TopN)]
        at_end = replace(top, at_end=True)
        assert only(physical_plan(at_end, Settings(), streaming=False)).combines
        assert not only(physical_plan(at_end, Settings(), streaming=True)).combines
        unlimited = replace(at_end, high=None)
        assert not only(physical_plan(unlimited, Settings(), streaming=False)).combines


def test_rows_that_are_read_in_order_are_stamped():
    counted = (
        f"SELECT window_start, COUNT(*) FROM {windows('ordered')} GROUP BY window_start, window_end"
    )
    assert is_stamped(only(physical(counted, streaming=False)).inputs[0].stage)

    other = counted.replace("ordered", "orders")
    assert not is_stamped(only(physical(other, streaming=False)).inputs[0].stage)


OVER = (
    "SELECT id, ts, SUM(id) OVER (PARTITION BY id ORDER BY ts ROWS 1 PRECEDING) AS s FROM ordered"
)


def test_what_is_emitted_behind_the_watermark_is_stamped_for_operators_that_go_by_time():
    counted = "SELECT MAX(s) FROM TABLE(TUMBLE(TABLE x, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    over, window = physical(counted.replace("TABLE x", f"({OVER})")).operators

    assert over.stamps and is_stamped(window.inputs[0].stage)
    assert not window.stamps
    over, groups = physical(f"SELECT s, COUNT(*) FROM ({OVER}) GROUP BY s").operators
    assert not over.stamps and not is_stamped(groups.inputs[0].stage)
    over, _join = physical(f"SELECT x.id FROM ({OVER}) x JOIN orders o ON o.ts = x.ts").operators
    assert not over.stamps


def test_operators_that_do_not_go_by_time_follow_the_time_of_those_above():
    first = "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY PROCTIME()) AS n FROM orders) WHERE n = 1"
    timed, untimed = (only(physical(f"SELECT {c} FROM ({first})")) for c in ("id, ts", "id"))

    known = timed.inputs[0].watermark
    assert known is not None and known.time is not None
    assert timed.inputs[0].stage.edge.names[known.time] == "ts"
    assert (known.behind_ms, known.declared, timed.inputs[0].time) == (5000, False, None)
    assert untimed.inputs[0].watermark is not None and untimed.inputs[0].watermark.time is None


@pytest.mark.parametrize(("columns", "by_source"), [("o.id, o.ts", True), ("o.id", False)])
def test_a_side_whose_time_nobody_reads_reports_its_watermark_if_windows_follow(columns, by_source):
    tables = """
    SET 'tidemark.temporal-join.load-phase' = '1 s';
    CREATE TABLE o (id INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'datagen');
    CREATE TABLE r (
      id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED
    ) WITH ('connector' = 'datagen');
    """
    joined = f"SELECT {columns}, r.v FROM o JOIN r FOR SYSTEM_TIME AS OF o.p AS r ON o.id = r.id"

    [join] = physical_plan(root(joined, world(tables)), Settings(), streaming=True).operators

    left, right = join.inputs
    assert left.watermark is not None and not left.watermark.declared
    assert right.watermark is not None
    assert (right.watermark.declared, right.watermark.time) == (by_source, None)


def test_join_holds_the_watermark_back_as_far_as_its_inputs_are_behind():
    join = f"SELECT o.id, r.rate, o.currency, o.ts FROM {NEAR}"
    chained = f"SELECT x.id FROM ({join}) x LEFT JOIN newest FOR SYSTEM_TIME AS OF x.ts AS v ON x.currency = v.currency"

    assert physical(chained).operators[-1].held_back_ms == 1000


@pytest.mark.parametrize(
    ("rows", "checked"),
    [
        ("orders", {True}),
        ("(SELECT * FROM orders WHERE id > 1)", {False}),
        (
            "(SELECT id, currency, ts FROM orders UNION ALL SELECT 1, currency, ts FROM rates)",
            {False},
        ),
    ],
)
def test_an_operator_checks_the_event_times_of_a_source_if_it_gets_all_rows(rows, checked):
    grouped = f"SELECT COUNT(*) FROM {rows} GROUP BY currency, TUMBLE(ts, INTERVAL '1' DAY)"

    stages = walk(physical(grouped).root)

    assert {stage.checked_above for stage in stages if isinstance(stage, WatermarkStage)} == checked


@pytest.mark.parametrize(
    ("sql", "waits"),
    [
        ("SELECT COUNT(*) FROM orders GROUP BY currency", False),
        ("SELECT o.id FROM orders AS o JOIN rates AS r ON o.currency = r.currency", False),
        ("SELECT id, LAG(id) OVER (PARTITION BY currency ORDER BY id) FROM orders", False),
        ("SELECT id, LAG(id) OVER (PARTITION BY currency ORDER BY ts) FROM orders", True),
        ("SELECT COUNT(*) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' DAY)", True),
        (f"SELECT COUNT(*) FROM ({AS_OF}) GROUP BY id", True),
    ],
)
def test_a_plan_says_whether_rows_wait_in_it(sql, waits):
    assert physical(sql).waits is waits
