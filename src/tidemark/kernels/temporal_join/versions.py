"""Finds, for many keys and times at once, the version that was valid then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import ACCUMULATE, KIND
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, distinct

ENDS = "_tm_ends"  # marks a version that says: from here on nothing is valid

# Which of these (version, query) pairs may be used.
Usable = Callable[[Longs, Longs], npt.NDArray[np.bool_]]


class VersionIndex:
    """Versions sorted by key (a number below `keys`), time and arrival."""

    def __init__(self, key: Longs, time: Longs, keys: int) -> None:
        self._key = key
        self._rank, self._width = _ranks(time, keys)
        self._pair = key * self._width + self._rank(time)

    def find(self, key: Longs, time: Longs, usable: Usable | None = None) -> Longs:
        """Per query the position of the newest version at or before the time; -1 if none.

        Of several versions with the same time, the last to arrive is found. If `usable` rejects a
        version, the one before it is tried.
        """
        found = _last_up_to(self._pair, key * self._width + self._rank(time))
        self._leave_other_keys(found, key)
        if usable is None:
            return found
        open_queries = np.flatnonzero(found >= 0)
        while open_queries.size:
            refused = ~usable(found[open_queries], open_queries)
            open_queries = open_queries[refused]
            found[open_queries] -= 1
            self._leave_other_keys(found, key, open_queries)
            open_queries = open_queries[found[open_queries] >= 0]
        return found

    def _leave_other_keys(
        self, found: Longs, key: Longs, queries: Longs | slice = slice(None)
    ) -> None:
        if not self._key.size:
            found[queries] = -1
            return
        positions = found[queries]
        same = (positions >= 0) & (self._key[positions] == key[queries])
        found[queries] = np.where(same, positions, -1)


def _ranks(times: Longs, keys: int) -> tuple[Callable[[Longs], Longs], int]:
    """Where a time is among these, as a number below a width, so small that the
    number of a key and it fit into one number."""
    if times.size:
        low, high = int(times.min()), int(times.max())
        if not keys * (high - low + 2) >> 62:
            return lambda time: np.clip(time, low - 1, high) - (low - 1), high - low + 2
    ordered = distinct(times)
    return lambda time: np.searchsorted(ordered, time, side="right"), ordered.size + 1


def _last_up_to(ordered: Longs, wanted: Longs) -> Longs:
    """For each of the wanted values, the position of the last value in an ascending array that is
    not above it.

    Searching in order stays in the cache, which is worth the sorting.
    """
    order = stable_order(wanted)
    sought = wanted[order]
    if ordered.size < wanted.size:
        first_sought = np.searchsorted(sought, ordered, side="left")
        upto = np.cumsum(np.bincount(first_sought, minlength=wanted.size + 1)[:-1])
    else:
        upto = np.searchsorted(ordered, sought, side="right")
    found = np.empty(wanted.size, dtype=np.int64)
    found[order] = upto - 1
    return found


def as_versions(rows: pl.DataFrame, ignored: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of a changelog as versions. Those with NULL keys are kept: as in Flink, NULL matches
    NULL in a temporal join, and a primary key contains none.
    """
    if KIND not in rows.columns:
        return rows.with_columns(pl.lit(False).alias(ENDS))
    kind = pl.col(KIND)
    return (
        rows.filter(~kind.is_in(ignored))
        .with_columns((~kind.is_in(ACCUMULATE)).alias(ENDS))
        .drop(KIND)
    )
