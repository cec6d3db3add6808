"""Messages of `pgoutput`, PostgreSQL's logical decoding, as columns.

A message is about one row, but all of a block are read at once: which change each of them is, the
transaction that it belongs to, and where in the message each value is. Values are strings, as
PostgreSQL writes them; they stay where they are until they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Longs: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Flags: TypeAlias = npt.NDArray[np.bool_]

# What the first byte of a message says.
BEGIN, RELATION, TRUNCATE = b"BRT"
INSERT, UPDATE, DELETE = b"IUD"
# Which row before the change a message has: all of it, or its key.
WHOLE, KEY, NOTHING = *b"OK", 0
# What a message has of a value. An unchanged one is a large value that an update did not touch.
NULL, UNCHANGED, STRING, ABSENT = *b"nut", 0
# PostgreSQL's time begins in 2000.
_EPOCH_US: Final = 946_684_800_000_000


class BadChange(ValueError):
    """A message that is not what the protocol says."""


@dataclass(frozen=True, slots=True)
class ChangedColumn:
    name: str
    type_oid: int
    modifier: int
    in_key: bool  # whether it is part of the replica identity


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """The columns of a table, as those of the messages that follow."""

    oid: int
    columns: tuple[ChangedColumn, ...]


@dataclass(frozen=True, slots=True)
class ValuePlaces:
    """Where the values of rows are: for each column an array with an item for each row."""

    forms: list[Bytes]  # NULL, UNCHANGED, STRING, or ABSENT if there is no row
    starts: list[Longs]  # in the message
    sizes: list[Longs]


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes of a table, in their order."""

    table: ChangedTable
    messages: pl.Series
    kinds: Bytes  # INSERT, UPDATE or DELETE
    committed_us: Longs  # since 1970
    before: Bytes  # WHOLE, KEY or NOTHING: what `old` has
    old: ValuePlaces
    new: ValuePlaces


# Which transactions are read, by where their commits are in the log and by their numbers.
Wanted: TypeAlias = Callable[[Longs, Longs], Flags]


class ChangeDecoder:
    """Decodes the messages of a stream, block by block."""

    def __init__(self, table_oid: int, wanted: Wanted) -> None:
        self._oid, self._wanted = table_oid, wanted
        self._table: ChangedTable | None = None
        # The transaction that the last block ended in: whether it is read, and its time.
        self._reading, self._committed_us = False, 0
        self.truncated = 0

    def changes(self, messages: pa.BinaryArray) -> Iterator[TableChanges]:
        """The changes of a block. Each part has those between two definitions of the table."""
        if not len(messages):
            return
        block = _Block.of(messages)
        reading, committed_us = self._transactions(block)
        of_table, defines = block.is_of(self._oid), block.kinds == RELATION
        definitions = np.flatnonzero(defines & of_table)
        changes = reading & of_table & ~defines
        bounds = [0, *definitions.tolist(), len(messages)]
        for first, last in pairwise(bounds):
            if first in definitions:
                self._table = _table(block.message(first))
            chosen = first + np.flatnonzero(changes[first:last])
            if len(chosen):
                yield self._decoded(block, chosen, committed_us[chosen])
        self._count_truncates(block, reading)

    def _transactions(self, block: _Block) -> tuple[Flags, Longs]:
        """Of each message, whether its transaction is read, and when it was committed."""
        begins = np.flatnonzero(block.kinds == BEGIN)
        at = block.starts[begins]
        read = self._wanted(block.longs(at + 1), block.integers(at + 17))
        times = block.longs(at + 9) + _EPOCH_US
        number = np.cumsum(block.kinds == BEGIN)  # 0 is the transaction of the last block
        reading = np.concatenate([[self._reading], read])[number]
        committed_us = np.concatenate([[self._committed_us], times]).astype(np.int64)[number]
        self._reading, self._committed_us = bool(reading[-1]), int(committed_us[-1])
        return reading.astype(np.bool_), committed_us

    def _decoded(self, block: _Block, chosen: Longs, committed_us: Longs) -> TableChanges:
        if self._table is None:
            raise BadChange("a change comes before the columns of its table")
        kinds, at = block.kinds[chosen], block.starts[chosen]
        first = block.data[at + 5]  # whose row comes first
        before = np.where((first == WHOLE) | (first == KEY), first, NOTHING).astype(np.uint8)
        if ((kinds == INSERT) & (before != NOTHING)).any() or (
            (kinds == DELETE) & (before == NOTHING)
        ).any():
            raise BadChange("an insert has an old row, or a delete has none")
        width = len(self._table.columns)
        old, end = block.values(at, at + 6, width, before != NOTHING)
        # The new row follows the old one, if there is one.
        new_at = np.where(before != NOTHING, end, at + 5)
        has_new = kinds != DELETE
        if (block.data[new_at[has_new]] != ord("N")).any():
            raise BadChange("a change has no new row")
        new, _ = block.values(at, new_at + 1, width, has_new)
        return TableChanges(
            self._table, block.series(chosen), kinds, committed_us, before, old, new
        )

    def _count_truncates(self, block: _Block, reading: Flags) -> None:
        for number in np.flatnonzero((block.kinds == TRUNCATE) & reading).tolist():
            message = block.message(number)
            oids = [int.from_bytes(message[at : at + 4]) for at in range(6, len(message), 4)]
            self.truncated += self._oid in oids


