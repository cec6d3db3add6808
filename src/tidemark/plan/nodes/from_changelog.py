"""FROM_CHANGELOG: rows that say what they change as changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, Narrowed, Reason
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import exactly


@dataclass(frozen=True)
class FromChangelog(Unary, Stateless):
    """The rows without the column `op`, whose code is their row kind. A code that is not one of
    `kinds` fails the job.
    """

    op: int
    kinds: tuple[tuple[str, str], ...]  # codes and their row kinds

    @property
    def given(self) -> tuple[int, ...]:
        """The columns of its input that it emits."""
        return tuple(n for n in range(len(self.input.edge.columns)) if n != self.op)

    def _edge(self) -> Edge:
        below = self.input.edge
        columns = tuple(replace(below.columns[place], window=None) for place in self.given)
        return Edge(columns, Changelog.RETRACT, (), below.bounded)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        below = exactly(self.input, {self.op, *(self.given[place] for place in wanted)})
        narrow = replace(self, input=below.node, op=below.place(self.op))
        kept = tuple(self.given.index(place) for place in below.kept if place != self.op)
        return Narrowed(narrow, kept)

    def origin(self, place: int) -> Any:
        return self.input.origin(self.given[place])

    def _description(self) -> Description:
        kinds = ", ".join(f"{code!r} {kind}" for code, kind in self.kinds)
        details = (f"op=[{self.input.edge.names[self.op]}]", f"codes=[{kinds}]")
        return Description("FromChangelog", details, "projection")

    @property
    def why_rows_change(self) -> Reason:
        return Reason("FROM_CHANGELOG returns a changelog")

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return self.input.keeps_all_rows
