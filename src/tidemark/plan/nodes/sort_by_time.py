"""A stream sorted by its event time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.plan.nodes.base import Description, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.nodes.window_rank import WindowOrder


@dataclass(frozen=True)
class SortByTime(Unary, Stateful):
    """The rows in the order of the event time `time`, and of equal times in the given order. They
    are emitted when the watermark reaches them.
    """

    time: int
    order: tuple[WindowOrder, ...]

    def _edge(self) -> Edge:
        return self.input.edge

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        below = exactly(self.input, {self.time, *(by.column for by in self.order), *wanted})
        order = tuple(replace(by, column=below.place(by.column)) for by in self.order)
        return Narrowed(SortByTime(below.node, below.place(self.time), order), below.kept)

    def _description(self) -> Description:
        names = self.input.edge.names
        order = ", ".join([names[self.time], *(by.words(names) for by in self.order)])
        keeps = f"rows, until the watermark reaches their {names[self.time]}"
        return Description("SortByTime", (f"order=[{order}]",), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        return Needs("sort-by-time", (Port((), self.time, stamps=True),), delay_ms(self.input))

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "time": below.origin(self.time),
            "order": [{**plain(by), "column": below.origin(by.column)} for by in self.order],
        }
        return StateSpec(meaning, (by_name(below.edge),))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[()]:
        return ()  # what is late follows from what was emitted, which the watermark does not show
