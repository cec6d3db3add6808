"""Columns of strings from their bytes, without a Python string for each."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.connectors.made_rows.columns.draws import Bytes

_LARGEST: Final = 1 << 31


def offsets(sizes: npt.NDArray[Any]) -> pa.Array:
    """Where each of adjoining ranges begins, and where the last one ends."""
    return pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def of_lines(
    units: Bytes, lengths: npt.NDArray[Any] | None = None, type_: pa.DataType | None = None
) -> pa.Array:
    """A string of each line of units, or of as many units of it as its length is."""
    rows, longest = units.shape
    if lengths is None:
        lengths = np.full(rows, longest)
    else:
        units = units[np.arange(longest) < lengths[:, None]]
    data = pa.py_buffer(np.ascontiguousarray(units))
    starts = offsets(lengths).buffers()[1]
    return pa.Array.from_buffers(type_ or pa.large_string(), rows, [None, starts, data])


def cut(text: Bytes, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> pa.Array:
    """The parts of one ASCII text that have these starts and lengths."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    narrow = np.int32 if total + len(text) < _LARGEST else np.int64  # half as much to move
    places = np.repeat((starts - ends + lengths).astype(narrow), lengths)
    places += np.arange(total, dtype=narrow)
    buffers = [None, offsets(lengths).buffers()[1], pa.py_buffer(text[places])]
    return pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)


def joined(*parts: pa.Array | str) -> pa.Array:
    """The strings of each row, one after the other; a Python string is the same in each."""
    scalars = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))


def chosen(condition: npt.NDArray[np.bool_], values: pa.Array, others: pa.Array) -> pa.Array:
    """The values of the rows for which the condition is true, else the others."""
    return pc.if_else(pa.array(condition), values, others)
