"""Sets of numbers that come and go: which is the k-th smallest of those that are there at a moment,
and how many are smaller than another one. Many questions about many moments are answered at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.kernels.tables import Longs

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Level:
    """One bit of the numbers. Before each event: how many events have a 0, and the sum of their
    signs. Events with a 1 follow at `ones` in the next level.
    """

    bit: int
    zeros: Ints
    there: Ints
    ones: int

    def below(self, places: Longs, right: npt.NDArray[np.bool_]) -> Longs:
        """Where a place among these events is in the next level."""
        zeros = self.zeros[places]
        return np.where(right, self.ones + places - zeros, zeros)


@dataclass(frozen=True, slots=True)
class Populations:
    """The events of all populations, one population after the other and each in order of time: a
    number comes (sign 1) or goes (-1). A moment of a population is the range of its events from
    `start` up to, but not including, `end`.

    It is a wavelet matrix: level by level, events are sorted by one more bit of their numbers. The
    events of a moment stay next to each other, so that a question is two positions that move down
    the levels.
    """

    levels: tuple[_Level, ...]
    signs: Ints

    @classmethod
    def of(cls, numbers: Longs, signs: Longs) -> Populations:
        """Numbers are not negative. The smaller they are, the fewer levels it takes."""
        levels, total = [], _running(signs)
        for bit in reversed(range(int(numbers.max(initial=0)).bit_length())):
            is_zero = (numbers >> bit) & 1 == 0
            there = _running(np.where(is_zero, signs, 0))
            zeros = np.flatnonzero(is_zero)
            levels.append(_Level(bit, _running(is_zero), there, zeros.size))
            order = np.concatenate([zeros, np.flatnonzero(~is_zero)])
            numbers, signs = numbers[order], signs[order]
        return cls(tuple(levels), total)

    def size(self, start: Longs, end: Longs) -> Longs:
        """How many numbers are there."""
        return (self.signs[end] - self.signs[start]).astype(np.int64)

    def smaller(self, start: Longs, end: Longs, number: Longs) -> Longs:
        """How many of the numbers that are there are smaller."""
        found = np.zeros(start.size, dtype=np.int64)
        for level in self.levels:
            right = (number >> level.bit) & 1 == 1
            found += np.where(right, level.there[end] - level.there[start], 0)
            start, end = level.below(start, right), level.below(end, right)
        return found

    def nth(self, start: Longs, end: Longs, place: Longs) -> Longs:
        """The number that has `place` smaller ones; any number if there are not so many."""
        number = np.zeros(start.size, dtype=np.int64)
        for level in self.levels:
            there = level.there[end] - level.there[start]
            right = place >= there
            place = np.where(right, place - there, place)
            number |= right.astype(np.int64) << level.bit
            start, end = level.below(start, right), level.below(end, right)
        return number


def _running(values: npt.NDArray[np.generic]) -> Ints:
    """The sum of the values before each position, and of all."""
    sums = np.zeros(values.size + 1, dtype=np.int32)
    np.cumsum(values, out=sums[1:], dtype=np.int32)
    return sums
