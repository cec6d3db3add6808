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
    walk,
)

# What may be above the late rows that an INSERT reads.
PASSING: Final = (Sink, Project, Filter, Unnest)


def lets_out(root: Node, operator: Node) -> bool:
    """Whether the late rows of an operator can leave the query of a root: it is there once, and
    nothing is on the way but operators and what lets late rows pass. What follows the last
    operator is computed without them.
    """
    while isinstance(root, PASSING) or (isinstance(root, AssignWindows) and not root.is_stateful):
        root = root.input
    one_last = root.is_stateful and list(walk(root)).count(operator) == 1
    return one_last and _lets_pass(root, operator)


def _lets_pass(node: Node, operator: Node) -> bool:
    if node == operator:
        return True
    if not node.is_stateful and not _is_skipped(node):
        return False
    return any(_lets_pass(below, operator) for below in node.inputs)


def _is_skipped(node: Node) -> bool:
    """Whether late rows can go along with the rows of this node: it does nothing to them. A user's
    function would be called for them.
    """
    match node:
        case Project(expressions=expressions):
            evaluated: Sequence[Expression] = expressions
        case Filter(condition=condition):
            evaluated = [condition]
        case Unnest(collection=collection):
            evaluated = [collection]
        case AssignWindows() | UnionAll():
            return True
        case _:
            return False
    return not any(isinstance(part, UserCall) for e in evaluated for part in parts_of(e))
