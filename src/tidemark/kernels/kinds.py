"""Row kinds as small numbers, which are much faster than strings."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import KIND

Kinds = npt.NDArray[np.int8]
KINDS: Final = ("+I", "-U", "+U", "-D")
INSERT, BEFORE, AFTER, DELETE = range(len(KINDS))
_COLUMN: Final = pl.Series(KIND, KINDS, pl.String)


def kind_column(numbers: npt.NDArray[Any]) -> pl.Series:
    """The kinds with these numbers, as a column KIND."""
    return _COLUMN.gather(numbers)


def kinds_of(rows: pl.DataFrame) -> Kinds:
    if KIND not in rows.columns:
        return np.zeros(rows.height, dtype=np.int8)
    kinds = np.full(rows.height, INSERT, dtype=np.int8)
    for number in (BEFORE, AFTER, DELETE):
        kinds[(rows[KIND] == KINDS[number]).to_numpy()] = number
    return kinds


def accumulates(kinds: Kinds) -> npt.NDArray[np.bool_]:
    """Which kinds add a row."""
    return np.isin(kinds, [INSERT, AFTER])
