"""How long micro-batches took, counted by length."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Final

# The upper bounds of lengths in seconds; what is longer has none.
BOUNDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Durations:
    """The number of micro-batches of each length, the longest last, and the seconds of all."""

    counts: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    seconds: float = 0.0

    def with_one_of(self, seconds: float) -> Durations:
        counts = [*self.counts]
        counts[bisect_left(BOUNDS, seconds)] += 1
        return replace(self, counts=tuple(counts), seconds=self.seconds + seconds)

    def __add__(self, other: Durations) -> Durations:
        both = zip(self.counts, other.counts, strict=True)
        return Durations(tuple(a + b for a, b in both), self.seconds + other.seconds)
