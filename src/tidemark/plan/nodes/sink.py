"""Where rows go to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.catalog.tables import Table
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import whole


@dataclass(frozen=True)
class Sink(Unary, Stateless):
    """An INSERT INTO: rows in the order and types of the target's columns."""

    table: Table
    overwrite: bool = False

    def _edge(self) -> Edge:
        return self.input.edge

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        connector = self.table.option("connector") or "unknown"
        columns = ", ".join(self.edge.names)
        details = [f"table=[{self.table.identifier}]", f"columns=[{columns}]"]
        if self.overwrite:
            details.append("overwrite")
        return Description("Sink", tuple(details), f"{connector} sink")

    @property
    def is_ordered(self) -> bool:
        return False

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False
