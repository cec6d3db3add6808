"""Values of the raw format to lines, as whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import compute

from tidemark import types as t
from tidemark.formats.problems import data_error
from tidemark.formats.raw_options import CHARSET, ENDIANNESS, WIDTHS, no_null

_LINE_END = b"\n"


def can_encode(options: Mapping[str, Any]) -> bool:
    return str(options.get(CHARSET, "UTF-8")).upper() == "UTF-8"


def raw_lines(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.Array:
    """The values of the only column, each with the end of its line."""
    [field], values = fields, rows.to_series()
    if values.null_count():
        problem, why, hint = no_null(field.name)
        raise data_error(problem, why=why, hint=hint)
    if type(field.type) in WIDTHS:
        return _numbers(values, field.type, options)
    lines = values.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_binary())
    ends = pa.scalar(b"", pa.large_binary()), pa.scalar(_LINE_END, pa.large_binary())
    return compute.binary_join_element_wise(lines, *ends)


def _numbers(values: pl.Series, type_: t.DataType, options: Mapping[str, Any]) -> pa.Array:
    width = WIDTHS[type(type_)]
    order = ">" if options.get(ENDIANNESS, "big-endian") == "big-endian" else "<"
    lines = np.full((len(values), width + 1), ord(_LINE_END), np.uint8)
    numbers = values.to_numpy().astype(f"{order}i{width}")
    lines[:, :width] = numbers.view(np.uint8).reshape(len(values), width)
    starts = np.arange(len(values) + 1, dtype=np.int64) * (width + 1)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(lines)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(values), buffers)
