"""How a job resumes from its checkpoint: with a plan whose operators keep what they have kept."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.fit import misfits
from tidemark.plan.nodes import Node
from tidemark.plan.planner import Plan
from tidemark.plan.widening import widened

Promise = Callable[[Node], Contract]


def resumed(root: Node, plan: Plan, then: Contract, promise: Promise) -> tuple[Node, Contract]:
    """The root of a plan as it fits a checkpoint best, and its contract: operators whose rows
    have more columns there than the query needs continue to keep them.
    """
    now = promise(root)
    whole = next((w for r, w in zip(plan.roots, plan.whole, strict=False) if r is root), None)
    differ = list(misfits(then, now))
    if whole is None or not differ:
        return root, now
    wide = widened(whole, then.operators)
    wider = promise(wide)
    return (wide, wider) if len([*misfits(then, wider)]) < len(differ) else (root, now)
