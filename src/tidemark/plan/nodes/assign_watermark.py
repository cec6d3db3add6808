"""The watermark of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.expressions import Expression, references
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.scan import Scan
from tidemark.plan.words import words


@dataclass(frozen=True)
class AssignWatermark(Unary, Stateless):
    """Advances event time: the watermark is the largest `expression` so far.

    A delete among upserts may have nothing but its key, and then no event time. It is dropped if
    `drops_untimed`. Unless it `checks`, no other row needs one either.
    """

    column: str
    expression: Expression
    drops_untimed: bool = False
    checks: bool = True

    def _edge(self) -> Edge:
        below = self.input.edge
        columns = tuple(
            Column(column.name, column.type, "event") if column.name == self.column else column
            for column in below.columns
        )
        return replace(below, columns=columns)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        used = {self.input.edge.names.index(self.column), *references(self.expression)}
        below = self.input.narrowed(sorted({*wanted, *used}))
        moved = below.moved(self.expression)
        return Narrowed(replace(self, input=below.node, expression=moved), below.kept)

    @property
    def read(self) -> tuple[int, ...]:
        """The places of the columns that have values, which a bad row is shown with."""
        below = self.input
        if isinstance(below, Scan) and below.read is not None:
            return below.read
        return tuple(range(len(below.edge.columns)))

    def origin(self, place: int) -> Any:
        return self.input.origin(place)

    def _description(self) -> Description:
        details = (f"rowtime=[{self.column}]", f"watermark=[{words(self.expression)}]")
        runs_as = "filter that fails on rows without a time" if self.checks else "nothing"
        return Description("WatermarkAssigner", details, runs_as)

    @property
    def is_ordered(self) -> bool:
        return False  # only used below a watermark

    @property
    def can_be_stamped(self) -> bool:
        return self.input.is_ordered

    @property
    def keeps_all_rows(self) -> bool:
        return True
