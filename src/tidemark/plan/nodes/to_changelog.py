"""TO_CHANGELOG: changes as rows that say what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, Narrowed
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless, Unary
from tidemark.plan.nodes.narrowing import exactly, pruned

_ROW_KINDS = ("+I", "-U", "+U", "-D")


@dataclass(frozen=True)
class ToChangelog(Unary, Stateless):
    """The changes of its input as inserts: before the columns, under the name `op`, the code of the
    row kind. Rows of a kind that has no code are dropped. The event time in column `time` is
    repeated as the last column, if that is set.
    """

    op: str
    codes: tuple[tuple[str, str], ...]  # row kinds and their codes
    time: int | None = None

    def _edge(self) -> Edge:
        below = self.input.edge
        # They are no longer the rows of windows, by which operators could group them (same in
        # Flink).
        passed = (replace(column, window=None) for column in below.columns)
        columns = (Column(self.op, t.STRING), *passed, *self._rowtime)
        return Edge(columns, Changelog.APPEND, (), below.bounded)

    @property
    def _rowtime(self) -> tuple[Column, ...]:
        if self.time is None:
            return ()
        names = {self.op, *self.input.edge.names}
        name, number = "rowtime", 0
        while name in names:
            name, number = f"rowtime{number}", number + 1
        column = self.input.edge.columns[self.time]
        return (Column(name, column.type.with_nullable(False), column.time),)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        """Operators below emit a change only if one of their columns changes: as long as there are
        changes, all columns are needed (same in Flink).
        """
        width = len(self.input.edge.columns)
        if self.input.edge.changes:
            return Narrowed(replace(self, input=pruned(self.input)), tuple(range(width + 1)))
        of_time = () if self.time is None else (self.time,)
        passed = {place - 1 for place in wanted if 0 < place <= width}
        below = exactly(self.input, {*passed, *of_time})
        time = None if self.time is None else below.place(self.time)
        last = (width + 1,) * (time is not None)
        kept = (0, *(place + 1 for place in below.kept), *last)
        return Narrowed(replace(self, input=below.node, time=time), kept)

    def origin(self, place: int) -> Any:
        if place == 0:
            return {"row kind": [list(pair) for pair in self.codes]}
        if place > len(self.input.edge.columns):
            assert self.time is not None
            return self.input.origin(self.time)
        return self.input.origin(place - 1)

    def _description(self) -> Description:
        codes = ", ".join(f"{kind} {code!r}" for kind, code in self.codes)
        details = [f"op=[{self.op}]", f"codes=[{codes}]"]
        if self.time is not None:
            details.append(f"on_time=[{self.input.edge.names[self.time]}]")
        return Description("ToChangelog", tuple(details), "projection")

    @property
    def drops_rows(self) -> bool:
        """Whether the input may have rows of a kind without a code."""
        kinds = _ROW_KINDS if self.input.edge.changes else _ROW_KINDS[:1]
        return not {kind for kind, _ in self.codes}.issuperset(kinds)

    @property
    def is_ordered(self) -> bool:
        return self.input.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return not self.drops_rows and self.input.keeps_all_rows
