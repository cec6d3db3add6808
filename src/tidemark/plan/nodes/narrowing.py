"""Drops unused columns before operators exchange and keep rows.

Spark prunes what it sees, but it does not see into stateful operators. Here a projection above an
operator decides what it emits, and that decides its input: each node narrows itself.
"""

from __future__ import annotations

from collections.abc import Collection

from tidemark.plan.nodes.base import Narrowed, Node
from tidemark.plan.nodes.project import project


def pruned(node: Node) -> Node:
    """The same rows and columns, produced with as few columns on the way as possible."""
    return node.narrowed(range(len(node.edge.columns))).node


def whole(node: Node) -> Narrowed:
    """A node with all its columns, which needs all of its inputs."""
    same = node.with_inputs([pruned(below) for below in node.inputs])
    return Narrowed(same, tuple(range(len(node.edge.columns))))


def exactly(node: Node, wanted: Collection[int]) -> Narrowed:
    """The node with the wanted columns and no others."""
    order = tuple(sorted({*wanted}))
    below = node.narrowed(order)
    if below.kept == order:
        return below
    edge, places = below.node.edge, below.places(order)
    names = [edge.names[place] for place in places]
    return Narrowed(project(below.node, [edge.ref(place) for place in places], names), order)
