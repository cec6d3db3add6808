"""Columns to records in Avro's binary encoding, as Flink writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import compute

from tidemark import types as t
from tidemark.formats.leaf_values import Flags
from tidemark.formats.nested_columns import offsets_of
from tidemark.formats.problems import data_error

# For each row some bytes; those of a value are those of its parts, one after the other.
_Bytes: TypeAlias = pa.LargeBinaryArray

_KEY: Final = t.VarChar(nullable=False)
_ABSENT, _PRESENT = b"\x00", b"\x02"


def records(rows: pl.DataFrame, fields: Sequence[t.Field], *, in_files: bool = False) -> _Bytes:
    """A record for each row, whose columns are the fields in order. In files, records are in a
    union with null.
    """
    all_rows = np.ones(rows.height, np.bool_)
    parts = [_one_byte(all_rows.astype(np.uint8) * _PRESENT[0], all_rows)] if in_files else []
    for column, field in zip(rows.get_columns(), fields, strict=True):
        try:
            parts += _value(column, field.type, all_rows)
        except _NullInside:
            raise data_error(
                f"cannot write NULL in `{field.name}` with the avro format",
                why=f"its type is {field.type}, or has a part that is NOT NULL",
                hint="declare what may be NULL without NOT NULL",
            ) from None
    return _joined(parts, rows.height)


def in_blocks(all_records: _Bytes, enough: int) -> Iterator[tuple[int, bytes]]:
    """The records in blocks that are no larger than they must be to have this many bytes: of each
    how many they are, and their bytes.
    """
    bounds, content = _buffers(all_records)
    start = 0
    while start < len(all_records):
        end = int(np.searchsorted(bounds, bounds[start] + enough))
        end = max(start + 1, min(end, len(all_records)))
        yield end - start, content[bounds[start] : bounds[end]].to_pybytes()
        start = end


class _NullInside(Exception):
    """A value is NULL whose type is NOT NULL."""


def _value(values: pl.Series, type_: t.DataType, there: Flags) -> list[_Bytes]:
    """The parts of each value; nothing where it is not `there`."""
    present = values.is_not_null().to_numpy() & there
    if type_.nullable:
        branch = np.where(present, np.uint8(_PRESENT[0]), np.uint8(_ABSENT[0]))
        return [_one_byte(branch, there), *_present(values, type_, present)]
    if (there & ~present).any():
        raise _NullInside
    return _present(values, type_, present)


def _present(values: pl.Series, type_: t.DataType, there: Flags) -> list[_Bytes]:
    match type_:
        case t.Row(fields=fields):
            columns = values.struct.unnest().get_columns()
            pairs = zip(columns, fields, strict=True)
            return [part for column, field in pairs for part in _value(column, field.type, there)]
        case t.Array(element=element):
            return _items(values, [element], there)
        case t.Map(value=value):
            return _items(values.map.entries(), [_KEY, value], there)
        case t.Multiset():
            return _items(values.map.entries(), [_KEY, t.Int()], there)
        case t.Null():
            return []
    return _leaf(values, type_, there)


def _items(values: pl.Series, types: Sequence[t.DataType], there: Flags) -> list[_Bytes]:
    """The items of lists: how many they are, unless there are none, and an end."""
    sizes = np.where(there, values.list.len().fill_null(0).to_numpy(), 0).astype(np.int64)
    kept = values if there.all() else pl.select(pl.when(pl.Series(there)).then(values)).to_series()
    inside = pl.from_arrow(kept.to_arrow(compat_level=pl.CompatLevel.newest()).flatten())
    assert isinstance(inside, pl.Series)
    columns = inside.struct.unnest().get_columns() if len(types) > 1 else [inside]
    all_items, parts = np.ones(len(inside), np.bool_), []
    for column, type_ in zip(columns, types, strict=True):
        parts += _value(column, type_, all_items)
    bounds, content = _buffers(_joined(parts, len(inside)))
    ends = np.zeros(len(sizes), np.uint8)
    return [
        _numbers(sizes, there & (sizes > 0)),
        _array(bounds[offsets_of(sizes)], content),
        _one_byte(ends, there),
    ]


def _leaf(values: pl.Series, type_: t.DataType, there: Flags) -> list[_Bytes]:
    match type_:
        case t.Char() | t.VarChar():
            return _sized(values.cast(pl.Binary), there)
        case t.Binary() | t.VarBinary():
            return _sized(values, there)
        case t.Decimal():
            return _decimals(values, there)
        case t.Boolean():
            flags = values.fill_null(value=False).to_numpy().astype(np.uint8)
            return [_one_byte(flags, there)]
        case t.Float() | t.Double():
            return [_fixed(values, there)]
    return [_numbers(_as_number(values, type_), there)]


def _as_number(values: pl.Series, type_: t.DataType) -> Any:
    match type_:
        case t.Time():
            values = values.cast(pl.Int64) // 1_000_000
        case t.Timestamp() | t.TimestampLtz():
            values = values.cast(pl.Datetime("us")).cast(pl.Int64)
            if type_.precision <= 3:
                values = values // 1000
        case t.Date():
            values = values.cast(pl.Int32)
    return values.cast(pl.Int64).fill_null(0).to_numpy()


# --- bytes -------------------------------------------------------------------------------------


def _numbers(numbers: Any, there: Flags) -> _Bytes:
    """Seven bits in each byte, the lowest first; small negative numbers are small, too."""
    signed = numbers.astype(np.int64)
    values = ((signed << 1) ^ (signed >> 63)).view(np.uint64)
    sizes = there.astype(np.int64)
    for bits in range(7, 64, 7):
        longer = values >= np.uint64(1 << bits)
        if not longer.any():
            break
        sizes += longer & there
    bounds = offsets_of(sizes)
    content = np.empty(int(bounds[-1]), np.uint8)
    for place in range(int(sizes.max(initial=0))):
        has = sizes > place
        byte = (values[has] >> np.uint64(7 * place)).astype(np.uint8) & np.uint8(0x7F)
        byte |= np.where(sizes[has] > place + 1, np.uint8(0x80), np.uint8(0))
        content[bounds[:-1][has] + place] = byte
    return _array(bounds, pa.py_buffer(content))


def _sized(values: pl.Series, there: Flags) -> list[_Bytes]:
    sizes = values.bin.size().fill_null(0).to_numpy()
    if not there.all():
        values = pl.select(pl.when(pl.Series(there)).then(values).otherwise(b"")).to_series()
    content = values.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_binary())
    return [_numbers(sizes, there), content]


def _fixed(values: pl.Series, there: Flags) -> _Bytes:
    numbers = values.fill_null(0).to_numpy()[there]
    little = numbers.astype(numbers.dtype.newbyteorder("<"))
    return _array(offsets_of(there * numbers.itemsize), pa.py_buffer(np.ascontiguousarray(little)))


_WIDTH: Final = 16  # the bytes of Arrow's decimals


def _decimals(values: pl.Series, there: Flags) -> list[_Bytes]:
    """As many bytes of a number as its sign allows, the highest first."""
    array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    data = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, _WIDTH)
    wide = data[array.offset : array.offset + len(values), ::-1]
    sign = np.where(wide[:, 0] >= 0x80, np.uint8(0xFF), np.uint8(0))
    # A first byte is left out if the next one has the same sign.
    same = (wide[:, :-1] == sign[:, None]) & ((wide[:, 1:] >= 0x80) == (sign != 0)[:, None])
    left_out = np.logical_and.accumulate(same, axis=1).sum(axis=1)
    sizes = np.where(there, _WIDTH - left_out, 0).astype(np.int64)
    kept = (np.arange(_WIDTH) >= left_out[:, None]) & there[:, None]
    content = _array(offsets_of(sizes), pa.py_buffer(np.ascontiguousarray(wide[kept])))
    return [_numbers(sizes, there), content]


def _one_byte(byte: Any, there: Flags) -> _Bytes:
    content = byte if there.all() else byte[there]
    return _array(offsets_of(there.astype(np.int64)), pa.py_buffer(np.ascontiguousarray(content)))


def _array(bounds: Any, content: pa.Buffer) -> _Bytes:
    offsets = pa.py_buffer(np.ascontiguousarray(bounds.astype(np.int64)))
    buffers = [None, offsets, content]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(bounds) - 1, buffers)


def _buffers(array: _Bytes) -> tuple[Any, pa.Buffer]:
    """Where the values of an array begin and end in its bytes."""
    if len(array) == 0:
        return np.zeros(1, np.int64), pa.py_buffer(b"")
    _, ends, content = array.buffers()
    bounds = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    return bounds, content if content is not None else pa.py_buffer(b"")


def bounds_of(array: _Bytes) -> Any:
    """Where values begin and end in the bytes of an array that has no NULL."""
    return _buffers(array)[0]


def content_of(array: _Bytes) -> Any:
    return np.frombuffer(_buffers(array)[1], np.uint8)


def _joined(parts: Sequence[_Bytes], count: int) -> _Bytes:
    if not parts:
        return _array(np.zeros(count + 1, np.int64), pa.py_buffer(b""))
    return compute.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))
