"""Rows without duplicates: SELECT DISTINCT, and UNION without ALL."""

from __future__ import annotations

from tidemark import types as t
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import AggregateCall, GroupAggregate, Node, project
from tidemark.plan.scalars import literals
from tidemark.plan.scope import Scope


def distinct(node: Node, *, at_end: bool, hinted_ms: int | None = None) -> Node:
    """Each distinct row once: a group for each, whose result never changes."""
    if node.edge.keys:
        return node  # no two rows are the same
    scope, width = Scope.of(node.edge), len(node.edge.columns)
    refs: list[Expression] = [scope.ref(place) for place in range(width)]
    rows = project(node, [*refs, literals.boolean(True)], [*node.edge.names, "$always"])
    call = AggregateCall("MAX", (width,), t.Boolean())
    keys = tuple(range(width))
    grouped = GroupAggregate(rows, keys, (call,), at_end, distinct=True, hinted_ms=hinted_ms)
    return project(grouped, refs, node.edge.names)
