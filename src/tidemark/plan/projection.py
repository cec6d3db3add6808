"""Projections: expressions over a node, with what its edge then knows of time and keys."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.plan.expressions import Call, Expression, Ref
from tidemark.plan.nodes import Column, Edge, Node, Project, TimeAttribute, WindowColumn
from tidemark.plan.scalars.fusion import fused


def project(node: Node, expressions: Sequence[Expression], names: Sequence[str]) -> Node:
    """The expressions over `node` as columns; nothing is added where nothing changes, and one
    projection of another is one."""
    below = node.edge
    same = all(isinstance(e, Ref) and e.index == i for i, e in enumerate(expressions))
    if same and tuple(names) == below.names:
        return node
    columns = tuple(
        Column(
            name, expression.type, _time_attribute(expression, below), _window(expression, below)
        )
        for name, expression in zip(names, expressions, strict=True)
    )
    keys = _kept_keys(expressions, names, below)
    edge = Edge(columns, below.changelog, keys, below.bounded)
    if isinstance(node, Project):
        together = fused(expressions, node.expressions)
        if together is not None:
            return Project(node.input, tuple(together), edge)
    return Project(node, tuple(expressions), edge)


def _kept_keys(
    expressions: Sequence[Expression], names: Sequence[str], below: Edge
) -> tuple[tuple[str, ...], ...]:
    """The keys whose columns are all still there, under names that mean nothing else."""
    renamed = {
        below.columns[value.index].name: name
        for value, name in zip(expressions, names, strict=True)
        if isinstance(value, Ref) and names.count(name) == 1
    }
    return tuple(
        tuple(renamed[column] for column in key)
        for key in below.keys
        if all(column in renamed for column in key)
    )


def _time_attribute(expression: Expression, below: Edge) -> TimeAttribute | None:
    """A plain reference to a time attribute is one; any computation ends that."""
    if isinstance(expression, Ref):
        return below.columns[expression.index].time
    if isinstance(expression, Call) and expression.function.name == "PROCTIME":
        return "processing"
    return None


def _window(expression: Expression, below: Edge) -> WindowColumn | None:
    return below.columns[expression.index].window if isinstance(expression, Ref) else None
