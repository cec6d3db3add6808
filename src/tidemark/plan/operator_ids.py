"""Stable ids of the operators that keep state: their kind and a number, such as `temporal-join-1`.

Operators of one kind are numbered in the order in which rows reach them: an operator's inputs,
from left to right, come before the operator itself. Metrics, late rows and checkpoints speak of
these ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tidemark.plan.nodes import (
    AssignWindows,
    CoGroup,
    GroupAggregate,
    IntervalJoin,
    KeepLast,
    LateRows,
    Node,
    RegularJoin,
    TemporalJoin,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    inputs,
)

_KINDS: dict[type, str] = {
    KeepLast: "keep-last",
    TemporalJoin: "temporal-join",
    IntervalJoin: "interval-join",
    RegularJoin: "regular-join",
    WindowJoin: "window-join",
    CoGroup: "co-group",
    WindowAggregate: "window-aggregate",
    WindowRank: "window-rank",
    GroupAggregate: "group-aggregate",
    LateRows: "late-rows",
}


def kind_of(node: Node) -> str | None:
    """The kind of an operator that keeps state; None if the node keeps none."""
    if isinstance(node, AssignWindows):
        return "session-window" if node.keeps_rows else None
    kind = _KINDS.get(type(node))
    assert kind is not None or not node.is_stateful, f"{type(node).__name__} has no kind"
    return kind


class Ids:
    """Gives out ids to operators in the order in which they are asked for."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def next(self, kind: str) -> str:
        self._given[kind] += 1
        return f"{kind}-{self._given[kind]}"


def operators(root: Node) -> list[tuple[str, Node]]:
    """The operators of a plan that keep state, by their ids."""
    ids = Ids()
    return [
        (ids.next(kind), node) for node in _upwards(root) if (kind := kind_of(node)) is not None
    ]


def _upwards(node: Node) -> Iterator[Node]:
    for below in inputs(node):
        yield from _upwards(below)
    yield node
