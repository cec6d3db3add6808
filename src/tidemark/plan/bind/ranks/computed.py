"""Keys and orders that are expressions, as columns."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, project


def with_columns(node: Node, values: Sequence[Expression]) -> tuple[Node, list[int]]:
    """The node with the values as additional columns, and the positions of those."""
    expressions: list[Expression] = list(node.edge.refs)
    names = list(node.edge.names)
    places = []
    for value in values:
        if value not in expressions:
            expressions.append(value)
            names.append(f"$by{len(names)}")
        places.append(expressions.index(value))
    return project(node, expressions, names), places
