"""Whether late rows of an operator can leave its query, through what is above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidemark.plan.expressions import Expression, UserCall
from tidemark.plan.expressions import walk as parts_of
from tidemark.plan.nodes import (
    AssignWindows,
    Filter,
    Node,
    Project,
    Sink,
    UnionAll,
    Unnest,
)

# What may be above the late rows that an INSERT reads.
PASSING: Final = (Sink, Project, Filter, Unnest)


def lets_out(root: Node, operator: Node) -> bool:
    """Whether the late rows of an operator can leave the query of a root: nothing is on the way but
    operators and what lets late rows pass. What follows the last operator, or the last union, is
    computed without them. If the operator is there more than once, it is the first that hands them
    out.
    """
    while isinstance(root, PASSING) or (isinstance(root, AssignWindows) and not root.is_stateful):
        root = root.input
    above = _above(root, operator)
    return above is not None and all(node.is_stateful or _is_skipped(node) for node in above)


def _above(node: Node, operator: Node) -> tuple[Node, ...] | None:
    """The nodes above the first of equal operators; None if it is not there."""
    if node == operator:
        return ()
    for below in node.inputs:
        above = _above(below, operator)
        if above is not None:
            return (node, *above)
    return None


def _is_skipped(node: Node) -> bool:
    """Whether late rows can go along with the rows of this node: it does nothing to them. A user's
    function would be called for them.
    """
    match node:
        case Project(expressions=expressions):
            evaluated: Sequence[Expression] = expressions
        case Filter(condition=condition):
            evaluated = [condition]
        case Unnest(collection=collection, condition=condition):
            evaluated = [collection, *([] if condition is None else [condition])]
        case AssignWindows() | UnionAll():
            return True
        case _:
            return False
    return not any(isinstance(part, UserCall) for e in evaluated for part in parts_of(e))
