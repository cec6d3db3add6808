"""The rows in events of the binary log: where each value of each of them is.

Rows have values of different sizes, so where one begins is known when those before it are read.
But each event has its rows: the first ones of all events are read at once, then the second ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tidemark.formats.binlog import (
    HEADER,
    UPDATE_ROWS,
    WITH_EXTRA,
    BadLogEvent,
    Bytes,
    EventBlock,
    Flags,
    LoggedColumn,
    LoggedTable,
    Longs,
    counted,
    little_endian,
)

if TYPE_CHECKING:
    import polars as pl

# A matrix of rows and columns.
_Places: TypeAlias = npt.NDArray[np.int64]
_TWELVE: Final = np.arange(12)


class NotWhole(ValueError):
    """An event leaves out columns."""


@dataclass(frozen=True, slots=True)
class LoggedRows:
    """Rows in the order of their events; an update is two of them, the old and the new one."""

    data: Bytes
    table: LoggedTable
    event: Longs  # the event of each, as it was chosen
    is_second: Flags  # whether it is the second, fourth ... of its event
    starts: _Places
    sizes: dict[int, Longs]  # of columns whose values vary
    nulls: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.event)

    def null(self, column: int) -> Flags:
        return self.nulls[:, column]

    def bytes_of(self, column: int) -> Bytes:
        """The values of a column of one size, one in each row; anything for NULL."""
        width = self.table.columns[column].width
        found: Bytes = self.data[self.starts[:, column, None] + np.arange(width)]
        return found

    def binary(self, column: int) -> pl.Series:
        """The values of a column whose values vary. The bytes stay where they are."""
        import polars as pl
        import pyarrow as pa

        starts, sizes = self.starts[:, column], self.sizes[column]
        views = np.zeros((len(self), 16), np.uint8)
        views[:, :4] = sizes.astype("<i4").view(np.uint8).reshape(-1, 4)
        short = self.data[starts[:, None] + _TWELVE]
        views[:, 4:] = np.where(sizes[:, None] > _TWELVE, short, 0)
        long = np.flatnonzero(sizes > len(_TWELVE))
        views[long, 8:12] = 0  # the number of the buffer
        views[long, 12:] = starts[long].astype("<i4").view(np.uint8).reshape(-1, 4)
        valid = np.packbits(~self.null(column), bitorder="little")
        made = pa.Array.from_buffers(
            pa.binary_view(),
            len(self),
            [pa.py_buffer(valid), pa.py_buffer(views), pa.py_buffer(self.data)],
        )
        found = pl.from_arrow(made)
        assert isinstance(found, pl.Series)
        return found

    def differs(self, column: int, rows: Longs, others: Longs) -> Flags:
        """Whether rows have other values in a column than others have."""
        null = self.null(column)
        if self.table.columns[column].varies:
            import polars as pl

            found = self.binary(column)
            one, other = (found.gather(pl.Series(chosen)) for chosen in (rows, others))
            return np.asarray(one.ne_missing(other).to_numpy())
        values = self.bytes_of(column)
        changed = (values[rows] != values[others]).any(axis=1) & ~null[rows]
        return np.asarray(changed | (null[rows] != null[others]))


def rows_of(block: EventBlock, chosen: Longs, table: LoggedTable) -> LoggedRows:
    """The rows of some events, which are all of one table. Raises NotWhole and BadLogEvent."""
    starts, ends = block.starts[chosen], block.ends[chosen]
    types = block.types[chosen]
    at = starts + HEADER + 8
    extra = np.isin(types, WITH_EXTRA)
    at = at + np.where(extra, little_endian(block.data, at, 2), 0)
    count, after = counted(block.data[at[0] : at[0] + 9].tobytes(), 0) if len(at) else (0, 1)
    if len(at) and count != len(table.columns):
        raise BadLogEvent("a row does not have the columns of its table")
    # The columns that are there; an update says so of its old and of its new rows.
    bitmap = (len(table.columns) + 7) // 8
    at = at + after
    updates = np.isin(types, UPDATE_ROWS)
    for places in (at, at[updates] + bitmap):
        if not _all_set(block.data[places[:, None] + np.arange(bitmap)], len(table.columns)):
            raise NotWhole
    at = at + bitmap * np.where(updates, 2, 1)
    return _in_lockstep(block.data, at, ends, table)


def _all_set(bits: Bytes, count: int) -> bool:
    return bool(np.unpackbits(bits, axis=1, count=count, bitorder="little").all())


def _in_lockstep(data: Bytes, at: Longs, end: Longs, table: LoggedTable) -> LoggedRows:
    columns = table.columns
    step = _Step(data, columns)
    going = np.flatnonzero(at < end)
    at = at.copy()
    events: list[Longs] = []
    found: list[_Found] = []
    while len(going):
        next_at, places = step.rows(at[going], end[going])
        events.append(going)
        found.append(places)
        at[going] = next_at
        going = going[next_at < end[going]]
    return _in_order(data, table, events, found)


@dataclass(frozen=True, slots=True)
class _Found:
    """One row of each of some events."""

    starts: _Places
    sizes: _Places  # of the columns that vary
    nulls: npt.NDArray[np.bool_]


class _Step:
    """Reads the next row of each of some events."""

    def __init__(self, data: Bytes, columns: Sequence[LoggedColumn]) -> None:
        self._data, self._count = data, len(columns)
        self._widths = np.array([column.width for column in columns], np.int64)
        self._bitmap = np.arange((len(columns) + 7) // 8)
        # Columns next to each other whose values have one size are read together.
        groups = groupby(range(len(columns)), lambda n: n if columns[n].varies else -1)
        runs = [[*numbers] for _, numbers in groups]
        self._runs = [(run[0], run[-1] + 1, columns[run[0]].varies) for run in runs]
        self._varying = sum(varies for *_, varies in self._runs)

    def rows(self, at: Longs, end: Longs) -> tuple[Longs, _Found]:
        """Where they end, and where their values are."""
        bits = self._data[at[:, None] + self._bitmap]
        unpacked = np.unpackbits(bits, axis=1, count=self._count, bitorder="little")
        nulls = unpacked.astype(np.bool_)
        at = at + len(self._bitmap)
        starts = np.empty((len(at), self._count), np.int64)
        sizes = np.empty((len(at), self._varying), np.int64)
        varying = 0
        for first, last, varies in self._runs:
            if varies:
                at, size = self._varies(at, end, first, nulls)
                starts[:, first], sizes[:, varying] = at - size, size
                varying += 1
                continue
            widths = np.where(nulls[:, first:last], 0, self._widths[first:last])
            behind = np.cumsum(widths, axis=1)
            starts[:, first:last] = at[:, None] + behind - widths
            at = at + behind[:, -1]
        _check_inside(at, end)
        return at, _Found(starts, sizes, nulls)

    def _varies(
        self, at: Longs, end: Longs, column: int, nulls: npt.NDArray[np.bool_]
    ) -> tuple[Longs, Longs]:
        """Where the values of a column end, and their sizes."""
        _check_inside(at, end)
        here, width = ~nulls[:, column], int(self._widths[column])
        size = np.where(here, little_endian(self._data, at, width), 0)
        at = at + np.where(here, width, 0) + size
        _check_inside(at, end)
        return at, size


def _check_inside(at: Longs, end: Longs) -> None:
    if (at > end).any():
        raise BadLogEvent("a row is longer than its event")


def _in_order(
    data: Bytes, table: LoggedTable, events: list[Longs], found: list[_Found]
) -> LoggedRows:
    count = len(table.columns)
    varying = [n for n, column in enumerate(table.columns) if column.varies]
    event = np.concatenate([np.zeros(0, np.int64), *events])
    parity = [np.full(len(each), number % 2 == 1) for number, each in enumerate(events)]
    order = np.argsort(event, kind="stable")
    starts = np.concatenate([np.zeros((0, count), np.int64), *(each.starts for each in found)])
    sizes = np.concatenate([np.zeros((0, len(varying)), np.int64), *(f.sizes for f in found)])
    nulls = np.concatenate([np.zeros((0, count), np.bool_), *(each.nulls for each in found)])
    second = np.concatenate([np.zeros(0, np.bool_), *parity])[order]
    sizes = sizes[order]
    return LoggedRows(
        data,
        table,
        event[order],
        second,
        starts[order],
        {column: sizes[:, place] for place, column in enumerate(varying)},
        nulls[order],
    )
