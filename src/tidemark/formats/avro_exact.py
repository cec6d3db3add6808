"""Records of Avro one by one: to say what is wrong, and for types the quick way does not know."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import polars as pl

from tidemark.formats.avro_quick import dtype, name, smallest
from tidemark.formats.avro_schema import (
    NULL,
    Avro,
    Enum,
    Fixed,
    Items,
    MapOf,
    Optional,
    Primitive,
    Record,
    Tag,
    Union,
    describe,
)

# More values without bytes are not believed.
_MOST_EMPTY: Final = 1 << 20


class BadRecord(Exception):
    """What is wrong with a record, and its number in its block."""

    def __init__(self, why: str, number: int) -> None:
        super().__init__(why)
        self.why, self.number = why, number


def read(count: int, data: bytes, record: Record) -> pl.DataFrame:
    """All fields of a block's records, in the types of `dtype`."""
    reader, rows = _Reader(data), []
    if not smallest(record) and count > _MOST_EMPTY:
        raise BadRecord(f"{count:,} records have no bytes", 1)
    for number in range(1, count + 1):
        rows.append(_one(reader, record, number))
    if reader.left:
        raise BadRecord(f"{reader.left} bytes are left after it", max(count, 1))
    return _columns(rows, record)


def read_messages(values: Iterable[bytes], record: Record) -> pl.DataFrame:
    """The same for records that are one in each value; there may be other bytes after each."""
    rows = [_one(_Reader(each), record, number) for number, each in enumerate(values, start=1)]
    return _columns(rows, record)


def _one(reader: _Reader, record: Record, number: int) -> tuple[Any, ...]:
    try:
        return tuple(reader.fields(record))
    except _Bad as problem:
        raise BadRecord(str(problem), number) from None


def _columns(rows: Sequence[tuple[Any, ...]], record: Record) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else [()] * len(record.fields)
    made = [
        pl.Series(name(place), list(values), dtype(inner))
        for place, ((_, inner), values) in enumerate(zip(record.fields, columns, strict=True))
    ]
    return pl.DataFrame(made)


class _Bad(Exception):
    pass


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def fields(self, record: Record) -> Iterator[Any]:
        for field, inner in record.fields:
            try:
                yield self.value(inner)
            except _Bad as problem:
                raise _Bad(f"`{field}`: {problem}" if field else str(problem)) from None

    def value(self, type_: Avro) -> Any:
        match type_:
            case Primitive("null"):
                return None
            case Primitive("boolean"):
                return self._boolean()
            case Primitive("int"):
                return self._number(31, "an int")
            case Primitive("long"):
                return self._number(63, "a long")
            case Primitive("float"):
                return struct.unpack("<f", self._bytes(4))[0]
            case Primitive("double"):
                return struct.unpack("<d", self._bytes(8))[0]
            case Primitive():
                return self._bytes(self._number(63, "a size"))
            case Fixed(size):
                return self._bytes(size)
            case Enum(symbols):
                return self._one_of(len(symbols), "symbols of the enum")
        return self._composed(type_)

    def _composed(self, type_: Avro) -> Any:
        match type_:
            case Tag(branch):
                if (taken := self._number(31, "a branch")) != branch:
                    raise _Bad(f"branch {taken} of the union is not a record")
                return taken
            case Optional(present, null_first):
                is_null = (self._one_of(2, "branches of the union") == 0) == null_first
                return None if is_null else self.value(present)
            case Union(branches):
                taken = self._one_of(len(branches), "branches of the union")
                if branches[taken] == NULL:
                    return None
                return {name(taken): self.value(branches[taken])}
            case Items(item):
                return [self.value(item) for _ in self._items(smallest(item))]
            case MapOf(value):
                pair = Record((("key", Primitive("string")), ("value", value)))
                return [self.value(pair) for _ in self._items(1)]
            case Record():
                return {name(i): value for i, value in enumerate(self.fields(type_))}
        raise AssertionError(describe(type_))

    def _items(self, least: int) -> Iterator[None]:
        """As many times as an array or map has items."""
        seen = 0
        while count := self._number(63, "a count"):
            if count < 0:  # with its size in bytes
                count = -count
                self._number(63, "a size")
            seen += count
            if count * least > self.left or (not least and seen > _MOST_EMPTY):
                raise _Bad(f"it claims {count:,} items where {self.left:,} bytes are left")
            for _ in range(count):
                yield

    def _boolean(self) -> bool:
        [byte] = self._bytes(1)
        return byte == 1

    def _one_of(self, count: int, what: str) -> int:
        place = self._number(31, "a place")
        if not 0 <= place < count:
            raise _Bad(f"it claims number {place} of {count} {what}")
        return place

    def _bytes(self, size: int) -> bytes:
        if size < 0 or size > self.left:
            raise _Bad(f"it claims {size:,} bytes where {self.left:,} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, bits: int, what: str) -> int:
        value = shift = 0
        while True:
            [byte] = self._bytes(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > bits + 6:
                raise _Bad(f"{what} has too many bytes")
        value = (value >> 1) ^ -(value & 1)
        if not -(1 << bits) <= value < 1 << bits:
            raise _Bad(f"{value} is not {what}")
        return value
