"""UNION ALL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, Narrowed, Node
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Stateless
from tidemark.plan.nodes.narrowing import whole


@dataclass(frozen=True)
class UnionAll(Stateless):
    """The rows of all branches, whose columns have the same types except for nullability. It has
    the names of the first one.
    """

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, new: Sequence[Node]) -> UnionAll:
        return replace(self, branches=tuple(new))

    def _edge(self) -> Edge:
        edges = [branch.edge for branch in self.branches]
        of_places = zip(*(edge.columns for edge in edges), strict=True)
        columns = tuple(reduce(merged, of_place) for of_place in of_places)
        changelog = max((edge.changelog for edge in edges), key=list(Changelog).index)
        return Edge(columns, changelog, (), all(edge.bounded for edge in edges))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        return Description("UnionAll", (f"inputs=[{len(self.branches)}]",), "union")

    @property
    def is_ordered(self) -> bool:
        return False

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False


def merged(one: Column, other: Column) -> Column:
    """A column of two branches. It is a time attribute if it is one in both."""
    common = t.common_type([one.type, other.type])
    assert common is not None, f"`{one.name}` has two types, {one.type} and {other.type}"
    same = one.type.same_as(other.type)
    time = one.time if one.time == other.time and same else None
    window = one.window if one.window == other.window and same else None
    return Column(one.name, common, time, window)
