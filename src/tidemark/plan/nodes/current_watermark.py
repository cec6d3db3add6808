"""The watermark that each row meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tidemark import types as t
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.words import words

# The name of the column that it adds.
CURRENT: Final = "$watermark"


@dataclass(frozen=True)
class CurrentWatermark(Unary, Stateless):
    """Adds the watermark before each row, which is the largest `expression` of the rows before it,
    for CURRENT_WATERMARK. It is below the node that assigns the watermark, and only part of plans
    that run.

    If the rows come in no order, they all have the watermark before their micro-batch. `number` is
    that of the source among those that are asked for their watermark.
    """

    expression: Expression
    number: int = 0

    def _edge(self) -> Edge:
        zoned = isinstance(self.expression.type, t.TimestampLtz)
        added = Column(CURRENT, (t.TimestampLtz if zoned else t.Timestamp)(3))
        below = self.input.edge
        return replace(below, columns=(*below.columns, added))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        details = (f"watermark=[{words(self.expression)}]",)
        return Description("CurrentWatermark", details, "one task in order of arrival")

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return True
