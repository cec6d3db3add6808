"""Records of a key that are rewritten together: those of the newest version count."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH
from tidemark.kernels.tables import Longs

VERSION: Final = "_tm_version"  # Int64; where the sequence ended when the record was written


def are_newest(key: Longs, version: Longs) -> npt.NDArray[np.bool_]:
    """Per record, given the number of its key, whether it is of the key's newest version."""
    newest = np.full(int(key.max(initial=-1)) + 1, BEFORE_ALL, dtype=np.int64)
    np.maximum.at(newest, key, version)
    return np.asarray(version == newest[key])


def newest(records: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    return records.filter(pl.col(VERSION) == pl.col(VERSION).max().over(HASH, *keys))
