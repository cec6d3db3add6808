"""Lookup joins: the rows of a table as they are when a left row arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from tidemark.plan.expressions import Expression, over, references
from tidemark.plan.nodes.assign_watermark import AssignWatermark
from tidemark.plan.nodes.base import Description, Narrowed, Node
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless
from tidemark.plan.nodes.filter import Filter
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.project import Project
from tidemark.plan.nodes.scan import Scan
from tidemark.plan.words import words


@dataclass(frozen=True, slots=True)
class LookupRetry:
    """How often keys without rows are looked up again, as the LOOKUP hint says."""

    attempts: int
    delay_ms: int


@dataclass(frozen=True, kw_only=True)
class LookupJoin(Stateless):
    """Each left row with the right rows of the same key, as they are when it arrives.

    Right rows are looked up by `keys`, in a `whole` table that workers load, or in what a plan
    `once` had as its rows. They are not an input: nothing of them arrives. The `condition` of a
    left join is over the columns of both sides. A regular join of a batch may be run so, with a
    table that is `broadcast`.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    how: Literal["inner", "left"]
    by: Literal["keys", "whole", "once", "broadcast"]
    cache: str = ""
    condition: Expression | None = None
    retry: LookupRetry | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left,)

    def with_inputs(self, new: Sequence[Node]) -> Self:
        [left] = new
        return replace(self, left=left)

    def _edge(self) -> Edge:
        left, right = self.left.edge, self.right.edge
        added = [
            Column(column.name, column.type).padded(self.how == "left") for column in right.columns
        ]
        matched = {right.names[key] for key in self.right_keys}
        once = any(matched.issuperset(key) for key in right.keys)
        edge = left.with_columns(added)
        return replace(edge, keys=left.keys) if once else edge

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.left.edge.columns)
        asked = [*wanted, *(references(self.condition) if self.condition is not None else ())]
        of_left = {*self.left_keys, *(i for i in asked if i < width)}
        of_right = {*self.right_keys, *(i - width for i in asked if i >= width)}
        left, right = exactly(self.left, of_left), exactly(self.right, of_right)
        kept = (*left.kept, *(width + place for place in right.kept))
        both = Edge((*left.node.edge.columns, *right.node.edge.columns))
        condition = self.condition
        if condition is not None:
            condition = over(condition, lambda ref: both.ref(kept.index(ref.index)))
        join = replace(
            self,
            left=left.node,
            right=right.node,
            left_keys=left.places(self.left_keys),
            right_keys=right.places(self.right_keys),
            condition=condition,
        )
        return Narrowed(join, kept)

    def origin(self, place: int) -> Any:
        width = len(self.left.edge.columns)
        side, own = (self.left, place) if place < width else (self.right, place - width)
        return side.origin(own)

    def _description(self) -> Description:
        left, right = self.left.edge.names, self.right.edge.names
        keys = zip(self.left_keys, self.right_keys, strict=True)
        pairs = ", ".join(f"{left[mine]} = {right[theirs]}" for mine, theirs in keys)
        asked = "key" if self.by == "broadcast" else "lookup"
        details = [self.how, *self._right_details, f"{asked}=[{pairs}]"]
        if self.condition is not None:
            details.append(f"condition=[{words(self.condition)}]")
        if self.cache:
            details.append(f"cache=[{self.cache}]")
        if self.retry is not None:
            attempts, delay = self.retry.attempts, self.retry.delay_ms
            details.append(f"retry=[{attempts} times if nothing is found, after {delay} ms]")
        name = "BroadcastJoin" if self.by == "broadcast" else "LookupJoin"
        return Description(name, tuple(details), _RUNS_AS[self.by])

    @property
    def _right_details(self) -> list[str]:
        """The table with the columns that are read, and the conditions that its rows meet."""
        parts: list[str] = []
        node = self.right
        while isinstance(node, Filter | Project | AssignWatermark):
            parts += node.description.details if isinstance(node, Filter) else ()
            node = node.input
        if isinstance(node, Scan):
            read = range(len(node.columns)) if node.read is None else node.read
            columns = ", ".join(node.columns[place].name for place in read)
            return [f"table=[{node.table.identifier}]", f"columns=[{columns}]", *parts]
        return [*parts, f"rows of=[{node.description.name}]"]

    @property
    def is_ordered(self) -> bool:
        return self.left.is_ordered

    @property
    def can_be_stamped(self) -> bool:
        return self.left.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return False  # rows that find nothing advance the watermark


_RUNS_AS = {
    "keys": "workers look up the distinct keys of each batch",
    "whole": "workers load the table, and join each batch with it",
    "broadcast": "workers load the table, and join the rows of the other side with it",
    "once": "the rows are computed once, when the job starts; workers join each batch with them",
}
