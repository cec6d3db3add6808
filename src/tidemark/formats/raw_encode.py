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
        return _numbers(values, field.type, options, _LINE_END)
    ends = pa.scalar(b"", pa.large_binary()), pa.scalar(_LINE_END, pa.large_binary())
    return compute.binary_join_element_wise(_as_bytes(values), *ends)


def raw_values(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.Array:
    """The values of the only column as bytes; NULL for NULL."""
    [field], values = fields, rows.to_series()
    if type(field.type) not in WIDTHS:
        return _as_bytes(values)
    there = values.fill_null(False if values.dtype == pl.Boolean else 0)
    numbers = _numbers(there, field.type, options, b"")
    return compute.if_else(values.is_not_null().to_arrow(), numbers, None)


def _as_bytes(values: pl.Series) -> pa.Array:
    return values.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_binary())


def _numbers(
    values: pl.Series, type_: t.DataType, options: Mapping[str, Any], end: bytes
) -> pa.Array:
    width, whole = WIDTHS[type(type_)], WIDTHS[type(type_)] + len(end)
    order = ">" if options.get(ENDIANNESS, "big-endian") == "big-endian" else "<"
    content = np.empty((len(values), whole), np.uint8)
    content[:, width:] = np.frombuffer(end, np.uint8)
    kind = "f" if values.dtype.is_float() else "i"
    numbers = values.to_numpy().astype(f"{order}{kind}{width}")
    content[:, :width] = numbers.view(np.uint8).reshape(len(values), width)
    starts = np.arange(len(values) + 1, dtype=np.int64) * whole
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(content)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(values), buffers)
