"""Deduplication that keeps the newest row of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Reason, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Picking, Unary
from tidemark.plan.nodes.narrowing import exactly, whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name


@dataclass(frozen=True)
class KeepLast(Unary, Picking):
    """The newest row of each key by event time (the column `time`): as a changelog; or, with
    `at_end`, the row that is the newest when the input ends. With `upserts`, updates come without
    the rows that they replace.
    """

    keys: tuple[int, ...]
    time: int
    at_end: bool = False
    upserts: bool = False

    def _edge(self) -> Edge:
        changes = Changelog.UPSERT if self.upserts else Changelog.RETRACT
        changelog = Changelog.APPEND if self.at_end else changes
        whole_rows = replace(self.input.edge, changelog=changelog, keys=(self.updated_by,))
        return whole_rows if self.output is None else whole_rows.only(self.output)

    @property
    def updated_by(self) -> tuple[str, ...]:
        return tuple(self.input.edge.names[key] for key in self.keys)

    @property
    def given(self) -> tuple[int, ...]:
        width = len(self.input.edge.columns)
        return tuple(range(width)) if self.output is None else self.output

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        if not self.at_end:
            return whole(self)  # an update retracts the whole row
        below = exactly(self.input, {*self.keys, self.time, *(self.given[at] for at in wanted)})
        node = replace(
            self, input=below.node, keys=below.places(self.keys), time=below.place(self.time)
        )
        if self.output is None:
            return Narrowed(node, below.kept)
        kept = tuple(wanted)
        return Narrowed(replace(node, output=below.places([self.given[at] for at in kept])), kept)

    def _description(self) -> Description:
        names = self.input.edge.names
        keys = ", ".join(names[key] for key in self.keys)
        details = (f"key=[{keys}]", f"newest by=[{names[self.time]}]")
        return Description("KeepLast", details, ON_STATE, self._keeps)

    @property
    def _keeps(self) -> str:
        if self.at_end:
            return "all rows, until the input ends"
        return "one row per key; until 'table.exec.state.ttl' after it was written, if that is set"

    @property
    def needs(self) -> Needs:
        port = Port(self.keys, self.time)
        return Needs("keep-last", (port,), delay_ms(self.input), waits=self.at_end)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning: dict[str, object] = {"keys": below.origins(self.keys)}
        meaning["time"] = below.origin(self.time)
        if self.at_end:
            meaning["at end"] = True
        return StateSpec(meaning, (by_name(below.edge),))

    @property
    def why_rows_change(self) -> Reason | None:
        return None if self.at_end else Reason("a newer row of a key replaces the previous one")

    @property
    def can_be_stamped(self) -> bool:
        return not self.at_end and self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()  # an older row changes nothing, however late it is
