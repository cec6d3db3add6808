"""UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.plan.expressions import Expression
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.words import words


@dataclass(frozen=True)
class Unnest(Unary, Stateless):
    """Each input row once per element of a collection, whose parts are the columns `added`;
    `outer` keeps rows without elements.
    """

    collection: Expression
    added: tuple[Column, ...]
    outer: bool = False
    ordinality: bool = False

    def _edge(self) -> Edge:
        return self.input.edge.with_columns(self.added)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def origin(self, place: int) -> Any:
        of_input = place < len(self.input.edge.columns)
        return self.input.origin(place) if of_input else super().origin(place)

    def _description(self) -> Description:
        details = [f"collection=[{words(self.collection)}]"]
        if self.outer:
            details.append("keeps rows without elements")
        if self.ordinality:
            details.append("with ordinality")
        return Description("Unnest", tuple(details), "explode")

    @property
    def is_ordered(self) -> bool:
        return False  # only used below a watermark, where nothing is unnested

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return False  # rows without elements advance the watermark
