"""Events of the binary log of MySQL and MariaDB, read many at a time.

A block has the bytes of some events one after the other. What all of them have, such as their
type, is an array with an item for each event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Longs: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

# Types of events.
QUERY, STOP, ROTATE, FORMAT, XID, LOAD, TABLE_MAP = 2, 3, 4, 15, 16, 18, 19
# The first version is MariaDB's, the second one MySQL's.
WRITE_ROWS, UPDATE_ROWS, DELETE_ROWS = (23, 30), (24, 31), (25, 32)
INCIDENT, PARTIAL_UPDATE_ROWS, XA_PREPARE, PAYLOAD = 26, 39, 38, 40
COMPRESSED: Final = range(165, 172)
ROWS: Final = np.array([*WRITE_ROWS, *UPDATE_ROWS, *DELETE_ROWS], np.uint8)
WITH_EXTRA: Final = np.array([WRITE_ROWS[1], UPDATE_ROWS[1], DELETE_ROWS[1]], np.uint8)

HEADER: Final = 19
END_POSITION: Final = 13  # its place in a header
_CHECKSUM: Final = 4
# Flag of an event that is in no file: it only says where others are from.
_ARTIFICIAL: Final = 0x20
_BEGIN: Final = np.frombuffer(b"\0BEGIN", np.uint8)
# Bytes after the last event, so that what comes after a value can be looked at.
PADDING: Final = 32


class BadLogEvent(ValueError):
    """An event that is not what the protocol says."""


@dataclass(frozen=True)
class EventBlock:
    """Events, and where they begin and end in the bytes. Their checksums are left out."""

    data: Bytes  # with PADDING
    starts: Longs
    ends: Longs

    @classmethod
    def of(cls, events: list[bytes]) -> EventBlock:
        """A block of single events without checksums."""
        ends = np.cumsum([len(event) for event in events], dtype=np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), ends])[: len(events)]
        return cls(np.frombuffer(b"".join([*events, bytes(PADDING)]), np.uint8), starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def some(self, first: int, last: int) -> EventBlock:
        return EventBlock(self.data, self.starts[first:last], self.ends[first:last])

    def without_checksums(self) -> EventBlock:
        return EventBlock(self.data, self.starts, self.ends - _CHECKSUM)

    @cached_property
    def types(self) -> Bytes:
        return self.data[self.starts + 4]

    @cached_property
    def seconds(self) -> Longs:
        """When what they are about was done, since 1970."""
        return self.numbers(self.starts, 4)

    @cached_property
    def end_positions(self) -> Longs:
        """Where they end in the file, of which there are only 32 bits; 0 if they are not in it."""
        artificial = self.numbers(self.starts + 17, 2) & _ARTIFICIAL
        return np.where(artificial, 0, self.numbers(self.starts + END_POSITION, 4))

    @cached_property
    def is_rows(self) -> Flags:
        return np.isin(self.types, ROWS)

    @cached_property
    def begins(self) -> Flags:
        """Which are the statement that MySQL begins transactions with."""
        # The name of the database before it ends with a zero byte.
        at = np.maximum(self.ends - len(_BEGIN), 0)
        same = self.data[at[:, None] + np.arange(len(_BEGIN))] == _BEGIN
        return np.asarray((self.types == QUERY) & same.all(axis=1))

    def body(self, number: int) -> bytes:
        return self.data[self.starts[number] + HEADER : self.ends[number]].tobytes()

    def table_ids(self, chosen: Longs) -> Longs:
        """The tables of events with rows, or that define tables."""
        return self.numbers(self.starts[chosen] + HEADER, 6)

    def numbers(self, at: Longs, size: int) -> Longs:
        return little_endian(self.data, at, size)


def little_endian(data: Bytes, at: Longs, size: int) -> Longs:
    """Numbers without a sign, the lowest byte first."""
    value = data[at].astype(np.int64)
    for place in range(1, size):
        value |= data[at + place].astype(np.int64) << (8 * place)
    return value


def has_checksums(body: bytes) -> bool:
    """Whether events have them, as an event of type FORMAT says that has not lost its own."""
    return body[-_CHECKSUM - 1] == 1


def rotated_to(body: bytes) -> tuple[str, int]:
    """The file that follows, and the position there."""
    return body[8:].decode(), int.from_bytes(body[:8], "little")


def query_of(body: bytes, type_: int = QUERY) -> tuple[str, bytes]:
    """The default database of a statement in the log, and its text. One of type LOAD also says
    which file it reads.
    """
    database_size, status_size = body[8], int.from_bytes(body[11:13], "little")
    at = (26 if type_ == LOAD else 13) + status_size
    database = body[at:][:database_size]
    return database.decode(errors="replace"), body[at + database_size + 1 :]


def is_one_phase(body: bytes) -> bool:
    """Whether an XA transaction is committed where it is prepared."""
    return bool(body[0])


# --- tables --------------------------------------------------------------------------------------

TINY, SHORT, LONG, FLOAT, DOUBLE, LONGLONG, INT24 = 1, 2, 3, 4, 5, 8, 9
DATE, YEAR, NEWDATE, VARCHAR, BIT = 10, 13, 14, 15, 16
TIMESTAMP2, DATETIME2, TIME2 = 17, 18, 19
JSON, DECIMAL, ENUM, SET, BLOB, VAR_STRING, STRING, GEOMETRY = (
    245, 246, 247, 248, 252, 253, 254, 255,
)  # fmt: skip
BLOB_COMPRESSED, VARCHAR_COMPRESSED, VECTOR = 140, 141, 242
_WIDTHS: Final = {
    TINY: 1, SHORT: 2, LONG: 4, FLOAT: 4, DOUBLE: 8, LONGLONG: 8, INT24: 3, DATE: 3, YEAR: 1,
    NEWDATE: 3,
}  # fmt: skip
# Times are followed by fractions of seconds.
_TIMES: Final = {TIMESTAMP2: 4, DATETIME2: 5, TIME2: 3}
_METADATA: Final = {
    FLOAT: 1, DOUBLE: 1, VARCHAR: 2, BIT: 2, TIMESTAMP2: 1, DATETIME2: 1, TIME2: 1, JSON: 1,
    DECIMAL: 2, ENUM: 2, SET: 2, BLOB: 1, VAR_STRING: 2, STRING: 2, GEOMETRY: 1,
    BLOB_COMPRESSED: 1, VARCHAR_COMPRESSED: 2, VECTOR: 1,
}  # fmt: skip
_BLOBS: Final = (BLOB, JSON, GEOMETRY, BLOB_COMPRESSED, VECTOR)
_DIGITS: Final = 9
# How many bytes so many digits take that are not a whole group of nine.
_LEFT_OVER: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


@dataclass(frozen=True, slots=True)
class LoggedColumn:
    """The form of a column's values in the log."""

    type: int
    # The digits of seconds; those of a number and after its point; the most bytes of a string, or
    # of its length; those of an ENUM, a SET or bits.
    first: int = 0
    second: int = 0

    @property
    def varies(self) -> bool:
        """Whether each value has its size before it."""
        return self.type in (VARCHAR, VAR_STRING, STRING, VARCHAR_COMPRESSED, *_BLOBS)

    @property
    def width(self) -> int:
        """The bytes of a value, or of its size."""
        if self.type in _BLOBS:
            return self.first
        if self.varies:
            return 1 if self.first < 256 else 2
        if self.type in _TIMES:
            return _TIMES[self.type] + (self.first + 1) // 2
        if self.type == DECIMAL:
            return sum(decimal_bytes(*self.digits))
        if self.type in (ENUM, SET, BIT):
            return self.first
        return _WIDTHS[self.type]

    @property
    def digits(self) -> tuple[int, int]:
        """How many digits a DECIMAL has before and after its point."""
        return self.first - self.second, self.second


