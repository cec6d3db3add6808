"""Stable ids of operators."""

from __future__ import annotations

from typing import Any

from tidemark.plan.kept_state import _MEANINGS
from tidemark.plan.nodes import AssignWindows
from tidemark.plan.nodes.families import Stateful
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


def test_a_query_that_remembers_nothing_has_no_ids() -> None:
    assert ids("SELECT k + 1 FROM a WHERE v > 2") == []


def test_an_operator_keeps_its_id_when_one_of_another_kind_comes_below_it() -> None:
    plain = ids("SELECT k, COUNT(*) FROM a GROUP BY k")
    joined = ids("SELECT k, COUNT(*) FROM (SELECT a.k FROM a JOIN b ON a.k = b.k) GROUP BY k")

    assert plain == ["group-aggregate-1"]
    assert joined == ["regular-join-1", "group-aggregate-1"]


def test_every_operator_that_keeps_state_says_what_its_state_means() -> None:
    def concrete(family: type[Any]) -> set[type[Any]]:
        below = [concrete(part) for part in family.__subclasses__()]
        return set().union(*below) if below else {family}

    assert {*concrete(Stateful), AssignWindows} <= _MEANINGS.keys()
