"""Projections: expressions over a node, with the time attributes and keys of their edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import types as t
from tidemark.plan.expressions import Call, Case, Cast, Expression, Ref, references
from tidemark.plan.nodes.base import Description, Narrowed, Node
from tidemark.plan.nodes.edge import Column, Edge, TimeAttribute
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.state import plain
from tidemark.plan.scalars.fusion import fused
from tidemark.plan.words import words


@dataclass(frozen=True)
class Project(Unary, Stateless):
    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    def _edge(self) -> Edge:
        below = self.input.edge
        columns = tuple(
            _column(name, expression, below)
            for name, expression in zip(self.names, self.expressions, strict=True)
        )
        keys = _kept_keys(self.expressions, self.names, below)
        return Edge(columns, below.changelog, keys, below.bounded)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        expressions = [self.expressions[place] for place in wanted]
        below = self.input.narrowed(sorted({i for e in expressions for i in references(e)}))
        moved = tuple(below.moved(expression) for expression in expressions)
        names = tuple(self.names[place] for place in wanted)
        return Narrowed(Project(below.node, moved, names), tuple(wanted))

    def origin(self, place: int) -> Any:
        return plain(self.expressions[place], self.input.origin)

    def _description(self) -> Description:
        items = [
            words(expression) if words(expression) == name else f"{words(expression)} AS {name}"
            for expression, name in zip(self.expressions, self.names, strict=True)
        ]
        return Description("Project", (f"select=[{', '.join(items)}]",), "projection")

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return self.input.keeps_all_rows


def project(node: Node, expressions: Sequence[Expression], names: Sequence[str]) -> Node:
    """The expressions over `node` as columns; a projection without effect is omitted, and
    consecutive ones are merged.
    """
    same = all(isinstance(e, Ref) and e.index == i for i, e in enumerate(expressions))
    if same and tuple(names) == node.edge.names:
        return node
    if isinstance(node, Project):
        together = fused(expressions, node.expressions)
        if together is not None:
            return Project(node.input, tuple(together), tuple(names))
    return Project(node, tuple(expressions), tuple(names))


def _column(name: str, expression: Expression, below: Edge) -> Column:
    """A plain reference to a time attribute is one; a computed value is not, except for the
    NULLs of an unmatched row in a left join, and for a local time that UNION ALL makes of another
    time or the other way round.
    """
    time: TimeAttribute | None = None
    if isinstance(expression, Call) and expression.function.name == "PROCTIME":
        time = "processing"
    match expression:
        case Ref(index=place) | Case(pads=True, branches=((_, Ref(index=place)),)):
            source = below.columns[place]
            return Column(name, expression.type, source.time, source.window)
        case Cast(operand=Ref(index=place, type=own), type=type_, implicit=True):
            if isinstance(own, t.TIMESTAMPS) and isinstance(type_, t.TIMESTAMPS):
                time = below.columns[place].time if type(own) is not type(type_) else None
    return Column(name, expression.type, time)


def _kept_keys(
    expressions: Sequence[Expression], names: Sequence[str], below: Edge
) -> tuple[tuple[str, ...], ...]:
    """The keys whose columns are all still there, under unambiguous names."""
    renamed: dict[str, str] = {}
    for value, name in zip(expressions, names, strict=True):
        if isinstance(value, Ref) and names.count(name) == 1:
            renamed.setdefault(below.columns[value.index].name, name)
    return tuple(
        tuple(renamed[column] for column in key)
        for key in below.keys
        if all(column in renamed for column in key)
    )
