"""A table in memory, and the positions of its rows by the hash of their keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

# Below this many rows per key that is looked up, looking at all rows is quicker.
_FEW = 4


@dataclass(frozen=True, slots=True)
class KeyIndex:
    """Finds rows at a cost that depends on the keys that are looked up, not on the table's size."""

    rows: pl.DataFrame
    keys: tuple[str, ...]
    hashes: npt.NDArray[np.uint64]  # sorted
    places: npt.NDArray[np.int64]  # of the rows with these hashes
    most: int  # rows of one hash

    @classmethod
    def of(cls, rows: pl.DataFrame, keys: tuple[str, ...]) -> KeyIndex:
        found = _hashes(rows.select(keys))
        places = np.argsort(found, kind="stable")
        hashes = found[places]
        firsts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: hashes.size])
        most = int(np.diff(np.append(firsts, hashes.size)).max(initial=0))
        return cls(rows, keys, hashes, places, most)

    def candidates(self, keys: pl.DataFrame) -> pl.DataFrame:
        """All rows with one of these keys, in the order of the table; perhaps some others too."""
        if keys.height * _FEW >= self.rows.height:
            return self.rows
        wanted = np.unique(_hashes(keys.select(self.keys)))
        first = np.searchsorted(self.hashes, wanted, "left")
        counts = np.searchsorted(self.hashes, wanted, "right") - first
        # For each hash the numbers from `first` on, as many as it has rows.
        before = np.cumsum(counts) - counts
        numbers = np.arange(counts.sum()) + np.repeat(first - before, counts)
        return self.rows[np.sort(self.places[numbers])]


def _hashes(keys: pl.DataFrame) -> npt.NDArray[np.uint64]:
    return keys.hash_rows().to_numpy()
