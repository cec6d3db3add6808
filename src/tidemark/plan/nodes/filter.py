"""Filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.conjunctions import conjunction
from tidemark.plan.expressions import Expression, references
from tidemark.plan.nodes.base import Description, Narrowed, Node
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.words import words


def filtered(node: Node, conditions: Sequence[Expression]) -> Node:
    """The rows that meet all conditions."""
    condition = conjunction(conditions)
    return node if condition is None else Filter(node, condition)


@dataclass(frozen=True)
class Filter(Unary, Stateless):
    """The rows for which the condition holds; there are no NULLs left in the columns `not_null`."""

    condition: Expression
    not_null: tuple[int, ...] = ()

    def _edge(self) -> Edge:
        below = self.input.edge
        if not self.not_null:
            return below
        columns = tuple(
            replace(column, type=column.type.with_nullable(False))
            if place in self.not_null
            else column
            for place, column in enumerate(below.columns)
        )
        return replace(below, columns=columns)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        needed = {*wanted, *references(self.condition), *self.not_null}
        below = self.input.narrowed(sorted(needed))
        condition = below.moved(self.condition)
        return Narrowed(Filter(below.node, condition, below.places(self.not_null)), below.kept)

    def origin(self, place: int) -> Any:
        return self.input.origin(place)

    def _description(self) -> Description:
        return Description("Filter", (f"where=[{words(self.condition)}]",), "filter")

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return False  # rows that it drops advance the watermark
