"""`LATERAL SNAPSHOT(...)`: what it means as a plan, and what is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported
from tidemark.physical import Settings, WatermarkStage, physical_plan
from tidemark.physical.explain import explain
from tidemark.physical.stages import walk
from tidemark.plan.nodes import ChangelogNormalize, PointInTime, RegularJoin, SnapshotJoin
from tidemark.plan.nodes import walk as walk_nodes
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE o (id INT, cur STRING, n INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE r (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE changes (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE upserts (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'fake', 'changelog' = 'UPSERT');
CREATE TABLE timeless (cur STRING, rate INT, ts TIMESTAMP(3)) WITH ('connector' = 'fake');
"""
BY_TS = "on_time => DESCRIPTOR(ts)"


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def join_of(sql: str, tables: Workspace) -> SnapshotJoin:
    [found] = [node for node in walk_nodes(root(sql, tables)) if isinstance(node, SnapshotJoin)]
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o.id, s.rate FROM o JOIN LATERAL SNAPSHOT(TABLE r, DESCRIPTOR(ts)) AS s "
        "ON o.cur = s.cur",
        f"SELECT o.id, s.rate FROM o JOIN LATERAL TABLE(SNAPSHOT(input => TABLE r, {BY_TS})) AS s "
        "ON o.cur = s.cur",
        f"SELECT o.id, s.rate FROM o, LATERAL snapshot({BY_TS}, input => TABLE r) AS s "
        "WHERE o.cur = s.cur",
        f"WITH w AS (SELECT * FROM r) SELECT o.id, s.rate FROM o JOIN LATERAL SNAPSHOT("
        f"input => TABLE w, {BY_TS}, state_ttl => DEFAULT) AS s (cur, rate, since) ON o.cur = s.cur",
    ],
)
def test_every_spelling_is_one_join(sql, tables):
    join = join_of(sql, tables)

    left, right = join.left.edge.names, join.right.edge.names
    assert join.how == "inner"
    assert [left[i] for i in join.left_keys] == [right[i] for i in join.right_keys] == ["cur"]
    assert (join.load_until, join.load_idle_ms, join.hinted_ms) == (None, None, None)


@pytest.mark.parametrize("on", ["o.n > s.rate", "TRUE"])
def test_rows_need_no_equality(on, tables):
    join = join_of(
        f"SELECT o.id, s.rate FROM o LEFT JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}) AS s ON {on}",
        tables,
    )

    assert (join.how, join.left_keys, join.right_keys) == ("left", (), ())


def test_the_arguments_say_how_long_it_loads_and_keeps(tables):
    sql = (
        "SELECT o.id, s.rate FROM o LEFT JOIN LATERAL SNAPSHOT(input => TABLE r, "
        f"{BY_TS}, load_completed_time => CAST(TIMESTAMP '2026-07-01 00:00:00' AS TIMESTAMP_LTZ(3)),"
        "load_completed_idle_timeout => INTERVAL '10' SECOND, state_ttl => INTERVAL '1' DAY) AS s "
        "ON o.cur = s.cur AND o.n > s.rate"
    )
    join = join_of(sql, tables)

    assert join.load_until == PointInTime(clock=dt.datetime(2026, 7, 1))
    assert (join.load_idle_ms, join.hinted_ms) == (10_000, 86_400_000)
    assert join.ttls_ms(5) == (86_400_000, 86_400_000)
    assert join.needs.tick_ms == 1_000
    assert join.condition is not None
    text = explain(plan(sql, tables))
    assert (
        "load phase=[until the watermark of ts reaches 2026-07-01 00:00:00, or does not advance "
        "for 10000 ms]" in text
    )
    assert "the right rows for 1 d after the key was last used" in text


@pytest.mark.parametrize(
    ("time", "type_", "zone", "milliseconds"),
    [
        (PointInTime(clock=dt.datetime(1970, 1, 2)), t.Timestamp(3), "Asia/Tokyo", 86_400_000),
        (PointInTime(clock=dt.datetime(1970, 1, 2)), t.TimestampLtz(3), "Asia/Tokyo", 54_000_000),
        (PointInTime(epoch_ms=54_000_001), t.Timestamp(3), "Asia/Tokyo", 86_400_001),
        (PointInTime(epoch_ms=54_000_001), t.TimestampLtz(3), "Asia/Tokyo", 54_000_001),
    ],
)
def test_a_point_in_time_is_one_of_the_event_times(time, type_, zone, milliseconds):
    assert time.as_event_time(type_, zone) == milliseconds


def test_the_load_time_may_be_given_in_epoch_seconds(tables):
    sql = (
        f"SELECT o.id FROM o JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}, "
        "load_completed_time => TO_TIMESTAMP_LTZ(7, 0)) AS s ON o.cur = s.cur"
    )
    assert join_of(sql, tables).load_until == PointInTime(epoch_ms=7_000)


def test_no_event_time_comes_out_because_rows_have_waited(tables):
    sql = (
        f"SELECT o.ts, o.pt, s.ts AS since FROM o LEFT JOIN LATERAL SNAPSHOT(input => TABLE r, "
        f"{BY_TS}) AS s ON o.cur = s.cur"
    )
    assert schema(sql, tables).startswith("ts TIMESTAMP(3), pt TIMESTAMP_LTZ(3)")
    assert schema(sql, tables).endswith("*processing*, since TIMESTAMP(3)")
    assert root(sql, tables).edge.changelog is Changelog.APPEND


