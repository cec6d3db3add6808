"""UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from tidemark import types as t
from tidemark.plan.expressions import Expression, over, references
from tidemark.plan.nodes.base import Description, Narrowed, Node
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.words import words


@dataclass(frozen=True)
class Unnest(Unary, Stateless):
    """Each input row once per element of a collection, whose parts are the columns `added`;
    `outer` keeps rows without elements. The condition is over the columns of the output; elements
    that do not meet it do not count, nor do rows that are NULL.
    """

    collection: Expression
    added: tuple[Column, ...]
    outer: bool = False
    ordinality: bool = False
    condition: Expression | None = None

    @property
    def drops_null_rows(self) -> bool:
        """Whether there may be elements that are NULL instead of a row, which Flink leaves out."""
        match self.collection.type:
            case t.Array(element=t.Row() as row) | t.Multiset(element=t.Row() as row):
                return row.nullable
        return False

    def _edge(self) -> Edge:
        return self.input.edge.with_columns(self.added)

    def with_inputs(self, new: Sequence[Node]) -> Self:
        [only] = new
        return self._over(Narrowed(only, tuple(range(len(self.input.edge.columns)))))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.input.edge.columns)
        above = {*wanted, *(() if self.condition is None else references(self.condition))}
        needed = {*references(self.collection), *(place for place in above if place < width)}
        below = self.input.narrowed(sorted(needed) or [0])
        kept = (*below.kept, *range(width, width + len(self.added)))
        return Narrowed(self._over(below), kept)

    def _over(self, below: Narrowed) -> Self:
        """The same over an input that may have fewer columns, or more of them after its own."""
        collection = below.moved(self.collection)
        opened = replace(self, input=below.node, collection=collection, condition=None)
        if self.condition is None:
            return opened
        old, new = len(self.input.edge.columns), len(below.node.edge.columns)
        edge = opened.edge
        return replace(
            opened,
            condition=over(
                self.condition,
                lambda ref: edge.ref(
                    below.place(ref.index) if ref.index < old else new + ref.index - old
                ),
            ),
        )

    def origin(self, place: int) -> Any:
        of_input = place < len(self.input.edge.columns)
        return self.input.origin(place) if of_input else super().origin(place)

    def _description(self) -> Description:
        details = [f"collection=[{words(self.collection)}]"]
        if self.condition is not None:
            details.append(f"on=[{words(self.condition)}]")
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
