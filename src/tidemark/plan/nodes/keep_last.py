"""Deduplication that keeps the newest row of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Reason, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Picking, Unary
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name


@dataclass(frozen=True)
class KeepLast(Unary, Picking):
    """The newest row of each key by event time (the column `time`), as a changelog."""

    keys: tuple[int, ...]
    time: int

    def _edge(self) -> Edge:
        below = self.input.edge
        names = tuple(below.names[key] for key in self.keys)
        whole_rows = replace(below, changelog=Changelog.RETRACT, keys=(names,))
        return whole_rows if self.output is None else whole_rows.only(self.output)

    @property
    def given(self) -> tuple[int, ...]:
        width = len(self.input.edge.columns)
        return tuple(range(width)) if self.output is None else self.output

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)  # an update retracts the whole row

    def _description(self) -> Description:
        names = self.input.edge.names
        keys = ", ".join(names[key] for key in self.keys)
        details = (f"key=[{keys}]", f"newest by=[{names[self.time]}]")
        return Description("KeepLast", details, ON_STATE, "one row per key")

    @property
    def needs(self) -> Needs:
        return Needs("keep-last", (Port(self.keys, self.time),), delay_ms(self.input))

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {"keys": below.origins(self.keys), "time": below.origin(self.time)}
        return StateSpec(meaning, (by_name(below.edge),))

    @property
    def why_rows_change(self) -> Reason:
        return Reason("a newer row of a key replaces the previous one")

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()  # an older row changes nothing, however late it is