def test_changes_of_the_table_come_with_the_rows_that_they_replace(tables):
    sql = (
        "SELECT o.id, s.rate FROM o JOIN LATERAL SNAPSHOT(input => TABLE {}, "
        f"{BY_TS}) AS s ON o.cur = s.cur"
    )
    assert join_of(sql.format("changes"), tables).right.edge.keys == (("cur",),)
    upserts = join_of(sql.format("upserts"), tables)
    assert any(isinstance(node, ChangelogNormalize) for node in walk_nodes(upserts.right))
    assert upserts.right.edge.changelog is Changelog.RETRACT


def test_in_batch_mode_it_is_a_regular_join_that_needs_no_times(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")
    sql = (
        "SELECT c.a, s.rate FROM t AS c LEFT JOIN LATERAL SNAPSHOT(input => TABLE timeless, "
        "load_completed_idle_timeout => INTERVAL '10' SECOND) AS s ON c.b = s.cur"
    )
    [join] = [node for node in walk_nodes(root(sql, tables)) if isinstance(node, RegularJoin)]
    assert (join.how, join.at_end) == ("left", True)


def test_only_the_watermark_of_the_right_side_is_followed(tables):
    sql = (
        f"SELECT o.id FROM o JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}) AS s ON o.cur = s.cur"
    )
    stages = physical_plan(root(sql, tables), Settings(), streaming=True)

    [operator] = stages.operators
    assert operator.follows == 1
    left, right = operator.inputs
    assert left.watermark is None
    assert right.watermark is not None and right.watermark.behind_ms == 5_000
    assert [s.declared for s in walk(left.stage) if isinstance(s, WatermarkStage)] == [False]


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT 1 FROM o JOIN LATERAL «SNAPSHOT(input => TABLE r)» AS s ON o.cur = s.cur",
            "SNAPSHOT requires the argument `on_time` in a stream (same in Flink)",
        ),
        (
            "SELECT 1 FROM o JOIN LATERAL SNAPSHOT(TABLE timeless, DESCRIPTOR(«ts»)) AS s "
            "ON o.cur = s.cur",
            "`ts` is not an event time (it is a plain TIMESTAMP(3))",
        ),
        (
            "SELECT 1 FROM o JOIN LATERAL SNAPSHOT(TABLE r, DESCRIPTOR(«tz»)) AS s ON o.cur = s.cur",
            "column `tz` not found in the table",
        ),
        (
            "SELECT 1 FROM o JOIN LATERAL SNAPSHOT(TABLE r, DESCRIPTOR(ts), «pt») AS s "
            "ON o.cur = s.cur",
            "there are no columns here",
        ),
        (
            "SELECT 1 FROM o JOIN LATERAL SNAPSHOT(TABLE r, DESCRIPTOR(ts), «CURRENT_TIMESTAMP») AS s "
            "ON o.cur = s.cur",
            "the argument `load_completed_time` must be a constant point in time",
        ),
        (
            f"SELECT 1 FROM o JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}, "
            "state_ttl => «INTERVAL '1' YEAR») AS s ON o.cur = s.cur",
            "the argument `state_ttl` must be a constant interval of days to seconds",
        ),
        (
            f"SELECT 1 FROM o JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}, "
            "load_completed_idle_timeout => «INTERVAL -'1' SECOND») AS s ON o.cur = s.cur",
            "the argument `load_completed_idle_timeout` must not be negative (same in Flink)",
        ),
        (
            "SELECT 1 FROM o JOIN LATERAL SNAPSHOT(input => TABLE r, "
            "«load_completed_condition => 'user_time'») AS s ON o.cur = s.cur",
            "unknown argument `load_completed_condition`",
        ),
        (
            f"SELECT 1 FROM changes «JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}) AS s "
            "ON changes.cur = s.cur»",
            "the left side of a join with LATERAL SNAPSHOT must be append-only (same in Flink)",
        ),
        (
            f"SELECT 1 FROM o JOIN «SNAPSHOT(input => TABLE r, {BY_TS}) AS s» ON o.cur = s.cur",
            "SNAPSHOT is only allowed on the right of a join, after LATERAL",
        ),
        (
            f"SELECT 1 FROM «SNAPSHOT(input => TABLE r, {BY_TS})»",
            "SNAPSHOT is only allowed on the right of a join, after LATERAL",
        ),
        (
            f"SELECT 1 FROM o JOIN LATERAL SNAPSHOT(input => «TABLE r PARTITION BY cur», {BY_TS}) "
            "AS s ON o.cur = s.cur",
            "PARTITION BY is not allowed in SNAPSHOT",
        ),
    ],
)
def test_what_is_wrong_is_named(marked, message, tables):
    assert refused(marked, at=tables).message.startswith(message)


def test_the_table_is_never_padded(tables):
    message = refused(
        f"SELECT 1 FROM o «FULL JOIN LATERAL SNAPSHOT(input => TABLE r, {BY_TS}) AS s "
        "ON o.cur = s.cur»",
        NotSupported,
        at=tables,
    ).message
    assert message == "FULL joins with LATERAL SNAPSHOT are not supported"
