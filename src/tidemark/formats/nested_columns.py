"""Columns of lists, made of their items."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.formats.leaf_values import Flags

Sizes = npt.NDArray[np.int64]


def arrays(items: pl.Series, sizes: Sizes, there: Flags) -> pl.Series:
    """Arrays of items that are one after the other; those that are not there have no size."""
    offsets = pa.array(offsets_of(sizes))
    return series_of(pa.LargeListArray.from_arrays(offsets, arrow_of(items), mask=_nulls(there)))


def maps(keys: pl.Series, items: pl.Series, sizes: Sizes, there: Flags) -> pl.Series:
    offsets = pa.array(offsets_of(sizes).astype(np.int32))
    array = pa.MapArray.from_arrays(offsets, arrow_of(keys), arrow_of(items), mask=_nulls(there))
    return series_of(array)


def sure_lists(sure: Flags | None, sizes: Sizes) -> Flags | None:
    """The lists of these sizes whose items are all right."""
    if sure is None:
        return None
    result = np.ones(len(sizes), np.bool_)
    result[np.repeat(np.arange(len(sizes)), sizes)[~sure]] = False
    return result


def offsets_of(sizes: Sizes) -> Sizes:
    return np.concatenate([[0], np.cumsum(sizes)])


def series_of(array: pa.Array) -> pl.Series:
    series = pl.from_arrow(array)
    assert isinstance(series, pl.Series)
    return series


def arrow_of(values: pl.Series) -> pa.Array:
    """The same memory: strings remain views."""
    return values.to_arrow(compat_level=pl.CompatLevel.newest())


def _nulls(there: Flags) -> Any:
    return None if there.all() else pa.array(~there)
