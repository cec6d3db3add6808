"""The late rows that an operator of another INSERT hands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Leaf, Stateless


@dataclass(frozen=True)
class LateOutput(Leaf, Stateless):
    """The output of the outlet with this number: the columns of the table at `places`, and then
    `details` about each late row. The rows are those that `LateRows` would find in a job of its
    own.
    """

    outlet: int
    operator: str
    columns: tuple[Column, ...]
    places: tuple[int, ...]
    details: tuple[Column, ...]
    bounded: bool

    def _edge(self) -> Edge:
        own = [self.columns[place] for place in self.places]
        return Edge((*own, *self.details), bounded=self.bounded)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.places)
        of_table = tuple(sorted({place for place in wanted if place < width}))
        of_late_rows = range(width, width + len(self.details))
        node = LateOutput(
            self.outlet,
            self.operator,
            self.columns,
            tuple(self.places[place] for place in of_table),
            self.details,
            self.bounded,
        )
        return Narrowed(node, (*of_table, *of_late_rows))

    def _description(self) -> Description:
        details = (f"operator=[{self.operator}]",)
        return Description("LateRows", details, "output of the operator that drops them")

    @property
    def is_ordered(self) -> bool:
        return False
