"""Deduplication that keeps the first row of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.plan.nodes.base import Description, LateInput, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.lateness import operator_words
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_place


@dataclass(frozen=True)
class KeepFirst(Unary, Stateful):
    """The first row of each key by the column `time`: in event time when the watermark reaches
    it, in processing time as soon as it arrives. Nothing is ever retracted.
    """

    keys: tuple[int, ...]
    time: int

    def _edge(self) -> Edge:
        below = self.input.edge
        return replace(below, keys=(tuple(below.names[key] for key in self.keys),))

    @property
    def processing_time(self) -> bool:
        """Whether the first row is the first to arrive."""
        return self.input.edge.columns[self.time].time == "processing"

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        below = exactly(self.input, {*self.keys, self.time, *wanted})
        keys, time = below.places(self.keys), below.place(self.time)
        node = replace(self, input=below.node, keys=keys, time=time)
        return Narrowed(node, below.kept)

    def _description(self) -> Description:
        names = self.input.edge.names
        keys, time = ", ".join(names[key] for key in self.keys), names[self.time]
        keeps = "one record per key"
        if not self.processing_time:
            keeps += f"; its first row until the watermark reaches the row's {time}"
        details = (f"key=[{keys}]", f"first by=[{time}]")
        idle = "; until 'table.exec.state.ttl' after it was written, if that is set"
        return Description("KeepFirst", details, ON_STATE, keeps + idle)

    @property
    def needs(self) -> Needs:
        time = None if self.processing_time else self.time
        port = Port(self.keys, time, stamps=not self.processing_time)
        waits = not self.processing_time
        return Needs("keep-first", (port,), delay_ms(self.input), waits=waits)

    @property
    def state(self) -> StateSpec:
        edge = self.input.edge
        meaning = {
            "keys": self.input.origins(self.keys),
            "time": "processing" if self.processing_time else self.input.origin(self.time),
            "held back in milliseconds": delay_ms(self.input),
        }
        return StateSpec(meaning, (by_place(edge, range(len(edge.columns))),))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if self.processing_time:
            return ()
        words = operator_words("keep-first", self.input, self.keys, None)
        behind = delay_ms(self.input)
        # A row at the watermark is not late.
        return (LateInput(self.input, words, self.time, lateness_ms=1, held_back_ms=behind),)
