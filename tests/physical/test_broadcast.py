"""Which joins of a batch load one side in workers, instead of exchanging both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plan.marked import root, world
from tidemark.physical import Compute, Operator, Settings, physical_plan
from tidemark.physical.stages import walk
from tidemark.plan.nodes import GroupAggregate, LookupJoin, RegularJoin
from tidemark.plan.nodes.base import Node
from tidemark.plan.nodes.base import walk as walk_nodes

TABLES = """
CREATE TABLE payments (id INT, account INT, amount INT) WITH ('connector' = 'datagen');
CREATE TABLE accounts (account INT, name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'datagen');
CREATE TABLE keyed (account INT, name STRING, PRIMARY KEY (account) NOT ENFORCED)
  WITH ('connector' = 'datagen');
CREATE VIEW named AS SELECT account, UPPER(name) AS name FROM accounts WHERE name <> '';
CREATE VIEW counted AS SELECT account, MAX(name) AS name FROM accounts GROUP BY account;
"""
JOIN = "SELECT p.id, a.name FROM payments AS p {how} JOIN {right} AS a ON p.account = a.account"


def join(how: str = "", right: str = "accounts", also: str = "") -> Node:
    """The join of a batch."""
    plan = root(JOIN.format(how=how, right=right) + also, world(TABLES))
    return at_end(plan)


def at_end(node: Node) -> Node:
    below = [at_end(part) for part in node.inputs]
    node = node.with_inputs(below) if below else node
    operators = RegularJoin | GroupAggregate
    return replace(node, at_end=True) if isinstance(node, operators) else node


def loaded(node: Node, small: str, *, streaming: bool = False) -> list[str]:
    """The tables that workers load; none if there is an exchange."""
    settings = Settings(is_small=lambda scan: scan.table.name == small)
    stages = [*walk(physical_plan(node, settings, streaming=streaming).root)]
    found = [s.node for s in stages if isinstance(s, Compute) and isinstance(s.node, LookupJoin)]
    exchanged = [s for s in stages if isinstance(s, Operator) and isinstance(s.node, RegularJoin)]
    assert bool(found) != bool(exchanged)
    tables = [[n.table.name for n in walk_nodes(join.right) if not n.inputs] for join in found]
    return [name for [name] in tables]


@pytest.mark.parametrize(
    ("how", "small", "expected"),
    [
        ("", "accounts", ["accounts"]),
        ("", "payments", ["payments"]),
        ("", "nothing", []),
        ("LEFT", "accounts", ["accounts"]),
        ("LEFT", "payments", []),
        ("RIGHT", "accounts", []),
        ("RIGHT", "payments", ["payments"]),
        ("FULL", "accounts", []),
    ],
)
def test_a_small_table_is_loaded_unless_its_rows_may_stay_without_a_match(how, small, expected):
    assert loaded(join(how), small) == expected


def test_a_view_over_a_small_table_is_loaded_too_but_not_what_an_operator_emits():
    assert loaded(join(right="named"), "accounts") == ["accounts"]
    assert loaded(join(right="counted"), "accounts") == []


def test_nothing_is_loaded_in_a_stream_or_without_equal_keys():
    assert loaded(join(), "accounts", streaming=True) == []
    for on in ("p.account IS NOT DISTINCT FROM a.account", "p.amount < a.account"):
        query = f"SELECT p.id, a.name FROM payments AS p JOIN accounts AS a ON {on}"
        assert loaded(at_end(root(query, world(TABLES))), "accounts") == []


def test_rows_with_a_unique_key_are_exchanged_because_later_ones_replace_earlier_ones():
    assert loaded(join(right="keyed"), "keyed") == loaded(join(right="keyed"), "payments") == []


@pytest.mark.parametrize("small", ["accounts", "payments"])
def test_columns_and_conditions_stay_the_same(small):
    node = join("RIGHT" if small == "payments" else "LEFT", also=" AND p.amount > a.account")
    settings = Settings(is_small=lambda scan: scan.table.name == small)

    plan = physical_plan(node, settings, streaming=False)

    assert (plan.root.edge.names, plan.root.edge.types) == (node.edge.names, node.edge.types)
    [joined] = [
        stage.node
        for stage in walk(plan.root)
        if isinstance(stage, Compute) and isinstance(stage.node, LookupJoin)
    ]
    assert joined.description.name == "BroadcastJoin"
    assert joined.description.details[-1] == "condition=[(amount > account)]"
