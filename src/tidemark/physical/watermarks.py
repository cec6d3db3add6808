"""Where watermarks come from, and what is known about them above."""

from __future__ import annotations

from tidemark import types as t
from tidemark.plan.expressions import Call, Literal, Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    Node,
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
