"""Columns that nobody asks for are left out before operators move and remember rows.

Spark prunes what it sees, and it does not see into stateful operators. Here a projection above
one decides what the operator gives out, and that what it takes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.plan.expressions import Expression, over, references
from tidemark.plan.nodes import (
    Edge,
    Filter,
    IntervalJoin,
    Node,
    Project,
    TemporalJoin,
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
        case TemporalJoin():
            return _temporal_join(node, wanted)
        case IntervalJoin():
            return _interval_join(node, wanted)
        case _:
            same = with_inputs(node, [pruned(input_) for input_ in inputs(node)])
            return _Pruned(same, tuple(range(len(node.edge.columns))))


def _project(node: Project, wanted: Sequence[int]) -> _Pruned:
    expressions = [node.expressions[index] for index in wanted]
    below = _only(node.input, sorted({i for e in expressions for i in references(e)}))
    moved = tuple(below.moved(expression) for expression in expressions)
    return _Pruned(Project(below.node, moved, _edge(node.edge, wanted)), tuple(wanted))


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


def _interval_join(node: IntervalJoin, wanted: Sequence[int]) -> _Pruned:
    width = len(node.left.edge.columns)
    # Spark needs a column to have rows.
    wanted = wanted or (node.left_time,)
    asked = [*wanted, *(references(node.condition) if node.condition is not None else ())]
    left = _exactly(node.left, {*node.left_keys, node.left_time, *(i for i in asked if i < width)})
    right = _exactly(
        node.right,
        {*node.right_keys, node.right_time, *(i - width for i in asked if i >= width)},
    )
    scope = Scope.of(left.node.edge) + Scope.of(right.node.edge)

    def place(old: int) -> int:
        return left.place(old) if old < width else len(left.kept) + right.place(old - width)

    def moved(condition: Expression) -> Expression:
        return over(condition, lambda ref: scope.ref(place(ref.index)))

    join = replace(
        node,
        left=left.node,
        right=right.node,
        left_keys=tuple(map(left.place, node.left_keys)),
        right_keys=tuple(map(right.place, node.right_keys)),
        left_time=left.place(node.left_time),
        right_time=right.place(node.right_time),
        condition=None if node.condition is None else moved(node.condition),
        output=tuple(map(place, wanted)),
        edge=_edge(node.edge, wanted),
    )
    return _Pruned(join, tuple(wanted))


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
