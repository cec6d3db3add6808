"""Which rows are in the frame of each row, as positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.kernels.over.partitions import RowPartitions
from tidemark.kernels.over.spec import OverFrame
from tidemark.kernels.ranges import Flags
from tidemark.kernels.sorting import ascends
from tidemark.kernels.tables import Longs

Values = np.ndarray[tuple[int], np.dtype[Any]]


def frame_positions(
    frame: OverFrame, rows: RowPartitions, values: Values, known: Flags | None = None
) -> tuple[Longs, Longs]:
    """Per row the first position of its frame, and the one after the last.

    `values` are what rows are ordered by, ascending within a partition. Where it is not `known`,
    it is NULL: such rows are peers, and no distance from others.
    """
    first = rows.start if frame.start is None else _start(frame.start, frame, rows, values, known)
    end = rows.end if frame.end is None else _end(frame.end, frame, rows, values, known)
    return first, np.maximum(first, end)


def _start(
    by: float, frame: OverFrame, rows: RowPartitions, values: Values, known: Flags | None
) -> Longs:
    if frame.by_rows:
        return np.clip(np.arange(len(rows)) + int(by), rows.start, rows.end)
    if by == 0:
        return rows.first_peer
    return _reaching(rows, values, by, known, rows.first_peer, after=False)


def _end(
    by: float, frame: OverFrame, rows: RowPartitions, values: Values, known: Flags | None
) -> Longs:
    if frame.by_rows:
        return np.clip(np.arange(len(rows)) + int(by) + 1, rows.start, rows.end)
    if by == 0:
        return rows.last_peer
    return _reaching(rows, values, by, known, rows.last_peer, after=True)


def _reaching(
    rows: RowPartitions,
    values: Values,
    by: float,
    known: Flags | None,
    of_nulls: Longs,
    *,
    after: bool,
) -> Longs:
    """Per row the position of the first row of its partition whose value reaches its own plus
    `by`; with `after`, whose value is larger than that.
    """
    if known is None or known.all():
        return _among(rows.start, rows.end, values, values + _like(values, by), after=after)
    # Rows with values are adjacent: those without are at one end of their partition.
    counts = np.cumsum(np.append(0, known))
    there = np.flatnonzero(known)
    low, high = counts[rows.start[there]], counts[rows.end[there]]
    mine = values[there]
    found = _among(low, high, mine, mine + _like(mine, by), after=after)
    result = of_nulls.copy()
    offset = there[np.minimum(low, there.size - 1)] - low
    result[there] = found + offset
    return result


def _like(values: Values, by: float) -> Any:
    return int(by) if np.issubdtype(values.dtype, np.integer) else by


def _among(start: Longs, end: Longs, values: Values, wanted: Values, *, after: bool) -> Longs:
    """The position from `start` to `end` at which each wanted value would be inserted into the
    values there, which ascend."""
    if not values.size:
        return start
    numbered = _numbered(start, values, wanted)
    if numbered is not None and ascends(numbered[0]):
        found = np.searchsorted(numbered[0], numbered[1], side="right" if after else "left")
    else:
        found = _by_sorting(start, values, wanted, after=after)
    return np.asarray(np.clip(found, start, end), dtype=np.int64)


def _numbered(start: Longs, values: Values, wanted: Values) -> tuple[Longs, Longs] | None:
    """Partition and value as one ascending number; None if they do not fit into one."""
    if not np.issubdtype(values.dtype, np.integer):
        return None
    low = min(int(values.min()), int(wanted.min()))
    span = max(int(values.max()), int(wanted.max())) - low + 1
    partition = np.cumsum(np.append(0, start[1:] != start[:-1]))
    if (int(partition[-1]) + 1) * span >> 62:
        return None
    return partition * span + (values - low), partition * span + (wanted - low)


def _by_sorting(start: Longs, values: Values, wanted: Values, *, after: bool) -> Longs:
    """The same for any values: sorts both together."""
    size = values.size
    which = np.append(np.zeros(size, np.int8), np.full(size, 1 if after else -1, np.int8))
    order = np.lexsort((which, np.append(values, wanted), np.append(start, start)))
    before = np.cumsum(order < size)
    found = np.empty(2 * size, dtype=np.int64)
    found[order] = before
    return found[size:]
