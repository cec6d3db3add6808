"""Rows without an event time where nothing asks for it.

Sources whose partitions have watermarks of their own compute these while they read, and ignore a
row without a time, as in Flink: only what works by event time rejects it. Other sources check every
row.
"""

from __future__ import annotations

from dataclasses import replace

from tidemark.plan.nodes import (
    AssignWatermark,
    ChangelogNormalize,
    Filter,
    GroupAggregate,
    LookupJoin,
    Node,
    Project,
    RegularJoin,
    Scan,
    Sink,
    UnionAll,
    Unnest,
)

_INDIFFERENT = (
    ChangelogNormalize,
    Filter,
    GroupAggregate,
    LookupJoin,
    Project,
    RegularJoin,
    Sink,
    UnionAll,
    Unnest,
)


def without_needless_checks(root: Node) -> Node:
    """The plan in which such sources only check event times where an operator needs them."""
    if isinstance(root, AssignWatermark):
        return replace(root, checks=False) if _has_partitions(root) else root
    if not isinstance(root, _INDIFFERENT):
        return root
    inputs = tuple(map(without_needless_checks, root.inputs))
    if all(new is old for new, old in zip(inputs, root.inputs, strict=True)):
        return root
    return root.with_inputs(inputs)


def _has_partitions(node: Node) -> bool:
    while isinstance(node, AssignWatermark | Project | Filter):
        node = node.input
    return isinstance(node, Scan) and node.partitioned
