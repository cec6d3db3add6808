"""Columns that nobody asks for are left out before operators move and remember rows.

Spark prunes what it sees, and it does not see into stateful operators. Here a projection above
one decides what the operator gives out, and that what it takes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.expressions import Expression, over, references
from tidemark.plan.nodes import (
    AssignWindows,
    Edge,
    Filter,
    IntervalJoin,
    Node,
    Project,
    RegularJoin,
    TemporalJoin,
    WindowJoin,
    inputs,
    with_inputs,
)
from tidemark.plan.projection import project
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class _Pruned:
    """A node without some of its columns; `kept` are the old positions of those it has."""

    node: Node
    kept: tuple[int, ...]

    def place(self, old: int) -> int:
        return self.kept.index(old)

    def moved(self, expression: Expression) -> Expression:
        """An expression over the old columns, over the new ones."""
        scope = Scope.of(self.node.edge)
        return over(expression, lambda ref: scope.ref(self.place(ref.index)))


def pruned(node: Node) -> Node:
    """The same rows and columns, made with as few columns on the way as possible."""
    return _only(node, range(len(node.edge.columns))).node


def _only(node: Node, wanted: Sequence[int]) -> _Pruned:
    """The node with the wanted columns at least."""
    match node:
        case Project():
            return _project(node, wanted)
        case Filter():
            below = _only(node.input, sorted({*wanted, *references(node.condition)}))
            edge = below.node.edge
            return _Pruned(Filter(below.node, below.moved(node.condition), edge), below.kept)
        case AssignWindows(keeps_rows=True):
            return _rows_of_sessions(node, wanted)
        case TemporalJoin():
            return _temporal_join(node, wanted)
        case IntervalJoin():
            # Spark needs a column to have rows.
            wanted = wanted or (node.left_time,)
            sides = _Sides.of(node, wanted, (node.left_time,), (node.right_time,))
            return sides.pruned(
                node,
                left_time=sides.left.place(node.left_time),
                right_time=sides.right.place(node.right_time),
            )
        case RegularJoin():
            wanted = wanted or node.left_keys[:1]
            return _Sides.of(node, wanted, (), ()).pruned(node)
        case WindowJoin():
            wanted = wanted or node.left_window[:1]
            sides = _Sides.of(node, wanted, node.left_window, node.right_window)
            return sides.pruned(
                node,
                left_window=tuple(map(sides.left.place, node.left_window)),
                right_window=tuple(map(sides.right.place, node.right_window)),
            )
        case _:
            same = with_inputs(node, [pruned(input_) for input_ in inputs(node)])
            return _Pruned(same, tuple(range(len(node.edge.columns))))


def _project(node: Project, wanted: Sequence[int]) -> _Pruned:
    expressions = [node.expressions[index] for index in wanted]
    below = _only(node.input, sorted({i for e in expressions for i in references(e)}))
    moved = tuple(below.moved(expression) for expression in expressions)
    return _Pruned(Project(below.node, moved, _edge(node.edge, wanted)), tuple(wanted))


def _rows_of_sessions(node: AssignWindows, wanted: Sequence[int]) -> _Pruned:
    width = len(node.input.edge.columns)
    below = _exactly(node.input, {node.time, *node.keys, *(i for i in wanted if i < width)})
    kept = (*below.kept, *range(width, width + 3))
    assigned = replace(
        node,
        input=below.node,
        time=below.place(node.time),
        keys=tuple(map(below.place, node.keys)),
        edge=_edge(node.edge, kept),
    )
    return _Pruned(assigned, kept)


def _temporal_join(node: TemporalJoin, wanted: Sequence[int]) -> _Pruned:
    width = len(node.left.edge.columns)
    # Spark needs a column to have rows.
    wanted = wanted or node.left_keys[:1]
    of_left, of_right = [i for i in wanted if i < width], [i - width for i in wanted if i >= width]
    left = _exactly(node.left, {*node.left_keys, node.left_time, *of_left})
    right_time = () if node.right_time is None else (node.right_time,)
    right = _exactly(node.right, {*node.right_keys, *right_time, *of_right})
    output = tuple(
        left.place(i) if i < width else len(left.kept) + right.place(i - width) for i in wanted
    )
    join = replace(
        node,
        left=left.node,
        right=right.node,
        left_keys=tuple(map(left.place, node.left_keys)),
        right_keys=tuple(map(right.place, node.right_keys)),
        left_time=left.place(node.left_time),
        right_time=None if node.right_time is None else right.place(node.right_time),
        output=output,
        edge=_edge(node.edge, wanted),
    )
    return _Pruned(join, tuple(wanted))


@dataclass(frozen=True, slots=True)
class _Sides:
    """The inputs of a join with what it needs of them, its condition and its output."""

    left: _Pruned
    right: _Pruned
    wanted: tuple[int, ...]
    width: int  # how many columns the left side had

    @classmethod
    def of(
        cls,
        node: IntervalJoin | RegularJoin | WindowJoin,
        wanted: Sequence[int],
        left_needs: Sequence[int],
        right_needs: Sequence[int],
    ) -> _Sides:
        width = len(node.left.edge.columns)
        asked = [*wanted, *(references(node.condition) if node.condition is not None else ())]
        of_left = {*node.left_keys, *left_needs, *(i for i in asked if i < width)}
        of_right = {*node.right_keys, *right_needs, *(i - width for i in asked if i >= width)}
        left, right = _exactly(node.left, of_left), _exactly(node.right, of_right)
        return cls(left, right, tuple(wanted), width)

    def place(self, old: int) -> int:
        """Where a column stands among those of both inputs."""
        if old < self.width:
            return self.left.place(old)
        return len(self.left.kept) + self.right.place(old - self.width)

    def pruned(self, node: IntervalJoin | RegularJoin | WindowJoin, **places: Any) -> _Pruned:
        """The join over these inputs; `places` are its own columns, where they now stand."""
        scope = Scope.of(self.left.node.edge) + Scope.of(self.right.node.edge)

        def moved(condition: Expression) -> Expression:
            return over(condition, lambda ref: scope.ref(self.place(ref.index)))

        join = replace(
            node,
            left=self.left.node,
            right=self.right.node,
            left_keys=tuple(map(self.left.place, node.left_keys)),
            right_keys=tuple(map(self.right.place, node.right_keys)),
            condition=None if node.condition is None else moved(node.condition),
            output=tuple(map(self.place, self.wanted)),
            edge=_edge(node.edge, self.wanted),
            **places,
        )
        return _Pruned(join, self.wanted)


def _exactly(node: Node, wanted: set[int]) -> _Pruned:
    """The node with the wanted columns and no others."""
    order = tuple(sorted(wanted))
    below = _only(node, order)
    if below.kept == order:
        return below
    scope = Scope.of(below.node.edge)
    places = [below.place(index) for index in order]
    names = [below.node.edge.names[place] for place in places]
    return _Pruned(project(below.node, [scope.ref(place) for place in places], names), order)


def _edge(edge: Edge, wanted: Sequence[int]) -> Edge:
    columns = tuple(edge.columns[index] for index in wanted)
    names = {column.name for column in columns}
    keys = tuple(key for key in edge.keys if names.issuperset(key))
    return replace(edge, columns=columns, keys=keys)
