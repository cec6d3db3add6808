"""Upserts as a changelog with the rows that they replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.project import Project
from tidemark.plan.nodes.state import StateSpec, by_place
from tidemark.plan.words import words


@dataclass(frozen=True)
class ChangelogNormalize(Unary, Stateful):
    """The rows of an upsert changelog by its `keys`, with the rows that updates and deletes
    replace. If it `tests` them, only those for which the last column of its input is true: others
    delete the row of their key. That column is not emitted.
    """

    keys: tuple[int, ...]
    tests: bool = False

    def _edge(self) -> Edge:
        return replace(self.input.edge.only(self.given), changelog=Changelog.RETRACT)

    @property
    def given(self) -> tuple[int, ...]:
        """The columns of its input that it emits."""
        return tuple(range(len(self.input.edge.columns) - self.tests))

    @property
    def compared(self) -> tuple[int, ...]:
        """The columns in which a row that changes something differs from the one it replaces.
        Processing time always differs, and says nothing about the row.
        """
        return tuple(n for n, c in enumerate(self.edge.columns) if c.time != "processing")

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        condition = len(self.given)
        below = exactly(self.input, {*self.keys, *wanted, *[condition] * self.tests})
        node = replace(self, input=below.node, keys=below.places(self.keys))
        return Narrowed(node, tuple(place for place in below.kept if place < condition))

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"key=[{', '.join(names[key] for key in self.keys)}]"]
        if self.tests and isinstance(self.input, Project):
            details.append(f"condition=[{words(self.input.expressions[-1])}]")
        keeps = "one row per key; until 'table.exec.state.ttl' after it was written, if that is set"
        return Description("ChangelogNormalize", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        held_back_ms = delay_ms(self.input)
        return Needs("changelog-normalize", (Port(self.keys),), held_back_ms, waits=False)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "columns": below.origins(self.given),
            "condition": below.origin(len(self.given)) if self.tests else None,
        }
        return StateSpec(meaning, (by_place(below.edge, self.given),))

    @property
    def why_rows_change(self) -> None:
        return None  # its input does

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[()]:
        return ()  # a row replaces the one that came before it, whatever their times are
