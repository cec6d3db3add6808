"""Windows row by row, as section 8 reads: slow, and plain enough to trust.

`row` takes one row, `advance` moves the watermark, `tick` the clock. What comes out is
(kind, key, window start, window end, results...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.kernels.windows.spec import (
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Given,
    Session,
    Sliding,
)

NONE_YET = -(2**63)
Window = tuple[int, int]
Emitted = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    key: str | None
    time: int
    value: int | None = None
    kind: str = "+I"
    passes: bool | None = True
    window: Window = (0, 0)  # for Given
    place: int = 0  # among all rows there ever were


def count(rows: list[Row]) -> int:
    return sum(sign(row) for row in rows)


def total(rows: list[Row]) -> int | None:
    known = [row for row in rows if row.value is not None]
    return sum(sign(row) * row.value for row in known) if count(known) else None


def least(rows: list[Row]) -> int | None:
    return min(remaining(rows), default=None)


def greatest(rows: list[Row]) -> int | None:
    return max(remaining(rows), default=None)


def distinct(rows: list[Row]) -> int:
    return len(set(remaining(rows)))


def distinct_total(rows: list[Row]) -> int | None:
    values = set(remaining(rows))
    return sum(values) if values else None


def distinct_passing(rows: list[Row]) -> int:
    return distinct([row for row in rows if row.passes])


def filtered(rows: list[Row]) -> int | None:
    return total([row for row in rows if row.passes])


def listed(rows: list[Row]) -> str | None:
    return ",".join(map(str, remaining(rows))) or None


def sign(row: Row) -> int:
    return 1 if row.kind in ("+I", "+U") else -1


def remaining(rows: list[Row]) -> list[int]:
    """The values in order of arrival; one taken back takes the first like it with it."""
    values = [row.value for row in rows if sign(row) > 0 and row.value is not None]
    for row in rows:
        if sign(row) < 0 and row.value in values:
            values.remove(row.value)
    return values


Function = Callable[[list[Row]], Any]


def windows_of(assigner: Sliding | Cumulating, time: int) -> list[Window]:
    """The windows that a moment is in, the last one first."""
    match assigner:
        case Sliding(size, slide, offset):
            first = (time - offset) // slide * slide + offset
            return [(start, start + size) for start in range(first, time - size, -slide)]
        case Cumulating(size, step, offset):
            start = (time - offset) // size * size + offset
            return [(start, end) for end in range(start + size, time, -step)]


@dataclass
class Cell:
    rows: list[Row] = field(default_factory=list)
    fired: bool = False
    told: Emitted | None = None
    timer: int | None = None


@dataclass
class Reference:
    assigner: Assigner
    functions: tuple[Function, ...]
    emit: Emit = field(default_factory=Emit)
    lateness_ms: int = 0
    watermark: int = NONE_YET
    clock: int = 0
    arrived: int = 0
    cells: dict[tuple[str | None, Window], Cell] = field(default_factory=dict)
    rows: dict[str | None, list[Row]] = field(default_factory=dict)  # for count windows
    late: list[Row] = field(default_factory=list)

    @property
    def lateness(self) -> int:
        return self.lateness_ms if self.emit.late else 0

    @property
    def updates(self) -> bool:
        return bool(self.emit.early or self.emit.late)

    def closed(self, window: Window) -> bool:
        return window[1] - 1 + self.lateness <= self.watermark

    # --- rows ------------------------------------------------------------------------------

    def row(self, row: Row) -> list[Emitted]:
        self.arrived += 1
        row = replace(row, place=self.arrived)
        if isinstance(self.assigner, CountSliding):
            return self.counted(row, self.assigner)
        windows = self.windows(row)
        still_open = [window for window in windows if not self.closed(window)]
        if windows and not still_open:
            self.late.append(row)
        return [told for window in still_open for told in self.add(row, window)]

    def counted(self, row: Row, windows: CountSliding) -> list[Emitted]:
        """A window starts with every `slide`-th row, and is emitted when it is full."""
        rows = self.rows.setdefault(row.key, [])
        rows.append(row)
        start = len(rows) - windows.size
        if start < 0 or start % windows.slide:
            return []
        results = (function(rows[start:]) for function in self.functions)
        return [("+I", row.key, None, None, *results)]

    def add(self, row: Row, window: Window) -> Iterator[Emitted]:
        is_new = (row.key, window) not in self.cells
        cell = self.cells.setdefault((row.key, window), Cell())
        cell.rows.append(row)
        in_time = window[1] - 1 > self.watermark
        firing = self.emit.early if in_time else self.emit.late
        if firing and firing.every_ms and cell.timer is None:
            cell.timer = self.clock + firing.every_ms
        if in_time:
            fires = firing is not None and firing.each_row
        else:
            fires = is_new or (firing is not None and firing.each_row)
            cell.fired = True
        if fires:
            yield from self.tell(row.key, window, cell)

    def windows(self, row: Row) -> list[Window]:
        """The windows of a row, the last one first."""
        match self.assigner:
            case Given():
                return [row.window]
            case Session(gap):
                return self.session(row, gap)
            case Sliding() | Cumulating():
                return windows_of(self.assigner, row.time)
        raise AssertionError

    def session(self, row: Row, gap: int) -> list[Window]:
        mine = (row.time, row.time + gap)
        met = [
            window
            for key, window in self.cells
            if key == row.key and window[0] <= mine[1] and mine[0] <= window[1]
        ]
        merged = (
            min(mine[0], *(w[0] for w in met), mine[0]),
            max(mine[1], *(w[1] for w in met), mine[1]),
        )
        if self.closed(merged):
            return [merged]
        cells = [self.cells.pop((row.key, window)) for window in met]
        if cells:
            rows = [row for cell in cells for row in cell.rows]
            self.cells[row.key, merged] = Cell(sorted(rows, key=lambda row: row.place))
        return [merged]

    # --- time ------------------------------------------------------------------------------

    def advance(self, watermark: int) -> list[Emitted]:
        told = []
        self.watermark = max(self.watermark, watermark)
        for (key, window), cell in sorted(self.cells.items(), key=lambda item: item[0][1][1]):
            if window[1] - 1 <= self.watermark and not cell.fired:
                cell.fired, cell.timer = True, None
                told += self.tell(key, window, cell)
            if self.closed(window):
                del self.cells[key, window]
        return told

    def tick(self, clock: int) -> list[Emitted]:
        told = []
        self.clock = clock
        for (key, window), cell in self.cells.items():
            firing = self.emit.late if cell.fired else self.emit.early
            if cell.timer is None or cell.timer > clock:
                continue
            assert firing is not None and firing.every_ms is not None
            told += self.tell(key, window, cell)
            while cell.timer <= clock:
                cell.timer += firing.every_ms
        return told

    def tell(self, key: str | None, window: Window, cell: Cell) -> Iterator[Emitted]:
        before = cell.told
        now = tuple(function(cell.rows) for function in self.functions)
        cell.told = now if count(cell.rows) else None
        if cell.told == before:
            return
        if before is not None:
            yield ("-U" if cell.told else "-D", key, *window, *before)
        if cell.told is not None:
            yield ("+U" if before is not None else "+I", key, *window, *now)
