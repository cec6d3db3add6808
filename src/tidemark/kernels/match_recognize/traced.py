"""Attempts of a pattern with alternatives and groups, whose variables alternate: the rows that they
have taken form a tree, in which attempts that began alike share their first rows.

A node of the tree is a row with its label; it knows, for each variable and each subset, the first
and the last node up to it. Node 0 is the root, before the first row; there it means "none".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.match_recognize.attempts import Attempts, Flags, Unrolled
from tidemark.kernels.match_recognize.counted import nth_member
from tidemark.kernels.match_recognize.spec import ALL_ROWS
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, up_to_each

LABELS: Final = "_tm_labels"  # of the rows of an attempt

_Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Labels:
    """What the labels of rows stand for: the variable of each, whether its rows are excluded, and
    of which variables and subsets they are (a line per label).
    """

    variable: Longs
    excluded: Flags
    groups: Flags

    @classmethod
    def of(
        cls,
        labels: Sequence[tuple[int, bool]],
        variables: int,
        subsets: Sequence[tuple[int, ...]],
    ) -> Labels:
        variable = np.array([each for each, _ in labels], dtype=np.int64)
        members = [(place,) for place in range(variables)] + list(subsets)
        groups = np.array([[each in some for some in members] for each, _ in labels])
        excluded = np.array([out for _, out in labels], dtype=np.bool_)
        return cls(variable, excluded, groups)


class Tree:
    """The nodes, in arrays that double when they are full."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        groups = labels.groups.shape[1]
        self.size = 1
        self.parent: _Nodes = np.zeros(1, dtype=np.int32)
        self.label: _Nodes = np.zeros(1, dtype=np.int32)
        self.depth: _Nodes = np.zeros(1, dtype=np.int32)
        self.first: _Nodes = np.zeros((1, groups), dtype=np.int32)
        self.last: _Nodes = np.zeros((1, groups), dtype=np.int32)

    def add(self, parent: Longs, label: Longs) -> Longs:
        """New nodes below others; returns their numbers."""
        nodes = np.arange(self.size, self.size + parent.size)
        self._reserve(self.size + parent.size)
        mine = slice(self.size, self.size + parent.size)
        self.size += parent.size
        self.parent[mine], self.label[mine] = parent, label
        self.depth[mine] = self.depth[parent] + 1
        first, last = self.first[parent], self.last[parent]
        member = self.labels.groups[label]
        new = np.broadcast_to(nodes[:, None], member.shape)
        self.last[mine] = np.where(member, new, last)
        self.first[mine] = np.where(member & (first == 0), new, first)
        return nodes

    def _reserve(self, size: int) -> None:
        if size <= self.parent.size:
            return
        room = max(size, 2 * self.parent.size)
        for name in ("parent", "label", "depth", "first", "last"):
            old = getattr(self, name)
            grown = np.zeros((room, *old.shape[1:]), dtype=np.int32)
            grown[: self.size] = old[: self.size]
            setattr(self, name, grown)

    def paths(self, tips: Longs) -> tuple[Longs, Longs]:
        """The nodes from the first row to each tip, and the places of their tips."""
        of, nodes = [tips[:0]], [tips[:0]]
        place = np.flatnonzero(tips)
        node = tips[place]
        while node.size:
            of.append(place)
            nodes.append(node)
            above = self.parent[node].astype(np.int64)
            place, node = place[above != 0], above[above != 0]
        # Walked from the last row to the first one.
        backward_of, backward = np.concatenate(of[::-1]), np.concatenate(nodes[::-1])
        order = stable_order(backward_of)
        return backward_of[order], backward[order]


