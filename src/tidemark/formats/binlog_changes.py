"""Changes of one table in the binary log, as the rows of a changelog."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.formats import binlog as b
from tidemark.formats.binlog import Bytes, EventBlock, LoggedTable, Longs, logged_table
from tidemark.formats.binlog_rows import LoggedRows, rows_of

if TYPE_CHECKING:
    import polars as pl

_KINDS: Final = ("+I", "-U", "+U", "-D")
# After its header, a definition has the number of the table, and flags.
_DEFINITION: Final = b.HEADER + 8


@dataclass(frozen=True, slots=True)
class LoggedChanges:
    """Rows in the order of the log. An update is two of them: the old one, and the new one."""

    rows: LoggedRows
    types: Bytes  # of each row's event
    seconds: Longs  # when each was changed, since 1970

    def kinds(self, key: Collection[int]) -> pl.Series:
        """The row kinds; `key` are the columns of the table's key. An update of the key is a delete
        and an insert.
        """
        import polars as pl

        updates = np.isin(self.types, b.UPDATE_ROWS)
        old = np.flatnonzero(updates & ~self.rows.is_second)
        kinds = np.where(np.isin(self.types, b.DELETE_ROWS), 3, 0)
        kinds[old], kinds[old + 1] = 1, 2
        moved = np.zeros(len(old), np.bool_)
        for column in key:
            moved |= self.rows.differs(column, old, old + 1)
        kinds[old[moved]], kinds[old[moved] + 1] = 3, 0
        return pl.Series(_KINDS).gather(pl.Series(kinds))


class BinlogDecoder:
    """Decodes the changes of a table, block by block. A definition of the table holds for all rows
    with its number until the next one; numbers begin anew with each file.
    """

    def __init__(self, database: str, table: str) -> None:
        self._name = defined_name(database, table)
        self._ids: set[int] = set()
        self._definition, self._table = b"", LoggedTable(database, table, ())

    def changes(self, block: EventBlock) -> Iterator[LoggedChanges]:
        files = np.flatnonzero(block.types == b.FORMAT).tolist()
        for first, last in pairwise([0, *files, len(block)]):
            if first in files:
                self._ids.clear()
            yield from self._in_one_file(block.some(first, last))

    def _in_one_file(self, block: EventBlock) -> Iterator[LoggedChanges]:
        defining = definitions(block, self._name)
        self._ids.update(block.table_ids(defining).tolist())
        of_rows = np.flatnonzero(block.is_rows)
        ids = np.fromiter(self._ids, np.int64, len(self._ids))
        own = of_rows[np.isin(block.table_ids(of_rows), ids)]
        new = self._new_definitions(block, defining)
        for first, last in pairwise([0, *new, len(block)]):
            if first in new:
                self._definition = block.body(first)[8:]
                self._table = logged_table(block.body(first))
            chosen = own[(own >= first) & (own < last)]
            if len(chosen):
                rows = rows_of(block, chosen, self._table)
                events = chosen[rows.event]
                yield LoggedChanges(rows, block.types[events], block.seconds[events])

    def _new_definitions(self, block: EventBlock, defining: Longs) -> list[int]:
        """The definitions that differ from those before them."""
        if not len(defining):
            return []
        sizes = (block.ends - block.starts)[defining] - _DEFINITION
        at = block.starts[defining] + _DEFINITION
        same = sizes[1:] == sizes[:-1]
        width = int(sizes.max())
        bytes_ = block.data[at[:, None] + np.minimum(np.arange(width), sizes[:, None] - 1)]
        same &= (bytes_[1:] == bytes_[:-1]).all(axis=1)
        first = block.body(int(defining[0]))[8:] == self._definition
        return [int(n) for n in defining[~np.concatenate([[first], same])]]


def defined_name(database: str, table: str) -> bytes:
    """What a definition of the table begins with."""
    names = [name.encode() for name in (database, table)]
    return b"".join(bytes([len(name)]) + name + b"\0" for name in names)


def definitions(block: EventBlock, name: bytes) -> Longs:
    """The events that define a table."""
    every = np.flatnonzero(block.types == b.TABLE_MAP)
    at = block.starts[every] + _DEFINITION
    every, at = (kept[at + len(name) <= block.ends[every]] for kept in (every, at))
    same = block.data[at[:, None] + np.arange(len(name))] == np.frombuffer(name, np.uint8)
    found: Longs = every[same.all(axis=1)]
    return found
