"""Rows without repetitions: SELECT DISTINCT, and UNION without ALL."""

from __future__ import annotations

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import AggregateCall, Column, Edge, GroupAggregate, Node
from tidemark.plan.projection import project
from tidemark.plan.scalars import literals
from tidemark.plan.scope import Scope


def distinct(node: Node, *, at_end: bool) -> Node:
    """Each different row once: a group for each, whose result never changes."""
    scope, width = Scope.of(node.edge), len(node.edge.columns)
    refs: list[Expression] = [scope.ref(place) for place in range(width)]
    rows = project(node, [*refs, literals.boolean(True)], [*node.edge.names, "$always"])
    call = AggregateCall("MAX", (width,), t.Boolean())
    columns = tuple(Column(column.name, column.type) for column in node.edge.columns)
    # Where rows are only inserted, a repetition changes nothing and tells nothing.
    changelog = Changelog.APPEND if at_end else node.edge.changelog
    edge = Edge((*columns, Column("$always", t.Boolean())), changelog, (), node.edge.bounded)
    grouped = GroupAggregate(rows, tuple(range(width)), (call,), edge, at_end)
    return project(grouped, refs, node.edge.names)