@dataclass(frozen=True, slots=True)
class TracedAttempts(Attempts):
    """`tip` is the node of the last row that an attempt has taken."""

    start: Longs
    state: Longs
    tip: Longs
    tree: Tree

    def __getitem__(self, chosen: Flags | Longs | slice) -> TracedAttempts:
        return TracedAttempts(self.start[chosen], self.state[chosen], self.tip[chosen], self.tree)

    def joined(self, others: Sequence[TracedAttempts]) -> TracedAttempts:
        several = [self, *others]
        return TracedAttempts(
            np.concatenate([each.start for each in several]),
            np.concatenate([each.state for each in several]),
            np.concatenate([each.tip for each in several]),
            self.tree,
        )

    def in_state(self, state: int) -> TracedAttempts:
        return replace(self, state=np.full(len(self), state, dtype=np.int64))

    @property
    def next(self) -> Longs:
        return np.asarray(self.start + self.tree.depth[self.tip])

    def taking(self, label: int, state: int) -> TracedAttempts:
        labels = np.full(len(self), label, dtype=np.int64)
        return replace(self.in_state(state), tip=self.tree.add(self.tip, labels))

    # --- which rows are of a variable -----------------------------------------------------------

    def place(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        if variable == ALL_ROWS:
            length = self.tree.depth[self.tip].astype(np.int64)
            place = self.start + (offset if first else length - 1 - offset)
            return place, length > offset
        if first and offset:
            return nth_member(self, variable, first, offset)
        node = self.node(variable, first, offset)
        return self.start + self.tree.depth[node] - 1, node > 0

    def node(self, variable: int, first: bool, offset: int) -> Longs:
        """The node of a variable's row, or 0; not of an offset from the first one."""
        tree = self.tree
        if variable == ALL_ROWS:
            above = self.tip
            for _ in range(offset):
                above = tree.parent[above].astype(np.int64)
            return above
        node = (tree.first if first else tree.last)[self.tip, variable]
        for _ in range(offset):
            node = tree.last[tree.parent[node], variable]
        return np.asarray(node, dtype=np.int64)

    def label(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        if first and (offset or variable == ALL_ROWS):
            of, nodes = self._members(variable)
            count = np.bincount(of, minlength=len(self))
            there = count > offset
            node = np.zeros(len(self), dtype=np.int64)
            node[there] = nodes[(np.cumsum(count) - count + offset)[there]]
        else:
            node = self.node(variable, first, offset)
        return self.tree.labels.variable[self.tree.label[node]], node > 0

    def run(self, variable: int) -> tuple[Longs, Longs] | None:
        return (self.start, self.next - self.start) if variable == ALL_ROWS else None

    def members(self, variable: int) -> tuple[Longs, Longs]:
        of, nodes = self._members(variable)
        position = self.start[of] + self.tree.depth[nodes] - 1
        return np.bincount(of, minlength=len(self)), position

    def _members(self, variable: int) -> tuple[Longs, Longs]:
        of, nodes = self.tree.paths(self.tip)
        if variable == ALL_ROWS:
            return of, nodes
        chosen = self.tree.labels.groups[self.tree.label[nodes], variable]
        return of[chosen], nodes[chosen]

    def unrolled(self) -> Unrolled:
        of, nodes = self.tree.paths(self.tip)
        excluded = self.tree.labels.excluded[self.tree.label[nodes]]
        return Unrolled(of, replace(self[of], tip=nodes), excluded)

    def kept(self) -> list[pl.Series]:
        of, nodes = self.tree.paths(self.tip)
        labels = pl.Series(self.tree.label[nodes], dtype=pl.Int32)
        lists = (
            pl.DataFrame({"of": of, LABELS: labels}).group_by("of", maintain_order=True).agg(LABELS)
        )
        every = pl.DataFrame({"of": np.arange(len(self))})
        joined = every.join(lists, on="of", how="left", maintain_order="left")
        return [joined[LABELS].cast(pl.List(pl.Int32))]


class Tracing:
    """Makes attempts that share one tree."""

    columns: Final[Mapping[str, pl.DataType]] = {LABELS: pl.List(pl.Int32)}

    def __init__(self, labels: Labels) -> None:
        self._tree = Tree(labels)

    def beginning(self, start: Longs, state: int) -> TracedAttempts:
        none = np.zeros(start.size, dtype=np.int64)
        return TracedAttempts(start, np.full(start.size, state, dtype=np.int64), none, self._tree)

    def read(self, kept: pl.DataFrame, start: Longs, state: Longs) -> TracedAttempts:
        lists = kept[LABELS]
        length = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
        labels = lists.drop_nulls().list.explode(empty_as_null=False).cast(pl.Int64).to_numpy()
        place, nth = np.repeat(np.arange(length.size), length), up_to_each(length)
        order = stable_order(nth)
        tip = np.zeros(length.size, dtype=np.int64)
        # All first rows, then all second rows, and so on.
        for chosen in np.split(order, np.cumsum(np.bincount(nth))[:-1]) if nth.size else ():
            tip[place[chosen]] = self._tree.add(tip[place[chosen]], labels[chosen])
        return TracedAttempts(start, state, tip, self._tree)
