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
from tidemark.plan.nodes.state import StateSpec, by_place


@dataclass(frozen=True)
class ChangelogNormalize(Unary, Stateful):
    """The rows of an upsert changelog by its `keys`, with the rows that updates and deletes
    replace.
    """

    keys: tuple[int, ...]

    def _edge(self) -> Edge:
        return replace(self.input.edge, changelog=Changelog.RETRACT)

    @property
    def compared(self) -> tuple[int, ...]:
        """The columns in which a row that changes something differs from the one it replaces.
        Processing time always differs, and says nothing about the row.
        """
        columns = self.input.edge.columns
        return tuple(n for n, column in enumerate(columns) if column.time != "processing")

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        below = exactly(self.input, {*self.keys, *wanted})
        return Narrowed(ChangelogNormalize(below.node, below.places(self.keys)), below.kept)

    def _description(self) -> Description:
        names = self.input.edge.names
        key = f"key=[{', '.join(names[key] for key in self.keys)}]"
        keeps = "one row per key; until 'table.exec.state.ttl' after it was written, if that is set"
        return Description("ChangelogNormalize", (key,), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        return Needs("changelog-normalize", (Port(self.keys),), delay_ms(self.input))

    @property
    def state(self) -> StateSpec:
        below = self.input
        columns = range(len(below.edge.columns))
        meaning = {"keys": below.origins(self.keys), "columns": below.origins(columns)}
        return StateSpec(meaning, (by_place(below.edge, columns),))

    @property
    def why_rows_change(self) -> None:
        return None  # its input does

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[()]:
        return ()  # a row replaces the one that came before it, whatever their times are
