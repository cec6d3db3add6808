"""The input of an operator that hands out its late rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import exactly


@dataclass(frozen=True, slots=True)
class LateOutlet:
    """Where late rows leave an operator: the number under which they are read, and the columns at
    `places` of the table whose late rows they are. If they are `marked`, one more column says which
    rows of the input are rows of the table that are handed out here. The place `time` is the event
    time of the table; None if the operator uses the times of rows, and so knows them.
    """

    number: int
    places: tuple[int, ...]
    marked: bool = False
    time: int | None = None

    @property
    def width(self) -> int:
        return len(self.places) + self.marked


@dataclass(frozen=True)
class LateColumns(Unary, Stateless):
    """The input of an operator, with columns that the operator does not see, but hands out with
    rows that it drops because they are late. They are the last columns of `input`, outlet by
    outlet.
    """

    outlets: tuple[LateOutlet, ...]

    @property
    def width(self) -> int:
        """How many columns the operator sees."""
        return len(self.input.edge.columns) - sum(outlet.width for outlet in self.outlets)

    def _edge(self) -> Edge:
        below = self.input.edge
        columns = below.columns[: self.width]
        names = {column.name for column in columns}
        return replace(below, columns=columns, keys=tuple(k for k in below.keys if names >= {*k}))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        kept = tuple(sorted({*wanted}))
        beside = range(self.width, len(self.input.edge.columns))
        return Narrowed(replace(self, input=exactly(self.input, {*kept, *beside}).node), kept)

    def _description(self) -> Description:
        beside = ", ".join(self.input.edge.names[self.width :])
        return Description("LateColumns", (f"columns=[{beside}]",), "columns that late rows have")

    def origin(self, place: int) -> Any:
        return self.input.origin(place)

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return self.input.keeps_all_rows
