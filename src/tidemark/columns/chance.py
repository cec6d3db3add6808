"""Functions of chance, whose values are independent from row to row, and from call to call."""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns
from tidemark.functions.numeric import BOUND_NOT_POSITIVE

_BYTES, _CHARACTERS = 16, 36
_HYPHENS = (8, 13, 18, 23)
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def _uuids(rows: int) -> pl.Series:
    """Random UUIDs of version 4."""
    numbers = np.frombuffer(bytearray(os.urandom(rows * _BYTES)), np.uint8).reshape(rows, _BYTES)
    numbers[:, 6] = numbers[:, 6] & 0x0F | 0x40
    numbers[:, 8] = numbers[:, 8] & 0x3F | 0x80
    written = np.full((rows, _CHARACTERS), ord("-"), np.uint8)
    digits = np.delete(np.arange(_CHARACTERS), _HYPHENS)
    written[:, digits[::2]] = _DIGITS[numbers >> 4]
    written[:, digits[1::2]] = _DIGITS[numbers & 0x0F]
    ends = np.arange(rows + 1, dtype=np.int64) * _CHARACTERS
    array = pa.LargeStringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(written))
    return pl.Series(array)


def _numbers(rows: int) -> pl.Series:
    # A generator of its own, so that processes which are copies of one another draw differently.
    return pl.Series(np.random.default_rng().random(rows))


def _random(call: ColumnCall) -> pl.Expr:
    if call.args:
        raise NotInColumns("RAND with a seed")
    return call.active.drawn(call.name, _numbers)


def _random_integer(call: ColumnCall) -> pl.Expr:
    if len(call.args) == 2:
        raise NotInColumns("RAND_INTEGER with a seed")
    (bound,) = call.args
    call.active.fail(bound <= 0, BOUND_NOT_POSITIVE)
    return (call.active.drawn(call.name, _numbers) * bound).floor().cast(pl.Int32)


COLUMNS: dict[str, WriteColumn] = {
    "UUID": lambda call: call.active.drawn(call.name, _uuids),
    "RAND": _random,
    "RAND_INTEGER": _random_integer,
}
