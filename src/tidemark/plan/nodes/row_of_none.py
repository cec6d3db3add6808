"""The row that a batch has even if there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.expressions import Literal
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.words import words


@dataclass(frozen=True)
class RowOfNone(Unary, Stateless):
    """The only row of its input, or these values if that ends without one: an aggregate of no
    rows.
    """

    values: tuple[Literal, ...]

    def _edge(self) -> Edge:
        return self.input.edge

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        below = self.input.narrowed(wanted)
        kept = tuple(self.values[place] for place in below.kept)
        return Narrowed(replace(self, input=below.node, values=kept), below.kept)

    def origin(self, place: int) -> Any:
        return self.input.origin(place)

    def _description(self) -> Description:
        values = ", ".join(map(words, self.values))
        return Description("RowOfNone", (f"values=[{values}]",), "the row of no rows")

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False
