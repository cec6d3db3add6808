"""Fast ways to sort numbers, and what follows from their order.

Numpy sorts 64-bit numbers several times as fast if equal ones need not stay in order.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidemark.kernels.tables import Longs, ranks

# So many ascending runs are merged sooner than sorted.
_FEW_RUNS: Final = 4


def ascends(values: Longs) -> bool:
    """Whether no value is smaller than the one before it."""
    return bool((values[1:] >= values[:-1]).all())


def stable_order(values: Longs) -> Longs:
    """The positions of the values in ascending order, equal ones as they came."""
    descents = int(np.count_nonzero(values[1:] < values[:-1]))
    if not descents:
        return np.arange(values.size)
    if descents < _FEW_RUNS:
        return np.argsort(values, kind="stable")
    # Numbers that contain their positions differ, so any sort is stable.
    low, bits = int(values.min()), values.size.bit_length()
    mask = (1 << bits) - 1
    fits = (int(values.max()) - low) >> (62 - bits) == 0
    numbered = (values - low) << bits if fits else values & ~mask
    numbered |= np.arange(values.size)
    numbered.sort()
    order = np.asarray(numbered & mask)
    # What does not fit has lost its lowest bits, in which alone numbers far apart seldom differ.
    return order if fits or ascends(values[order]) else np.argsort(values, kind="stable")


def stable_order_by(*columns: Longs) -> Longs:
    """The same for rows with several values each, the first of which counts most."""
    [*before, last] = columns
    if (together := _as_one(columns)) is not None:
        return stable_order(together)
    order = None if ascends(last) else stable_order(last)
    for column in reversed(before):
        order = stable_order(column) if order is None else order[stable_order(column[order])]
    return np.arange(last.size) if order is None else order


def _as_one(columns: tuple[Longs, ...]) -> Longs | None:
    """A number per row, in the order of all its values; None if they do not fit into one."""
    [together, *others] = columns
    if not together.size:
        return together
    lows = [int(column.min()) for column in columns]
    widths = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if math.prod(widths) >> 62:
        return None
    together = together - lows[0]
    for column, low, width in zip(others, lows[1:], widths[1:], strict=True):
        together = together * width + (column - low)
    return together


def places_among(values: Longs, wanted: Longs) -> Longs:
    """The position of each wanted value among distinct values, or -1.

    >>> places_among(np.array([7, 3, 5]), np.array([5, 4, 7]))
    array([ 2, -1,  0])
    """
    if not values.size:
        return np.full(wanted.size, -1)
    order, asked = stable_order(values), stable_order(wanted)
    # In ascending order, each search ends near the one before.
    ordered, ascending = values[order], wanted[asked]
    place = np.minimum(np.searchsorted(ordered, ascending), values.size - 1)
    found = np.empty_like(asked)
    found[asked] = np.where(ordered[place] == ascending, order[place], -1)
    return found


def largest_so_far(values: Longs, run: Longs) -> Longs:
    """Per position the largest value of its run up to there. Runs have numbers that ascend from
    zero.

    >>> largest_so_far(np.array([3, 1, 4, 2, 1]), np.array([0, 0, 0, 1, 1]))
    array([3, 3, 4, 2, 2])
    """
    if not values.size:
        return values
    low = int(values.min())
    width = int(values.max()) - low + 1
    if (int(run[-1]) + 1) * width >> 62:
        rank, count = ranks(values)
        of_rank = np.empty(count, dtype=np.int64)
        of_rank[rank] = values
        return np.asarray(of_rank[largest_so_far(rank, run)])
    # A later run has larger numbers, so nothing of an earlier one reaches into it.
    start = run * width - low
    return np.asarray(np.maximum.accumulate(start + values) - start)
