"""The rows of a query by the primary key of their sink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tidemark.catalog.tables import Changelog
from tidemark.dialect.statements import OnConflict
from tidemark.plan.nodes.base import Description, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_place

_KEEPS: Final[dict[OnConflict, str]] = {
    "DEDUPLICATE": "all rows of each key",
    "NOTHING": "the first row of each key",
    "ERROR": "the row of each key",
}


@dataclass(frozen=True)
class SinkUpsertMaterializer(Unary, Stateful):
    """Upserts by the `keys` of a sink, of the rows of a changelog with any other keys. Of several
    rows with the same one, the last counts, or the first, or they are an error.
    """

    keys: tuple[int, ...]
    on_conflict: OnConflict = "DEDUPLICATE"

    def _edge(self) -> Edge:
        below = self.input.edge
        names = tuple(below.names[key] for key in self.keys)
        return replace(below, changelog=Changelog.UPSERT, keys=(names,))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        names = ", ".join(self.edge.names[key] for key in self.keys)
        details = (f"key=[{names}]", f"conflictStrategy=[{self.on_conflict}]")
        keeps = f"{_KEEPS[self.on_conflict]}; until 'table.exec.state.ttl' after it was written, "
        return Description("SinkUpsertMaterializer", details, ON_STATE, keeps + "if that is set")

    @property
    def needs(self) -> Needs:
        held_back_ms = delay_ms(self.input)
        return Needs("sink-upsert-materializer", (Port(self.keys),), held_back_ms, waits=False)

    @property
    def state(self) -> StateSpec:
        columns = range(len(self.edge.columns))
        meaning = {
            "keys": self.input.origins(self.keys),
            "columns": self.input.origins(columns),
            "on conflict": self.on_conflict,
        }
        return StateSpec(meaning, (by_place(self.input.edge, columns),))

    @property
    def why_rows_change(self) -> None:
        return None  # its input does, or has rows with the same key

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[()]:
        return ()  # changes are made in the order in which they come
