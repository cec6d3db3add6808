"""Where CURRENT_WATERMARK comes from: a column that sources provide."""

from __future__ import annotations

import pytest

from tests.plan.marked import refused, root, world
from tidemark.errors import NotSupported
from tidemark.plan.current_watermarks import with_current_watermarks
from tidemark.plan.nodes import AssignWatermark, CurrentWatermark, walk

EVENTS = """CREATE TABLE e (id INT, ts TIMESTAMP(3), made TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen')"""
OTHERS = EVENTS.replace("TABLE e", "TABLE f")
WINDOWS = "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def planned(query: str):
    return with_current_watermarks(root(query, world(f"{EVENTS};\n{OTHERS}")))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, CURRENT_WATERMARK(ts) AS wm FROM e",
        "SELECT id FROM e WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)",
        "SELECT CURRENT_WATERMARK(t) FROM (SELECT id + 1 AS n, ts AS t FROM e WHERE id > 1) AS x",
        "SELECT wm, CURRENT_WATERMARK(ts) FROM (SELECT ts, CURRENT_WATERMARK(ts) AS wm FROM e) "
        "AS x WHERE wm IS NULL",
        "SELECT MAX(CURRENT_WATERMARK(ts)) AS wm FROM e GROUP BY id",
        "SELECT e.id FROM e LEFT JOIN (VALUES (1, 2)) AS o(id, n) "
        "ON e.id = o.id AND CURRENT_WATERMARK(e.ts) IS NULL",
    ],
)
def test_the_source_adds_it_once_and_the_columns_stay_the_same(query):
    before, after = root(query, world(EVENTS)), planned(query)

    assert after.edge.columns == before.edge.columns
    [added] = [node for node in walk(after) if isinstance(node, CurrentWatermark)]
    [above] = [node for node in walk(after) if isinstance(node, AssignWatermark)]
    assert above.input is added


def test_branches_of_one_table_have_the_same_watermark():
    union = "SELECT id, ts FROM e WHERE id < 4 UNION ALL SELECT id + 1 AS id, ts FROM e"
    after = planned(f"SELECT id, CURRENT_WATERMARK(ts) AS wm FROM ({union}) AS x WHERE id > 2")

    assert after.edge.names == ("id", "wm")
    assert len([node for node in walk(after) if isinstance(node, CurrentWatermark)]) == 2


def test_a_plan_that_does_not_ask_for_it_is_the_same():
    plan = root("SELECT id FROM e WHERE id > 1", world(EVENTS))
    assert with_current_watermarks(plan) is plan


@pytest.mark.parametrize(
    ("query", "where"),
    [
        (f"SELECT CURRENT_WATERMARK(ts) FROM {WINDOWS}", "above WindowFunction"),
        (
            "SELECT CURRENT_WATERMARK(ts) FROM (SELECT ts FROM e UNION ALL SELECT ts FROM f) AS x",
            "above UNION ALL of several tables",
        ),
        (
            "SELECT 1 FROM e JOIN (SELECT 1 AS id, 2 AS n) AS o "
            "ON e.id = o.id AND (e.made < CURRENT_WATERMARK(e.ts) OR o.n = 3)",
            "above RegularJoin",
        ),
        (
            "SELECT v FROM e CROSS JOIN UNNEST(ARRAY[CURRENT_WATERMARK(e.ts)]) AS x(v)",
            "in Unnest",
        ),
    ],
)
def test_elsewhere_it_is_refused_by_name(query, where):
    with pytest.raises(NotSupported, match=f"CURRENT_WATERMARK is not supported {where}"):
        planned(query)


def test_only_a_time_attribute_has_a_watermark():
    assert refused("SELECT CURRENT_WATERMARK(«pt») FROM t").hint
    refused("SELECT CURRENT_WATERMARK(«ts + INTERVAL '1' SECOND») FROM u")
