"""Stable ids of stateful operators: their kind and a number, such as `temporal-join-1`.

Operators of one kind are numbered in the order in which rows reach them: an operator's inputs, from
left to right, come before the operator itself. Metrics, late rows and checkpoints use these ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tidemark.plan.nodes import Node


def kind_of(node: Node) -> str | None:
    """The kind of a stateful operator; None if the node keeps no state."""
    return None if node.needs is None else node.needs.kind


class OperatorIds:
    """Assigns ids to operators in the order in which they are requested."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def next(self, kind: str) -> str:
        self._given[kind] += 1
        return f"{kind}-{self._given[kind]}"


def operators(root: Node) -> list[tuple[str, Node]]:
    """The stateful operators of a plan, by id."""
    ids = OperatorIds()
    return [
        (ids.next(kind), node) for node in _upwards(root) if (kind := kind_of(node)) is not None
    ]


def _upwards(node: Node) -> Iterator[Node]:
    for below in node.inputs:
        yield from _upwards(below)
    yield node
