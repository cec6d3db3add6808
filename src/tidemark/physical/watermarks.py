"""Where watermarks come from, and what is known about them above."""

from __future__ import annotations

from dataclasses import replace

from tidemark import types as t
from tidemark.plan.expressions import Call, Literal, Ref, over
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    Node,
    Project,
    Scan,
    is_stateful,
    walk,
)


def sources(node: Node) -> list[AssignWatermark]:
    return [part for part in walk(node) if isinstance(part, AssignWatermark)]


def behind_ms(node: Node) -> int | None:
    """How far the watermark is behind the rows' event time, if the distance is constant."""
    found = sources(node)
    # The time of a window is not that of the row assigned to it.
    moved = any(isinstance(part, AssignWindows) for part in walk(node))
    if len(found) != 1 or moved or is_stateful(node):
        return None
    [source] = found
    time, expression, behind = source.edge.names.index(source.column), source.expression, 0
    match expression:
        case Call(function=function, args=(of, Literal(value=int() as milliseconds, type=kind))):
            if function.name == "-" and isinstance(kind, t.DayTimeInterval):
                expression, behind = of, milliseconds
    # A watermark may follow a different column than the one it is for.
    return behind if isinstance(expression, Ref) and expression.index == time else None


# --- sources whose partitions have watermarks of their own -------------------------------------


def scan_of(node: AssignWatermark) -> Scan | None:
    """The table that the watermark is of."""
    below = node.input.input if isinstance(node.input, Project) else node.input
    return below if isinstance(below, Scan) else None


def has_partitions(node: Node) -> bool:
    """Whether all rows come from one source whose partitions have watermarks of their own."""
    found = sources(node)
    if len(found) != 1 or is_stateful(node):
        return False
    scan = scan_of(found[0])
    return scan is not None and scan.partitioned


def followed_by_partition(node: AssignWatermark) -> Node:
    """What is below a watermark, with its scan following it: an expression over its columns."""
    scan = scan_of(node)
    assert scan is not None
    if not isinstance(node.input, Project):
        return replace(scan, watermark=node.expression)
    computed = node.input.expressions
    expression = over(node.expression, lambda column: computed[column.index])
    return replace(node.input, input=replace(scan, watermark=expression))