def decimal_bytes(before: int, after: int) -> tuple[int, int]:
    """The bytes of the digits of a DECIMAL before and after its point."""
    before_bytes, after_bytes = (
        count // _DIGITS * 4 + _LEFT_OVER[count % _DIGITS] for count in (before, after)
    )
    return before_bytes, after_bytes


@dataclass(frozen=True, slots=True)
class LoggedTable:
    """A table as an event defines it for the rows that follow."""

    database: str
    name: str
    columns: tuple[LoggedColumn, ...]


class OldTimes(ValueError):
    """A table has times in the form that MySQL 5.5 gave them."""


def logged_table(body: bytes) -> LoggedTable:
    """What an event of type TABLE_MAP says. Raises OldTimes, or BadLogEvent for unknown types."""
    at = 8
    names = []
    for _ in range(2):
        size = body[at]
        names.append(body[at + 1 : at + 1 + size].decode())
        at += size + 2
    count, at = counted(body, at)
    types, at = body[at : at + count], at + count
    _, at = counted(body, at)
    columns = []
    for type_ in types:
        size = _METADATA.get(type_, 0)
        columns.append(_column(type_, body[at : at + size]))
        at += size
    return LoggedTable(names[0], names[1], tuple(columns))


def _column(type_: int, metadata: bytes) -> LoggedColumn:
    if type_ in (7, 11, 12):
        raise OldTimes
    if type_ in (STRING, ENUM, SET):
        # Strings of more than 255 bytes have two bits of their size in that of the type.
        own, size = metadata
        if own & 0x30 != 0x30:
            size |= ((own & 0x30) ^ 0x30) << 4
            own |= 0x30
        return LoggedColumn(own, size)
    if type_ == BIT:
        bits, whole = metadata
        return LoggedColumn(BIT, whole + (bits > 0), whole * 8 + bits)
    if type_ == DECIMAL:
        return LoggedColumn(DECIMAL, *metadata)
    if type_ not in _METADATA and type_ not in _WIDTHS:
        raise BadLogEvent(f"a column has the unknown type {type_}")
    return LoggedColumn(type_, int.from_bytes(metadata, "little"))


def counted(body: bytes, at: int) -> tuple[int, int]:
    """A number of one byte, or of more if the first one says so; and what comes after it."""
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(body[at])
    if size is None:
        return body[at], at + 1
    return int.from_bytes(body[at + 1 : at + 1 + size], "little"), at + 1 + size
