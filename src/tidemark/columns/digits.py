"""Integers and bytes in binary and hexadecimal digits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn

_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)
_WORD = 64


def _written(numbers: pl.Series, bits: int) -> pl.Series:
    """The numbers in digits of so many bits; those of negative ones are of their 64 bits."""
    values = numbers.fill_null(0).cast(pl.Int64).to_numpy().view(np.uint64)
    shifts = np.arange(_WORD - bits, -1, -bits, dtype=np.uint64)
    digits = (values[:, None] >> shifts) & np.uint64((1 << bits) - 1)
    # The last digit is there if all are zero.
    leading = np.argmax(digits != 0, axis=1)
    leading = np.where(values == 0, len(shifts) - 1, leading)
    kept = np.arange(len(shifts)) >= leading[:, None]
    ends = np.concatenate([[0], np.cumsum(len(shifts) - leading)]).astype(np.int64)
    characters = np.ascontiguousarray(_DIGITS[digits[kept].astype(np.intp)])
    rows = len(values)
    array = pa.LargeStringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(characters))
    return pl.Series(array)


def _number(call: ColumnCall, bits: int) -> pl.Expr:
    digits = call.active.batches(lambda numbers: _written(numbers, bits), call.args, t.STRING)
    return pl.when(call.args[0].is_not_null()).then(digits)


def _hex(call: ColumnCall) -> pl.Expr:
    if isinstance(call.type(0), t.CHARACTERS):
        return call.args[0].str.encode("hex").str.to_uppercase()
    return _number(call, 4)


def _unhex(call: ColumnCall) -> pl.Expr:
    """With an odd number of digits, the first one counts as zero, if it is one."""
    text = call.args[0]
    odd = text.str.len_bytes() % 2 == 1
    even = pl.when(odd).then(pl.lit("00") + text.str.slice(1)).otherwise(text)
    valid = text.str.contains(r"\A[0-9A-Fa-f]*\z")
    return pl.when(valid).then(even).str.decode("hex", strict=False)


COLUMNS: dict[str, WriteColumn] = {
    "BIN": lambda call: _number(call, 1),
    "HEX": _hex,
    "UNHEX": _unhex,
}
