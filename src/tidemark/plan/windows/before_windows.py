"""Rows as they were before a window function: an aggregation by window, or a window join, and
the function below it become one operator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidemark.plan.expressions import Expression, Literal, Ref, references
from tidemark.plan.nodes import AssignWindows, Edge, Filter, Node, Project, project
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class BeforeWindows:
    """The rows before they were assigned to windows, with the columns they have after it; the
    window bounds are replaced by the row's time, and what marks the last of a row's windows is
    true. `partition` are the keys of session windows.
    """

    node: Node
    found: AssignWindows
    partition: tuple[int, ...]


def before_windows(node: Node) -> BeforeWindows | None:
    """The rows below a window function, through projections and filters.

    None if there is no such function, or if something between uses the window.
    """
    match node:
        case AssignWindows():
            return _without_windows(node)
        case Filter():
            below = before_windows(node.input)
            if below is None or references(node.condition) & _window_places(node.input.edge):
                return None
            kept = Filter(below.node, node.condition)
            return replace(below, node=kept)
        case Project():
            return _below_project(node)
    return None


def _without_windows(node: AssignWindows) -> BeforeWindows:
    scope = Scope.of(node.input.edge)
    width = len(node.input.edge.columns)
    marks = [Literal(True, node.edge.columns[-1].type)] * node.marks_last
    of_row = [scope.ref(i) for i in range(width)]
    expressions: list[Expression] = [*of_row, *[scope.ref(node.time)] * 3, *marks]
    names = node.input.edge.names
    of_marks = node.edge.names[width + 3 :]
    rows = project(node.input, expressions, [*names, *[names[node.time]] * 3, *of_marks])
    return BeforeWindows(rows, node, node.keys)


def _below_project(node: Project) -> BeforeWindows | None:
    below = before_windows(node.input)
    if below is None:
        return None
    windows = _window_places(node.input.edge)
    if any(references(e) & windows for e in node.expressions if not isinstance(e, Ref)):
        return None
    scope = Scope.of(below.node.edge)
    names, expressions = [], []
    places: dict[int, int] = {}
    for place, expression in enumerate(node.expressions):
        name = node.edge.names[place]
        if isinstance(expression, Ref):
            places.setdefault(expression.index, place)
            if expression.index in windows:
                expression = scope.ref(expression.index)
                name = expression.name
        expressions.append(expression)
        names.append(name)
    partition = tuple(places.get(column, -1) for column in below.partition)
    return BeforeWindows(project(below.node, expressions, names), below.found, partition)


def _window_places(edge: Edge) -> frozenset[int]:
    return frozenset(i for i, column in enumerate(edge.columns) if column.window is not None)
