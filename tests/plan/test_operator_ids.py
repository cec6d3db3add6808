"""Stable ids of operators."""

from __future__ import annotations

import pytest

from tidemark.plan.nodes import walk
from tidemark.plan.nodes.base import Node
from tidemark.plan.operator_ids import operators
from tidemark.session.workspace import Workspace

TABLES = """
CREATE TABLE a (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen');
CREATE TABLE b (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
                PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'datagen');
"""


def ids(query: str) -> list[str]:
    plan = Workspace().plan_script(TABLES + query)[-1].plan
    assert plan is not None
    return [id_ for id_, _ in operators(plan.roots[0])]


def test_operators_are_numbered_within_their_kind_inputs_first() -> None:
    assert ids(
        "SELECT k, COUNT(*) FROM (SELECT a.k FROM a JOIN b ON a.k = b.k JOIN b AS c ON a.v = c.v)"
        " GROUP BY k"
    ) == ["regular-join-1", "regular-join-2", "group-aggregate-1"]


def test_a_query_without_state_has_no_ids() -> None:
    assert ids("SELECT k + 1 FROM a WHERE v > 2") == []


def test_an_operator_keeps_its_id_when_one_of_another_kind_comes_below_it() -> None:
    plain = ids("SELECT k, COUNT(*) FROM a GROUP BY k")
    joined = ids("SELECT k, COUNT(*) FROM (SELECT a.k FROM a JOIN b ON a.k = b.k) GROUP BY k")

    assert plain == ["group-aggregate-1"]
    assert joined == ["regular-join-1", "group-aggregate-1"]


def test_a_node_must_say_what_its_state_means() -> None:
    assert "state" in Node.__abstractmethods__


@pytest.mark.parametrize(
    ("windows", "kept"), [("TUMBLE(TABLE a", []), ("SESSION(TABLE a", ["session-window-1"])]
)
def test_nodes_that_are_operators_have_state_and_no_others(windows: str, kept: list[str]) -> None:
    query = f"SELECT k FROM TABLE({windows}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    plan = Workspace().plan_script(TABLES + query)[-1].plan
    assert plan is not None
    [root] = plan.roots

    assert [id_ for id_, node in operators(root) if node.state is not None] == kept
    assert all((node.state is None) == (node.needs is None) for node in walk(root))
