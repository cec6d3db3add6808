"""Rows sorted by partition and order: where each row's partition and its peers begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tidemark.kernels.ranges import Flags
from tidemark.kernels.tables import Longs


@dataclass(frozen=True, slots=True)
class RowPartitions:
    """Per row of sorted rows, the positions from `start` to before `end` are its partition, and
    those from `first_peer` to before `last_peer` have the same value in the order.
    """

    start: Longs
    end: Longs
    first_peer: Longs
    last_peer: Longs

    @classmethod
    def of(cls, begins: Flags, differs: Flags) -> Self:
        """`begins` marks the first row of each partition, `differs` each row that is not a peer of
        the one before it."""
        return cls(*_runs(begins), *_runs(begins | differs))

    def __len__(self) -> int:
        return self.start.size

    @property
    def place(self) -> Longs:
        """The number of rows before each row in its partition."""
        return np.arange(len(self)) - self.start

    @property
    def size(self) -> Longs:
        return self.end - self.start


def changes(values: Longs) -> Flags:
    """Whether each value differs from the one before it; the first one does."""
    return np.append(True, values[1:] != values[:-1])[: values.size]


def _runs(begins: Flags) -> tuple[Longs, Longs]:
    """Per row, where its run begins, and where it ends."""
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], begins.size)
    run = np.cumsum(begins) - 1
    return starts[run], ends[run]
