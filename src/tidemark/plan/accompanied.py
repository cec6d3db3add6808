"""The rows of an operator's input, accompanied by columns of tables whose late rows are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidemark import types as t
from tidemark.functions import BUILT_IN
from tidemark.kernels.windows.spec import Sliding
from tidemark.plan.carried import CarriedTable
from tidemark.plan.expressions import Call, Expression, Literal
from tidemark.plan.nodes import (
    AssignWindows,
    Filter,
    Node,
    Project,
    UnionAll,
    Unnest,
    project,
)
from tidemark.plan.scope import Scope

_BOOLEAN = t.Boolean(nullable=False)
_PASSED = (Project, Filter, Unnest, AssignWindows, UnionAll)


def tumbles(node: AssignWindows) -> bool:
    """Whether the node puts each row into one window."""
    return isinstance(node.assigner, Sliding) and node.assigner.size == node.assigner.slide


def on_the_way(node: Node, core: Node) -> Iterator[Node]:
    """The nodes that pass rows of a core on to this one."""
    if _reaches(node, core) and node != core:
        yield node
        for below in node.inputs:
            yield from on_the_way(below, core)


def _reaches(node: Node, core: Node) -> bool:
    if node == core:
        return True
    if not isinstance(node, _PASSED) or node.is_stateful:
        return False
    return any(_reaches(below, core) for below in node.inputs)


@dataclass(frozen=True, slots=True)
class Companions:
    """The values of a table that accompany its rows on one of the paths to an operator."""

    carried: CarriedTable
    path: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.carried.names

    @property
    def nothing(self) -> list[Expression]:
        """What accompanies other rows."""
        return [Literal(None, value.type.with_nullable(True)) for value in self.carried.values]


@dataclass(slots=True)
class Accompanied:
    """Adds companions to rows, in this order, after their own columns.

    If they are `marked`, a column follows the values of each that says which rows are handed out
    with them: rows of the table, and where several rows are made of one, that which is late last;
    of those for `sets`, which are late together, the first.
    """

    companions: Sequence[Companions]
    marked: bool
    sets: Unnest | None = None
    _found: Counter[int] = field(default_factory=Counter)

    def to(self, node: Node) -> Node:
        """The rows of a node with their companions."""
        below = [c.carried.core for c in self.companions if c.carried.core != node]
        passes = any(_reaches(node, core) for core in below)
        rows = self._past(node) if passes else self._with_nothing(node)
        for number, companions in enumerate(self.companions):
            if companions.carried.core == node:
                if self._found[number] == companions.path:
                    rows = self._begun(rows, node, number)
                self._found[number] += 1
        return rows

    def _with_nothing(self, node: Node) -> Node:
        """Rows that have nothing to hand out."""
        scope = Scope.of(node.edge)
        own = [scope.ref(place) for place in range(len(node.edge.columns))]
        marks = [Literal(False, _BOOLEAN)] * self.marked
        added = [part for c in self.companions for part in (*c.nothing, *marks)]
        return project(node, [*own, *added], [*node.edge.names, *self._names])

    def _begun(self, rows: Node, core: Node, number: int) -> Node:
        """The rows of a core with the values of a table."""
        scope = Scope.of(rows.edge)
        expressions: list[Expression] = [scope.ref(n) for n in range(len(rows.edge.columns))]
        first = len(core.edge.columns) + self._before(number)
        values = self.companions[number].carried.values
        marks = [Literal(True, _BOOLEAN)] * self.marked
        expressions[first : first + len(values) + self.marked] = [*values, *marks]
        return project(rows, expressions, rows.edge.names)

    def _past(self, node: Node) -> Node:
        match node:
            case Project(expressions=expressions, names=names):
                below = self.to(node.input)
                return project(below, [*expressions, *self._last(below)], [*names, *self._names])
            case Filter():
                return Filter(self.to(node.input), node.condition, node.not_null)
            case Unnest() | AssignWindows():
                return self._widened(node)
            case UnionAll():
                return UnionAll(tuple(map(self.to, node.branches)))
        raise AssertionError(f"late rows do not come by {node.description.name}")

    def _widened(self, node: Unnest | AssignWindows) -> Node:
        """Past a node that adds columns after those of its input."""
        below = self.to(node.input)
        opened = node.with_inputs([below])
        if isinstance(opened, AssignWindows) and not tumbles(opened):
            opened = replace(opened, marks_last=True)
        scope = Scope.of(opened.edge)
        width, wide = len(node.input.edge.columns), len(below.edge.columns)
        added = len(node.edge.columns) - width
        own = [scope.ref(n) for n in (*range(width), *range(wide, wide + added))]
        brought: list[Expression] = [scope.ref(n) for n in range(width, wide)]
        only = self._only(node, opened, scope)
        if only is not None:
            brought = self._marked_by(brought, only)
        return project(opened, [*own, *brought], [*node.edge.names, *self._names])

    def _only(self, node: Node, opened: Node, scope: Scope) -> Expression | None:
        """Which one it is that counts of the rows that the node makes of one."""
        last = scope.ref(len(opened.edge.columns) - 1)
        if isinstance(opened, AssignWindows):
            return last if opened.marks_last else None
        if node == self.sets:
            return Call(BUILT_IN["="], (last, Literal(0, last.type)), _BOOLEAN)
        return None

    def _marked_by(self, brought: list[Expression], only: Expression) -> list[Expression]:
        marks = {self._before(n + 1) - 1 for n in range(len(self.companions))}
        return [
            Call(BUILT_IN["AND"], (part, only), _BOOLEAN) if place in marks else part
            for place, part in enumerate(brought)
        ]

    def _last(self, rows: Node) -> list[Expression]:
        """The companions of rows."""
        scope, width = Scope.of(rows.edge), len(rows.edge.columns)
        return [scope.ref(place) for place in range(width - len(self._names), width)]

    def _before(self, number: int) -> int:
        """How many columns precede those of a table."""
        return sum(len(c.names) + self.marked for c in self.companions[:number])

    @property
    def _names(self) -> list[str]:
        marks = ["late"] * self.marked
        return [name for c in self.companions for name in (*c.names, *marks)]
