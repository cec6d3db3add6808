"""Columns that nobody asks for are left out before operators move and remember rows.

Spark prunes what it sees, and it does not see into stateful operators. Here a projection above
one decides what the operator gives out, and that what it takes in: each node narrows itself.
"""

from __future__ import annotations

from collections.abc import Collection

from tidemark.plan.nodes.base import Narrowed, Node
from tidemark.plan.nodes.project import project


def pruned(node: Node) -> Node:
    """The same rows and columns, made with as few columns on the way as possible."""
    return node.narrowed(range(len(node.edge.columns))).node


def whole(node: Node) -> Narrowed:
    """A node with all its columns, that needs all of its inputs."""
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
