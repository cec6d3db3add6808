"""CURRENT_WATERMARK: the watermark before each row, a column that comes from the row's source."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from tidemark.catalog.tables import Table
from tidemark.plan import unsupported
from tidemark.plan.expressions import Call, Case, Cast, Expression, FieldAccess, Ref, UserCall
from tidemark.plan.expressions import replaced as replaced_in
from tidemark.plan.expressions import walk as parts_of
from tidemark.plan.nodes import (
    CURRENT,
    AssignWatermark,
    CurrentWatermark,
    Filter,
    Node,
    Project,
    Scan,
    UnionAll,
    project,
    walk,
)


def with_current_watermarks(root: Node) -> Node:
    """The plan in which CURRENT_WATERMARK is a column that sources provide."""
    return _replaced(root) if any(map(_asks, walk(root))) else root


def _replaced(node: Node) -> Node:
    node = node.with_inputs([_replaced(below) for below in node.inputs])
    if not _asks(node):
        return node
    match node:
        case Project():
            below, place = _carried(node.input)
            current = below.edge.ref(place)
            computed = tuple(_over(expression, current) for expression in node.expressions)
            return Project(below, computed, node.names)
        case Filter():
            below, place = _carried(node.input)
            kept = Filter(below, _over(node.condition, below.edge.ref(place)), node.not_null)
            width = len(node.edge.columns)
            return project(kept, kept.edge.refs[:width], kept.edge.names[:width])
    raise unsupported.CURRENT_WATERMARK.error(None, where=f" in {node.description.name}")


def _carried(node: Node) -> tuple[Node, int]:
    """The node with the watermark before each row as another column, and the column's place."""
    match node:
        case AssignWatermark(input=below):
            if not isinstance(below, CurrentWatermark):
                _refuse_partitions(node)
                node = replace(node, input=CurrentWatermark(below, node.expression))
            return node, len(node.edge.columns) - 1
        case Filter():
            below, place = _carried(node.input)
            return Filter(below, node.condition, node.not_null), place
        case Project():
            below, place = _carried(node.input)
            current = below.edge.ref(place)
            if current in node.expressions:
                return replace(node, input=below), node.expressions.index(current)
            widened = Project(below, (*node.expressions, current), (*node.names, CURRENT))
            return widened, len(node.names)
        case UnionAll():
            _refuse_several_tables(node)
            return UnionAll(tuple(map(_with_it_last, node.branches))), len(node.edge.columns)
    raise unsupported.CURRENT_WATERMARK.error(None, where=f" above {node.description.name}")


def _with_it_last(branch: Node) -> Node:
    below, place = _carried(branch)
    places = [*range(len(branch.edge.columns)), place]
    refs = [below.edge.ref(one) for one in places]
    return project(below, refs, [*branch.edge.names, CURRENT])


def _refuse_several_tables(union: UnionAll) -> None:
    """The watermark of a union is that of its branches only if these have the same."""
    first, *others = (
        (
            scan.table,
            next(one.expression for one in walk(branch) if isinstance(one, AssignWatermark)),
        )
        for branch in union.branches
        for scan in walk(branch)
        if isinstance(scan, Scan)
    )
    if any(other != first for other in others):
        raise unsupported.CURRENT_WATERMARK.error(None, where=" above UNION ALL of several tables")


def _refuse_partitions(node: AssignWatermark) -> None:
    for scan in walk(node):
        if isinstance(scan, Scan) and scan.partitioned:
            where = f" for table `{scan.table.name}`, whose partitions have watermarks of their own"
            raise unsupported.CURRENT_WATERMARK.error(None, where=where)


def _over(expression: Expression, current: Ref) -> Expression:
    return replaced_in(expression, lambda part: current if _is_call(part) else None)


def _is_call(part: Expression) -> bool:
    return isinstance(part, Call) and part.function.name == "CURRENT_WATERMARK"


def _asks(node: Node) -> bool:
    """Whether an expression of the node, not of its inputs, calls CURRENT_WATERMARK."""
    return any(_mentions(getattr(node, field.name)) for field in fields(node))  # type: ignore[arg-type]


def _mentions(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_mentions, value))
    if isinstance(value, Call | UserCall | Cast | Case | FieldAccess):
        return any(map(_is_call, parts_of(value)))
    # What belongs to a node alone, such as the conditions of a pattern.
    if not is_dataclass(value) or isinstance(value, Node | Table):
        return False
    return any(_mentions(getattr(value, field.name)) for field in fields(value))
