"""Looking up, for many keys and times at once, the version that was valid then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import ACCUMULATE, KIND
from tidemark.kernels.tables import Longs, distinct

ENDS = "_tm_ends"  # marks a version that says: from here on nothing is valid

# Which of these (version, query) pairs may be used.
Usable = Callable[[Longs, Longs], npt.NDArray[np.bool_]]


class VersionIndex:
    """Versions sorted by key, time and arrival, searched by binary search."""

    def __init__(self, key: Longs, time: Longs) -> None:
        # Times become ranks, so that key and time fit into one number whatever their size.
        self._times = distinct(time)
        self._width = len(self._times) + 1
        self._key = key
        self._pair = key * self._width + np.searchsorted(self._times, time) + 1

    def find(self, key: Longs, time: Longs, usable: Usable | None = None) -> Longs:
        """Per query the position of the newest version at or before the time; -1 if none.

        Of several with one time the last to arrive is found. Where `usable` refuses a
        version the one before it is tried.
        """
        rank = np.searchsorted(self._times, time, side="right")
        found = _last_up_to(self._pair, key * self._width + rank)
        self._leave_other_keys(found, key, np.arange(found.size))
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

    def _leave_other_keys(self, found: Longs, key: Longs, queries: Longs) -> None:
        if not self._key.size:
            found[queries] = -1
            return
        positions = found[queries]
        same = (positions >= 0) & (self._key[positions] == key[queries])
        found[queries] = np.where(same, positions, -1)


def _last_up_to(ordered: Longs, wanted: Longs) -> Longs:
    """Where in an ascending array the last value is that is not above each of the wanted ones.

    Searching in order stays in the cache, which is worth the sorting.
    """
    order = np.argsort(wanted)
    found = np.empty(wanted.size, dtype=np.int64)
    found[order] = np.searchsorted(ordered, wanted[order], side="right") - 1
    return found


def as_versions(
    rows: pl.DataFrame, keys: Sequence[str], ignored: Sequence[str] = ()
) -> pl.DataFrame:
    """Rows of a changelog as versions. Null keys never match, so they need not be kept."""
    kind = pl.col(KIND) if KIND in rows.columns else pl.lit("+I")
    return (
        rows.filter(~kind.is_in(ignored))
        .drop_nulls(keys)
        .with_columns((~kind.is_in(ACCUMULATE)).alias(ENDS))
        .drop(KIND, strict=False)
    )
