"""Times as whole columns by Arrow, which knows more spellings than the formats: so the strings must
have the right lengths, and the right characters between date, time and zone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa


def parsed(
    text: pl.Series, type_: pa.DataType, lengths: tuple[int, int], separators: Mapping[int, str]
) -> pl.Series | None:
    """The values of strings that have one of these lengths, from a shortest to a longest, a year
    since 1000, and these separators, by their position from the begin, or if it is negative from
    the end. None if there is another string.
    """
    array = text.to_arrow(compat_level=pl.CompatLevel.oldest())
    if not _are_alike(array, lengths, separators):
        return None
    try:
        found = pl.from_arrow(array.cast(type_))
    except pa.ArrowInvalid:
        return None
    assert isinstance(found, pl.Series)
    return found


def _are_alike(
    array: pa.LargeStringArray, lengths: tuple[int, int], separators: Mapping[int, str]
) -> bool:
    _, positions, content = array.buffers()
    if array.null_count == len(array) or content is None:
        return False
    data = np.frombuffer(content, np.uint8)
    offsets = np.frombuffer(positions, np.int64)[array.offset :][: len(array) + 1]
    begins, ends = offsets[:-1], offsets[1:]
    if array.null_count:
        there = array.is_valid().to_numpy(zero_copy_only=False)
        begins, ends = begins[there], ends[there]
    sizes = ends - begins
    shortest, longest = lengths
    if sizes.min() < shortest or sizes.max() > longest or (data[begins] == ord("0")).any():
        return False
    return all(
        (data[(ends if place < 0 else begins) + place] == ord(separator)).all()
        for place, separator in separators.items()
    )
