"""Records of Avro to columns, as fast as Polars reads them.

Polars knows only a part of Avro, so it gets the records with another schema that has the same
bytes: strings are bytes, maps are arrays of pairs, logical types are what they are made of.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from pyarrow import compute

from tidemark.formats import avro_container as container
from tidemark.formats.avro_schema import (
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
)

# The records of a block: how many, and their bytes.
Records = tuple[int, bytes]
Counts = npt.NDArray[np.int64]


class NotQuick(Exception):
    """These records have to be read one by one: they are wrong, or Polars does not know them."""


def name(place: int) -> str:
    """Of the column of a field."""
    return f"f{place}"


def can_read(type_: Avro) -> bool:
    match type_:
        case Primitive(kind):
            return kind != "null"
        case Fixed(size):
            return size > 0
        case Items(inner) | MapOf(inner) | Optional(inner):
            return can_read(inner)
        case Record(fields):
            return bool(fields) and all(can_read(inner) for _, inner in fields)
        case Union():
            return False
    return True


def read(blocks: Sequence[Records], record: Record, fields: Collection[int]) -> pl.DataFrame:
    """The columns of some fields, at least one, in the types of `dtype`."""
    least = smallest(record)
    if not can_read(record) or any(count * least > len(data) for count, data in blocks):
        raise NotQuick
    guard = _guard(record)
    counts = np.array([count + 1 for count, _ in blocks], np.int64)
    content = b"".join(itertools.chain.from_iterable((data, guard) for _, data in blocks))
    return _without_guards(content, counts, record, fields)


def _without_guards(
    content: bytes, counts: Counts, record: Record, fields: Collection[int]
) -> pl.DataFrame:
    """The records of blocks that have so many of them, with the guard after each block.

    The guard is a record that is known. If it is read as something else, then the records of the
    block do not end where the block does.
    """
    rows = _read(content, int(counts.sum()), record, fields)
    guards = np.cumsum(counts) - 1
    expected = _read(_guard(record), 1, record, fields)
    if not rows[guards].equals(expected[np.zeros(len(counts), np.int64)]):
        raise NotQuick
    is_record = np.ones(rows.height, np.bool_)
    is_record[guards] = False
    return rows.filter(pl.Series(is_record))


def read_messages(
    values: pa.LargeBinaryArray, record: Record, fields: Collection[int]
) -> pl.DataFrame:
    """The same for records that are one in each value; there is none that is NULL."""
    sizes = compute.binary_length(values)
    if not can_read(record) or compute.min(sizes).as_py() < smallest(record):
        raise NotQuick
    guard = pa.scalar(_guard(record), pa.large_binary())
    with_guards = compute.binary_join_element_wise(values, guard, pa.scalar(b"", pa.large_binary()))
    return _without_guards(bytes_in(with_guards), np.full(len(values), 2), record, fields)


def bytes_in(values: pa.LargeBinaryArray) -> bytes:
    """The bytes of all values, one after the other."""
    _, ends, content = values.buffers()
    bounds = np.frombuffer(ends, np.int64)
    first, last = int(bounds[values.offset]), int(bounds[values.offset + len(values)])
    data: bytes = content.slice(first, last - first).to_pybytes()
    return data


def _read(content: bytes, count: int, record: Record, fields: Collection[int]) -> pl.DataFrame:
    marker = bytes(container.MARKER)
    schema = _Same().schema(record)
    file = container.header(schema, "null", marker)
    file += container.block(count, content, "null", marker)
    try:
        return pl.read_avro(io.BytesIO(file), columns=[name(place) for place in sorted(fields)])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise NotQuick from problem


class _Same:
    """Schemas with the same bytes that Polars can read."""

    def __init__(self) -> None:
        self._names = itertools.count()

    def schema(self, type_: Avro) -> Any:
        match type_:
            case Primitive("int" | "long") | Enum() | Tag():
                return "long"  # a number that is too large for an int is seen
            case Primitive("bytes" | "string"):
                return "bytes"
            case Primitive(kind):
                return kind
            case Fixed(size):
                return {"type": "fixed", "name": self._name(), "size": size}
            case Optional(present, null_first):
                inner = self.schema(present)
                return ["null", inner] if null_first else [inner, "null"]
            case Items(item):
                return {"type": "array", "items": self.schema(item)}
            case MapOf(value):
                return {"type": "array", "items": self._record([Primitive("string"), value])}
            case Record(fields):
                return self._record([inner for _, inner in fields])
        raise AssertionError(type_)

    def _record(self, types: Sequence[Avro]) -> Any:
        own = self._name()
        fields = [{"name": name(i), "type": self.schema(each)} for i, each in enumerate(types)]
        return {"type": "record", "name": own, "fields": fields}

    def _name(self) -> str:
        return f"t{next(self._names)}"


def dtype(type_: Avro) -> pl.DataType:
    """What values are before they become those of a table."""
    match type_:
        case Primitive("boolean"):
            return pl.Boolean()
        case Primitive("float"):
            return pl.Float32()
        case Primitive("double"):
            return pl.Float64()
        case Primitive("bytes" | "string") | Fixed():
            return pl.Binary()
        case Optional(present):
            return dtype(present)
        case Items(item):
            return pl.List(dtype(item))
        case MapOf(value):
            return pl.List(_struct([Primitive("string"), value]))
        case Record(fields):
            return _struct([inner for _, inner in fields])
        case Union(branches):  # only the field of the value's branch is there
            return _struct(branches)
    return pl.Int64()


def _struct(types: Sequence[Avro]) -> pl.DataType:
    return pl.Struct({name(place): dtype(each) for place, each in enumerate(types)})


def smallest(type_: Avro) -> int:
    """How many bytes each value has at least."""
    match type_:
        case Primitive("null"):
            return 0
        case Primitive("float"):
            return 4
        case Primitive("double"):
            return 8
        case Fixed(size):
            return size
        case Record(fields):
            return sum(smallest(inner) for _, inner in fields)
    return 1


_NUMBER: Final = 0x5B91D1E7
_TEXT: Final = b"\xc3\x1e\x96\x5a\x0f"


def _guard(type_: Avro) -> bytes:
    """A value that is hardly the beginning of another one."""
    match type_:
        case Primitive("boolean"):
            return b"\1"
        case Primitive("int" | "long"):
            return container.number(_NUMBER)
        case Primitive("float") | Primitive("double"):
            return (_TEXT * 2)[: smallest(type_)]
        case Primitive("bytes" | "string"):
            return container.sized(_TEXT)
        case Fixed(size):
            return (_TEXT * size)[:size]
        case Tag(branch):
            return container.number(branch)
        case Optional(present, null_first):
            return container.number(1 if null_first else 0) + _guard(present)
        case Items(item):
            return container.number(1) + _guard(item) + b"\0"
        case MapOf(value):
            return container.number(1) + container.sized(_TEXT) + _guard(value) + b"\0"
        case Record(fields):
            return b"".join(_guard(inner) for _, inner in fields)
    return b"\0"
