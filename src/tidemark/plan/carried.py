"""The rows of a table on their way to an operator, with their values in the table added to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    Filter,
    Node,
    Project,
    UnionAll,
    Unnest,
    project,
    walk,
)
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Carried:
    """Rows with the values of the table after their own columns. `beside` are the sources of rows
    that were merged with them, whose watermarks count too.
    """

    rows: Node
    beside: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class CarriedTable:
    """A table that is read: its rows are `values`, named `names`, over those of `core`."""

    core: Node
    values: tuple[Expression, ...]
    names: tuple[str, ...]
    # Of the windows that a row is in, only the last one matters: the row is late after that one.
    last_only: bool = True

    @classmethod
    def of(cls, rows: Node) -> CarriedTable:
        """For the rows of a table. Its core can be found below operators, where
        consecutive projections have been fused.
        """
        names = rows.edge.names
        if isinstance(rows, Project):
            return cls(rows.input, rows.expressions, names)
        scope = Scope.of(rows.edge)
        return cls(rows, tuple(scope.ref(place) for place in range(len(names))), names)

    def to(self, node: Node) -> Iterator[Carried]:
        """The rows of the table that reach a node, once for each path on which they reach it."""
        if node == self.core:
            yield Carried(self._with_values(node))
            return
        match node:
            case AssignWindows(keeps_rows=True):
                return  # it does not emit late rows
            case Project() | Filter() | Unnest() | AssignWindows():
                for below in self.to(node.input):
                    yield replace(below, rows=self._past(node, below.rows))
            case UnionAll():
                yield from self._through(node)

    def _with_values(self, node: Node) -> Node:
        scope = Scope.of(node.edge)
        own = [scope.ref(place) for place in range(len(node.edge.columns))]
        return project(node, [*own, *self.values], [*node.edge.names, *self.names])

    def _past(self, node: Project | Filter | Unnest | AssignWindows, below: Node) -> Node:
        match node:
            case Project():
                return self._projected(below, node.expressions, node.names)
            case Filter():
                return Filter(below, node.condition, node.not_null)
            case Unnest() | AssignWindows():
                return self._widened(node, below)

    def _projected(
        self, below: Node, expressions: Sequence[Expression], names: Sequence[str]
    ) -> Node:
        """The expressions under these names, followed by what `below` carries."""
        scope, width = Scope.of(below.edge), len(below.edge.columns)
        brought = [scope.ref(place) for place in range(width - len(self.names), width)]
        return project(below, [*expressions, *brought], [*names, *self.names])

    def _widened(self, node: Unnest | AssignWindows, below: Node) -> Node:
        """Past a node that adds columns after those of its input."""
        width, wide = len(node.input.edge.columns), len(below.edge.columns)
        added = node.edge.columns[width:]
        opened = node.with_inputs([below])
        if isinstance(opened, AssignWindows) and self.last_only:
            opened = replace(opened, last_only=True)
        edge = opened.edge
        scope = Scope.of(edge)
        order = [*range(width), *range(wide, wide + len(added)), *range(width, wide)]
        names = [edge.names[place] for place in order]
        return project(opened, [scope.ref(place) for place in order], names)

    def _through(self, node: UnionAll) -> Iterator[Carried]:
        for number, branch in enumerate(node.branches):
            others = [*node.branches[:number], *node.branches[number + 1 :]]
            for below in self.to(branch):
                scope = Scope.of(below.rows.edge)
                own = [scope.ref(place) for place in range(len(node.edge.columns))]
                rows = self._projected(below.rows, own, node.edge.names)
                yield Carried(rows, (*below.beside, *sources(others)))


def sources(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The times of the rows of the nodes' sources, which their watermarks follow."""
    found = [part for node in nodes for part in walk(node) if isinstance(part, AssignWatermark)]
    return tuple(_time_of(source) for source in found)


def _time_of(source: AssignWatermark) -> Node:
    place = source.edge.names.index(source.column)
    return project(source, [Scope.of(source.edge).ref(place)], [source.column])
