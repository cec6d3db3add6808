"""The equality keys of a join: found in its condition, and made columns of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemark.plan.expressions import Expression, Ref, references, shifted
from tidemark.plan.nodes import Node, project
from tidemark.plan.scalars.conversions import common_type, convert
from tidemark.plan.scope import Scope


def key_pair(
    one: Expression, other: Expression, width: int, node: exp.Expression
) -> tuple[Expression, Expression] | None:
    """(left, right) if one operand refers to the left side only and the other to the right only."""
    for mine, theirs in ((one, other), (other, one)):
        left, right = references(mine), references(theirs)
        if left and right and max(left) < width <= min(right):
            type_ = common_type([one, other], "the sides of =", node)
            return convert(mine, type_), shifted(convert(theirs, type_), -width)
    return None


def with_keys(node: Node, keys: Sequence[Expression]) -> tuple[Node, tuple[int, ...]]:
    """The node with its keys as plain columns, and their positions. A column that is equal to
    several of the other side is a key once; for the others it is repeated.
    """
    positions = [key.index for key in keys if isinstance(key, Ref)]
    if len(set(positions)) == len(keys):
        return node, tuple(positions)
    scope = Scope.of(node.edge)
    expressions: list[Expression] = [scope.ref(i) for i in range(len(node.edge.columns))]
    names = list(node.edge.names)
    placed: list[int] = []
    for number, key in enumerate(keys):
        if not isinstance(key, Ref) or key.index in placed:
            placed.append(len(expressions))
            expressions.append(key)
            names.append(f"$key{number}")
        else:
            placed.append(key.index)
    return project(node, expressions, names), tuple(placed)


def nullable_scope(scope: Scope, padded: bool) -> Scope:
    """The columns of a side, nullable if it is padded."""
    if not padded:
        return scope
    return Scope(
        replace(v, column=replace(v.column, type=v.column.type.with_nullable(True)))
        for v in scope.visible
    )
