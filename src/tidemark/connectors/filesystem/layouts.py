"""How a file of columns is divided, as far as it is of use for whoever shares it among tasks."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple


class RowGroup(NamedTuple):
    """A row group, or a stripe."""

    start: int
    rows: int
    needed: bool = True  # whether it may have rows that a scan wants


@dataclass(frozen=True, slots=True)
class Layout:
    """The groups of a file, and whether its columns fit those of a table. Of a file that cannot be
    read, which is for the worker that reads it to say, nothing is known.
    """

    fits: bool = True
    groups: Sequence[RowGroup] | None = None

    def only(self, needed: Collection[int]) -> Layout:
        """The same, in which these groups are the ones that are needed."""
        if self.groups is None:
            return self
        groups = enumerate(self.groups)
        return replace(
            self, groups=[group._replace(needed=number in needed) for number, group in groups]
        )

    def needed_bytes(self, size: int) -> int:
        """How many bytes of a file of this size may have rows that a scan wants."""
        if not self.groups:
            return size
        return sum(length for group, length in self._lengths(size) if group.needed)

    def bounds(self, size: int, share: int) -> list[int]:
        """Where to cut the file into pieces with so many bytes that are needed, or more."""
        bounds, taken = [0], 0
        for group, length in self._lengths(size):
            if not group.needed:
                continue
            if taken >= share:
                bounds.append(group.start)
                taken = 0
            taken += length
        return [*bounds, size]

    def _lengths(self, size: int) -> Iterator[tuple[RowGroup, int]]:
        groups = self.groups or ()
        ends = [*(group.start for group in groups[1:]), size]
        return ((group, end - group.start) for group, end in zip(groups, ends, strict=False))


def shared_by_rows(groups: Sequence[RowGroup], count: int) -> Iterator[tuple[int, int]]:
    """The rows of groups in so many ranges with about as many rows that are needed."""
    needed = sum(group.rows for group in groups if group.needed)
    bounds = [_place(groups, needed * number // count) for number in range(count + 1)]
    return itertools.pairwise(bounds)


def _place(groups: Sequence[RowGroup], needed: int) -> int:
    """The number of the row that has so many before it which are needed."""
    before = 0
    for group in groups:
        if group.needed:
            if needed < group.rows:
                return before + needed
            needed -= group.rows
        before += group.rows
    return before
