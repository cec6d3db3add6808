"""Rankings by a time attribute of which only the first row counts: deduplication."""

from __future__ import annotations

from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.expressions import Ref


def is_deduplication(rank: BoundRank, *, descending: bool) -> bool:
    """Whether it keeps one row per key, by time in this direction, of append-only rows."""
    if rank.numbered.by != "ROW_NUMBER" or not rank.is_first_only:
        return False
    if len(rank.order) != 1 or rank.rows.edge.changes:
        return False
    [by] = rank.order
    column = rank.column(by.value)
    by_time = column is not None and column.time is not None and by.descending == descending
    return by_time and bool(rank.keys) and all(isinstance(key, Ref) for key in rank.keys)


def places(rank: BoundRank) -> tuple[tuple[int, ...], int]:
    """The positions of a deduplication's keys and time."""
    [by] = rank.order
    assert isinstance(by.value, Ref)
    return tuple(key.index for key in rank.keys if isinstance(key, Ref)), by.value.index
