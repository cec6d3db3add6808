"""Which joins assign rows to windows themselves: a row in several windows is then exchanged
once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tidemark import types as t
from tidemark.kernels.windows.spec import Cumulating, Sliding
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes import Filter, Node, Project
from tidemark.plan.windows.before_windows import before_windows

_UTC = ("UTC", "ETC/UTC", "GMT", "Z")


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The rows of a join's input before they were assigned to windows, with the same columns;
    those of the window's bounds contain the row's time. It is also in column `time`, which
    may be `shown`.
    """

    node: Node
    windows: Sliding | Cumulating
    time: int
    shown: bool


def unplaced(
    node: Node, keys: tuple[int, ...], window: tuple[int, int], zone: str
) -> Unplaced | None:
    """The rows before a window function, if the join can assign them to its windows."""
    before = before_windows(node)
    if before is None or before.found.processing_time or before.found.last_only:
        return None
    assigner = before.found.assigner
    if not isinstance(assigner, Sliding | Cumulating):
        return None
    # With nested windows, it is not known here which ones a column refers to.
    if any(column.window is not None for column in before.found.input.edge.columns):
        return None
    places = {place for place, column in enumerate(node.edge.columns) if column.window is not None}
    instants = (isinstance(node.edge.columns[place].type, t.TimestampLtz) for place in places)
    if places.intersection(keys) or (any(instants) and zone.upper() not in _UTC):
        return None
    twin = _equivalent(before.node, window[0], places)
    time = window[0] if twin is None else twin
    return Unplaced(before.node, assigner, time, shown=twin is not None)


def _equivalent(node: Node, place: int, but: Collection[int]) -> int | None:
    """Another column, not in `but`, with the same values as column `place`."""
    origin = _origin(node, place)
    others = range(len(node.edge.columns))
    return next((n for n in others if n not in but and _origin(node, n) == origin), None)


def _origin(node: Node, place: int) -> tuple[int, int]:
    """The node and column that column `place` passes on."""
    while isinstance(node, Filter | Project):
        if isinstance(node, Project):
            expression = node.expressions[place]
            if not isinstance(expression, Ref):
                break
            place = expression.index
        node = node.input
    return id(node), place
