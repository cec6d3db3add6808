"""Contracts of queries over two streams, planned without Spark."""

from __future__ import annotations

from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.of_plan import contract_of
from tidemark.checkpoints.resuming import resumed
from tidemark.plan.kept_state import LayoutOptions
from tidemark.plan.nodes import Node
from tidemark.plan.planner import Plan
from tidemark.session.workspace import Workspace

TABLES = """
CREATE TABLE a (k INT, v INT, w STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts {delay})
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '/nowhere/a',
      'source.monitor-interval' = '1' {options});
CREATE TABLE b (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
                PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '/nowhere/b',
      'source.monitor-interval' = '1');
"""


def contract(
    query: str,
    *,
    tables: str = TABLES,
    delay: str = "",
    options: str = "",
    zone: str = "UTC",
    ttl_ms: int = 0,
) -> Contract:
    script = tables.replace("{delay}", delay).replace("{options}", options) + query
    return promise(planned(script).roots[0], LayoutOptions(zone, ttl_ms))


def planned(script: str) -> Plan:
    plan = Workspace().plan_script(script)[-1].plan
    assert plan is not None
    return plan


UTC = LayoutOptions("UTC")


def promise(root: Node, options: LayoutOptions = UTC) -> Contract:
    return contract_of(root, "job", options, key_groups=32, shuffle_partitions=2, spark="4.3.0")


def resumed_from(then: Contract, query: str) -> tuple[Node, Contract]:
    """The plan and the contract with which a query resumes."""
    script = TABLES.replace("{delay}", "").replace("{options}", "") + query
    plan = planned(script)
    return resumed(plan.roots[0], plan, then, promise)
