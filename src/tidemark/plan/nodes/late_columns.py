"""The input of an operator that hands out its late rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import exactly


@dataclass(frozen=True)
class LateColumns(Unary, Stateless):
    """The input of an operator, with columns that the operator does not see, but hands out with
    each row that it drops because it is late.

    They are the last columns of `input`: those at `places` of the table whose late rows are read.
    The event time of the table is `time_place`. `outlet` is the number under which they are read.
    """

    places: tuple[int, ...]
    outlet: int
    time_place: int

    @property
    def width(self) -> int:
        """How many columns the operator sees."""
        return len(self.input.edge.columns) - len(self.places)

    @property
    def time(self) -> int | None:
        """Which column of the input is the event time of the table, if that is among them."""
        if self.time_place not in self.places:
            return None
        return self.width + self.places.index(self.time_place)

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
