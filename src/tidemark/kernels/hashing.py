"""Hashes of key columns as Spark's `xxhash64` computes them, whole columns at a time.

Rows that pass from one operator to the next as packed columns are never rows in between, so their
keys are hashed by workers. The other input of the same operator may come from Spark, and a
checkpoint outlives both: the hashes must be identical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_Words = npt.NDArray[np.uint64]

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_SEED = np.uint64(42)
_LONG = 1 << 16  # bytes of a string


def can_hash(type_: pa.DataType) -> bool:
    """Whether columns of a type can be hashed here."""
    return _hasher_of(type_) is not None


def xxhash64(columns: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
    """The hash of each row of some columns of the same length; there is at least one column."""
    count = len(columns[0])
    # One for all rows, as long as their columns have one value: a day, or the end of a window.
    hashes = np.full(min(count, 1), _SEED, dtype=np.uint64)
    for column in columns:
        if hashes.size < count:
            if _has_one_value(column):
                column = column.slice(0, 1)
            else:
                hashes = np.repeat(hashes, count)
        hashes = _with_column(hashes, column)
    whole = np.repeat(hashes, count) if hashes.size < count else hashes
    return whole.view(np.int64)


def _has_one_value(column: pa.Array) -> bool:
    first, last = column[0], column[len(column) - 1]
    if column.null_count or not first.equals(last):
        return False
    return pc.all(pc.equal(column, first)).as_py() is True


def _with_column(hashes: _Words, column: pa.Array) -> _Words:
    hasher = _hasher_of(column.type)
    assert hasher is not None, column.type
    if not column.null_count:
        return hasher(column, hashes)
    valid = pc.is_valid(column).to_numpy(zero_copy_only=False)
    # A NULL keeps the hash so far.
    hashes[valid] = hasher(column.drop_null(), hashes[valid])
    return hashes


_Hasher = Callable[[pa.Array, _Words], _Words]


def _hasher_of(type_: Any) -> _Hasher | None:
    is_ = pa.types
    if is_.is_int64(type_) or is_.is_duration(type_):
        return _longs
    if is_.is_signed_integer(type_) or is_.is_boolean(type_) or is_.is_date32(type_):
        return _ints
    if is_.is_timestamp(type_):
        return _longs if type_.unit == "us" else None
    if is_.is_float64(type_):
        return _doubles
    if is_.is_float32(type_):
        return _floats
    if is_.is_decimal128(type_) and type_.precision <= 18:
        return _decimals
    if is_.is_string(type_) or is_.is_binary(type_):
        return _bytes
    return None


# --- numbers -----------------------------------------------------------------------------------


def _longs(column: pa.Array, seeds: _Words) -> _Words:
    return _of_longs(column.cast(pa.int64()).to_numpy(zero_copy_only=False), seeds)


def _ints(column: pa.Array, seeds: _Words) -> _Words:
    return _of_ints(column.cast(pa.int32()).to_numpy(zero_copy_only=False), seeds)


def _doubles(column: pa.Array, seeds: _Words) -> _Words:
    # As in Spark, both zeros are one value, and so are all NaNs.
    values = column.to_numpy(zero_copy_only=False) + 0.0
    values[np.isnan(values)] = np.nan
    return _of_longs(values.view(np.int64), seeds)


def _floats(column: pa.Array, seeds: _Words) -> _Words:
    values = column.to_numpy(zero_copy_only=False) + np.float32(0)
    values[np.isnan(values)] = np.nan
    return _of_ints(values.view(np.int32), seeds)


def _decimals(column: pa.Array, seeds: _Words) -> _Words:
    # Up to 18 digits fit into the lower half of the 16 bytes.
    halves = np.frombuffer(column.buffers()[1], dtype=np.int64)
    return _of_longs(halves[2 * column.offset :][: 2 * len(column) : 2], seeds)


def _of_longs(values: npt.NDArray[np.int64], seeds: _Words) -> _Words:
    hashes = seeds + _P5 + np.uint64(8)
    return _avalanche(_with_word(hashes, values.view(np.uint64)))


def _of_ints(values: npt.NDArray[np.int32], seeds: _Words) -> _Words:
    hashes = seeds + _P5 + np.uint64(4)
    return _avalanche(_with_half_word(hashes, values.view(np.uint32).astype(np.uint64)))


# --- strings -----------------------------------------------------------------------------------


def _bytes(column: pa.Array, seeds: _Words) -> _Words:
    """Values of equal length are hashed together; a column of keys has few lengths."""
    _, offsets_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32)[column.offset :][: len(column) + 1]
    data = _Data.of(data_buffer)
    starts, lengths = offsets[:-1], np.diff(offsets)
    longest = int(lengths.max(initial=0))
    if (lengths == longest).all():
        return _of_bytes(data, starts, longest, seeds)
    hashes = np.empty(len(column), dtype=np.uint64)
    for length in _distinct(lengths, longest):
        places = np.flatnonzero(lengths == length)
        hashes[places] = _of_bytes(data, starts[places], int(length), seeds[places])
    return hashes


def _distinct(lengths: npt.NDArray[np.int32], longest: int) -> npt.NDArray[Any]:
    # Sorting takes longer than counting.
    return np.unique(lengths) if longest > _LONG else np.flatnonzero(np.bincount(lengths))


@dataclass(frozen=True, slots=True)
class _Data:
    """The bytes of all values, readable as little-endian numbers at any offset."""

    longs: npt.NDArray[Any]
    ints: npt.NDArray[Any]
    singles: npt.NDArray[Any]

    @classmethod
    def of(cls, buffer: pa.Buffer | None) -> Self:
        padded = (buffer.to_pybytes() if buffer is not None else b"") + bytes(8)
        return cls(*(_at_each_byte(padded, kind) for kind in ("<u8", "<u4", "u1")))


def _at_each_byte(data: bytes, kind: str) -> npt.NDArray[Any]:
    count = len(data) - np.dtype(kind).itemsize + 1
    return np.ndarray((count,), dtype=kind, buffer=data, strides=(1,))


def _of_bytes(data: _Data, starts: npt.NDArray[Any], length: int, seeds: _Words) -> _Words:
    """Hashes of values: stripes of 32 bytes, then words of 8, one of 4, and single ones."""
    at = 0
    if length >= 32:
        hashes, at = _of_stripes(data, starts, length, seeds)
    else:
        hashes = seeds + _P5
    hashes = hashes + np.uint64(length)
    while at + 8 <= length:
        hashes = _with_word(hashes, data.longs[starts + at])
        at += 8
    if at + 4 <= length:
        hashes = _with_half_word(hashes, data.ints[starts + at].astype(np.uint64))
        at += 4
    for place in range(at, length):
        byte = data.singles[starts + place].astype(np.uint64)
        hashes = _rotated(hashes ^ (byte * _P5), 11) * _P1
    return _avalanche(hashes)


def _of_stripes(
    data: _Data, starts: npt.NDArray[Any], length: int, seeds: _Words
) -> tuple[_Words, int]:
    """The hash of the whole stripes, and where they end."""
    lanes = [seeds + _P1 + _P2, seeds + _P2, seeds, seeds - _P1]
    at = 0
    while at + 32 <= length:
        for number in range(4):
            word = data.longs[starts + (at + 8 * number)]
            lanes[number] = _rotated(lanes[number] + word * _P2, 31) * _P1
        at += 32
    hashes = np.zeros_like(seeds)
    for lane, by in zip(lanes, (1, 7, 12, 18), strict=True):
        hashes = hashes + _rotated(lane, by)
    for lane in lanes:
        hashes = (hashes ^ (_rotated(lane * _P2, 31) * _P1)) * _P1 + _P4
    return hashes, at


# --- xxHash64 ----------------------------------------------------------------------------------


def _with_word(hashes: _Words, words: _Words) -> _Words:
    return _rotated(hashes ^ (_rotated(words * _P2, 31) * _P1), 27) * _P1 + _P4


def _with_half_word(hashes: _Words, words: _Words) -> _Words:
    return _rotated(hashes ^ (words * _P1), 23) * _P2 + _P3


def _rotated(words: _Words, by: int) -> _Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def _avalanche(hashes: _Words) -> _Words:
    hashes = (hashes ^ (hashes >> np.uint64(33))) * _P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _P3
    return hashes ^ (hashes >> np.uint64(32))
