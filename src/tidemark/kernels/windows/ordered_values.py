"""Where values are in a table that is sorted by HASH, so that those of a window are in order there:
the upper half of the hash is that of the window, the lower half ascends with the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.aggregates.accumulators import Summary
from tidemark.kernels.tables import Longs

_BITS: Final = 32
_LAST: Final = 2**_BITS - 1


def first_of_windows(hashes: Longs) -> Longs:
    """The lowest HASH of values of windows with these hashes."""
    return hashes.astype(np.int32).astype(np.int64) << _BITS


def last_of_windows(hashes: Longs) -> Longs:
    return first_of_windows(hashes) + _LAST


@dataclass(frozen=True, slots=True)
class ByPreference:
    """Values that are preferred to others do not come before them. Different values may be at the
    same place.
    """

    what: Summary  # LEAST or GREATEST

    def __call__(self, windows: Longs, values: pl.Series) -> Longs:
        codes = _ascending(values)
        if self.what is Summary.LEAST:
            codes = _LAST - codes
        if values.dtype.is_float():
            # As in lists, NaN is not preferred to any other value.
            codes[values.is_nan().to_numpy()] = 0
        return first_of_windows(windows) + codes


def _ascending(values: pl.Series) -> Longs:
    """Numbers of 32 bits that do not descend where values ascend."""
    physical = values.to_physical() if values.dtype.is_temporal() else values
    if physical.dtype in (pl.String, pl.Binary):
        return _first_bytes(physical.cast(pl.Binary))
    if not (physical.dtype.is_numeric() or physical.dtype == pl.Boolean):
        return np.zeros(values.len(), dtype=np.int64)
    # Rounding, also to infinity, does not change the order. Both zeros are one value.
    with np.errstate(over="ignore"):
        rounded = physical.cast(pl.Float64).to_numpy().astype(np.float32) + np.float32(0)
    bits = rounded.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + 2**31


def _first_bytes(values: pl.Series) -> Longs:
    """The first four bytes as a number; zeros follow shorter values."""
    array: Any = values.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    array = array.cast(pa.large_binary())
    _, offsets_buffer, data = array.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int64)[array.offset :][: len(array) + 1]
    padded = (data.to_pybytes() if data is not None else b"") + bytes(4)
    words = np.ndarray((len(padded) - 3,), dtype=">u4", buffer=padded, strides=(1,))
    missing = 4 - np.minimum(np.diff(offsets), 4)
    return np.asarray(words[offsets[:-1]].astype(np.int64) >> (8 * missing) << (8 * missing))
