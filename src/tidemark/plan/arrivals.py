"""Where rows come one after the other, each can know the watermark that was before it."""

from __future__ import annotations

from dataclasses import replace

from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    Filter,
    Node,
    Project,
    Scan,
    Unnest,
    with_inputs,
)


def stamped(node: Node) -> Node | None:
    """The same rows, with the watermark that was before each; None where they cannot have it.

    They must all be of one source that is read in order, and no operator may have held them back.
    """
    match node:
        case AssignWatermark():
            return replace(node, stamps=True) if _is_ordered(node.input) else None
        case AssignWindows(keeps_rows=True):
            return None
        case Project() | Filter() | Unnest() | AssignWindows():
            below = stamped(node.input)
            return None if below is None else with_inputs(node, [below])
    return None


def _is_ordered(node: Node) -> bool:
    match node:
        case Project() | Filter():
            return _is_ordered(node.input)
        case Scan():
            return node.ordered
    return False
