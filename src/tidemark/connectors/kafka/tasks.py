"""Which parts of topics each task reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
from typing import Final, TypeVar

_Part = TypeVar("_Part")

# To read so many records takes about as long as to start a task.
_WORTH_A_TASK: Final = 10_000


def tasks_of(
    parts: Sequence[_Part], size: Callable[[_Part], int], most: int | None = None
) -> list[list[_Part]]:
    """The parts in order, divided into tasks with about as many records: at most so many, and fewer
    if there are not enough records for them.
    """
    sizes = [size(part) for part in parts]
    total = sum(sizes)
    count = min(len(parts), total // _WORTH_A_TASK + 1, most or len(parts))
    # How many records come before a part says which task it belongs to.
    before = [0, *accumulate(sizes[:-1])]
    numbered = zip((first * count // max(total, 1) for first in before), parts, strict=False)
    return [[part for _, part in of_task] for _, of_task in groupby(numbered, lambda one: one[0])]
