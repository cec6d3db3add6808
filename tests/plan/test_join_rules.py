"""Joins are bound once, and then a table of rules says which kind each is."""

from __future__ import annotations

import pytest

from tests.plan.marked import TABLES, fake_traits, root, world
from tidemark.catalog.tables import Table, TableTraits, Use
from tidemark.plan.bind.joins import RULES
from tidemark.plan.nodes import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin, walk
from tidemark.session.workspace import Workspace

WINDOWS = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
SAME_WINDOW = "l.window_start = r.window_start AND l.window_end = r.window_end"
BOTH_IN_WINDOWS = f"{WINDOWS.format('t')} AS l JOIN {WINDOWS.format('u')} AS r"


@pytest.mark.parametrize(
    ("join", "kind"),
    [
        (f"{BOTH_IN_WINDOWS} ON l.a = r.a AND {SAME_WINDOW}", WindowJoin),
        ("t AS l JOIN u AS r ON l.a = r.a AND l.ts = r.ts", IntervalJoin),
        (f"{BOTH_IN_WINDOWS} ON l.a = r.a AND l.window_start = r.window_start", RegularJoin),
        ("t AS l JOIN u AS r ON l.a = r.a AND l.ts > r.ts", RegularJoin),
        ("cdc AS l JOIN u AS r ON l.id = r.a", RegularJoin),
        ("t AS l JOIN v FOR SYSTEM_TIME AS OF l.ts AS r ON l.a = r.a", TemporalJoin),
        ("t AS l, v FOR SYSTEM_TIME AS OF l.ts AS r WHERE l.a = r.a AND l.ts = r.ts", TemporalJoin),
    ],
)
def test_the_first_rule_that_applies_decides_the_kind_of_a_join(join, kind):
    versions = "CREATE TABLE v (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, "
    versions += "PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'fake')"
    plan = root(f"SELECT l.*, r.a AS other FROM {join}", world(versions))

    assert [type(node) for node in walk(plan) if isinstance(node, (*KINDS,))] == [kind]


KINDS = (TemporalJoin, WindowJoin, IntervalJoin, RegularJoin)


def test_the_last_rule_always_applies():
    assert [rule.name for rule in RULES] == [
        "lookup join",
        "temporal join by event time",
        "temporal join by processing time",
        "window join",
        "interval join",
        "regular join",
    ]


def test_a_side_is_bound_once_whatever_kind_the_join_turns_out_to_be():
    asked: list[str] = []

    def traits(table: Table, use: Use) -> TableTraits:
        asked.append(table.name)
        return fake_traits(table, use)

    Workspace(traits=traits).plan_script(
        f"{TABLES} SELECT l.a FROM {WINDOWS.format('u')} AS l JOIN k ON l.a = k.id"
    )

    assert asked.count("k") == 1