# --- bytes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Block:
    """The messages one after the other, and where they begin."""

    array: pa.BinaryArray
    data: Bytes
    starts: Longs
    ends: Longs

    @classmethod
    def of(cls, array: pa.BinaryArray) -> _Block:
        _, offsets, data = array.buffers()
        first, count = array.offset, len(array)
        bounds = np.frombuffer(offsets, np.int32)[first : first + count + 1].astype(np.int64)
        # Some bytes more, so that what comes after a value can be looked at before it is known.
        padded = np.concatenate([np.frombuffer(data, np.uint8), np.zeros(32, np.uint8)])
        return cls(array, padded, bounds[:-1], bounds[1:])

    @property
    def kinds(self) -> Bytes:
        return self.data[self.starts]

    def is_of(self, oid: int) -> Flags:
        """Which messages are about rows or columns of a table."""
        about = np.isin(self.kinds, np.array([RELATION, INSERT, UPDATE, DELETE], np.uint8))
        return np.asarray(about & (self.integers(self.starts + 1) == oid))

    def message(self, number: int) -> bytes:
        return self.data[self.starts[number] : self.ends[number]].tobytes()

    def series(self, chosen: Longs) -> pl.Series:
        import polars as pl

        whole = pl.from_arrow(self.array)
        assert isinstance(whole, pl.Series)
        return whole.gather(pl.Series(chosen))

    def values(
        self, origin: Longs, at: Longs, width: int, there: Flags
    ) -> tuple[ValuePlaces, Longs]:
        """The values of the rows that begin `at` if they are `there`, and where the rows end."""
        at = np.where(there, at, 0)
        counts = self._number(at, 2)
        if (counts[there] != width).any():
            raise BadChange("a row does not have the columns of its table")
        found = ValuePlaces([], [], [])
        at = at + 2
        for _ in range(width):
            form = np.where(there, self.data[np.where(there, at, 0)], ABSENT).astype(np.uint8)
            if not np.isin(form, np.array([NULL, UNCHANGED, STRING, ABSENT], np.uint8)).all():
                raise BadChange("a value is neither a string nor NULL")
            is_string = form == STRING
            size = np.where(is_string, self.integers(np.where(is_string, at + 1, 0)), 0)
            found.forms.append(form)
            found.starts.append(np.where(is_string, at + 5 - origin, 0))
            found.sizes.append(size)
            at = at + np.where(is_string, 5 + size, 1)
        return found, at

    def integers(self, at: Longs) -> Longs:
        return self._number(at, 4)

    def longs(self, at: Longs) -> Longs:
        return self._number(at, 8)

    def _number(self, at: Longs, size: int) -> Longs:
        """Integers, the highest byte first. Those of 8 bytes have a sign."""
        value = np.zeros(len(at), np.int64)
        for place in range(size):
            value = (value << 8) | self.data[at + place].astype(np.int64)
        return value


def _table(message: bytes) -> ChangedTable:
    """What a message says of a table: names end with a zero byte."""
    oid = int.from_bytes(message[1:5])
    _, _, rest = message[5:].partition(b"\0")  # its schema
    _, _, rest = rest.partition(b"\0")  # its name
    count, rest = int.from_bytes(rest[1:3]), rest[3:]
    columns = []
    for _ in range(count):
        in_key = rest[0] == 1
        name, _, rest = rest[1:].partition(b"\0")
        type_oid, modifier = int.from_bytes(rest[:4]), int.from_bytes(rest[4:8], signed=True)
        columns.append(ChangedColumn(name.decode(), type_oid, modifier, in_key))
        rest = rest[8:]
    return ChangedTable(oid, tuple(columns))
