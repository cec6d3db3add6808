"""Following elements of a sequence from one to the next, by a rule for what is next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tidemark.kernels.ranges import Flags
from tidemark.kernels.tables import Longs

# After so many steps the successors of all elements are computed.
_STEPS = 32


@dataclass(frozen=True, slots=True)
class Following:
    """Finds the next element of a run that is larger than a limit. Runs end before `ends`.

    `largest[i]` has the maxima of all stretches of 2 ** i elements.
    """

    largest: tuple[Longs, ...]
    ends: Longs

    @classmethod
    def of(cls, values: Longs, ends: Longs) -> Self:
        largest = [values]
        longest = int((ends - np.arange(ends.size)).max(initial=1))
        for level in range(longest.bit_length() - 1):
            half, below = 1 << level, largest[-1]
            largest.append(np.maximum(below[:-half], below[half:]))
        return cls(tuple(largest), ends)

    def __call__(self, at: Longs, limits: Longs) -> Longs:
        """Per position the next one in its run with a value above the limit; its run's end if there
        is none."""
        ends = self.ends[at]
        found = at + 1
        for level in reversed(range(len(self.largest))):
            largest = self.largest[level]
            inside = found < largest.size
            below = largest[np.where(inside, found, 0)] <= limits
            found = found + ((inside & below) << level)
        return np.minimum(found, ends)


def reached_from(starts: Longs, following: Callable[[Longs], Longs], ends: Longs) -> Flags:
    """Which elements are reached from the starts, by what follows each until its run ends."""
    reached = np.zeros(ends.size, dtype=np.bool_)
    at = starts
    for _ in range(_STEPS):
        reached[at] = True
        after = following(at)
        at = after[after < ends[at]]
        if not at.size:
            return reached
    reached[at] = True
    return _reached_by_doubling(reached, following, ends)


def _reached_by_doubling(reached: Flags, following: Callable[[Longs], Longs], ends: Longs) -> Flags:
    """What is reached in twice as many steps each time."""
    every = np.arange(ends.size)
    after = following(every)
    after = np.append(np.where(after < ends, after, ends.size), ends.size)
    reached = np.append(reached, False)
    for _ in range(ends.size.bit_length()):
        reached[after[np.flatnonzero(reached)]] = True
        after = after[after]
    return reached[:-1]
