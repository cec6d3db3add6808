"""coGroup row by row: slow, and plain enough to trust.

`arrive` takes one row, `advance` moves the watermark. What comes out are groups: the key, the
window, and the payloads of both sides in order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .reference import NONE_YET, Row

Window = tuple[int, int]
Group = tuple[str | None, int, int, tuple[int, ...], tuple[int, ...]]


@dataclass
class Open:
    """A window of a key with its rows."""

    key: str | None
    start: int
    end: int
    rows: list[tuple[int, int]] = field(default_factory=list)  # side, payload

    def group(self) -> Group:
        rows = sorted(self.rows, key=lambda row: row[1])
        left, right = (tuple(p for side, p in rows if side == wanted) for wanted in (0, 1))
        return self.key, self.start, self.end, left, right


@dataclass
class CoGroupReference:
    """Payloads must count the rows in their order of arrival. With `gap` windows are sessions."""

    window_of: Callable[[Row], Window]
    gap: int | None = None
    watermark: int = NONE_YET
    open: list[Open] = field(default_factory=list)
    late: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    def arrive(self, side: int, row: Row) -> None:
        start, end = self.window_of(row)
        met = [window for window in self.open if window.key == row.key]
        if self.gap is None:
            met = [window for window in met if (window.start, window.end) == (start, end)]
        else:
            start, end = row.time, row.time + self.gap
            met = [window for window in met if window.start <= end and start <= window.end]
        merged = Open(
            row.key,
            min([start, *(window.start for window in met)]),
            max([end, *(window.end for window in met)]),
            [(side, row.payload), *(row for window in met for row in window.rows)],
        )
        if merged.end - 1 <= self.watermark:
            self.late[side].append(row.payload)
            return
        self.open = [window for window in self.open if window not in met] + [merged]

    def advance(self, watermark: int) -> list[Group]:
        self.watermark = max(self.watermark, watermark)
        over = [window for window in self.open if window.end - 1 <= self.watermark]
        self.open = [window for window in self.open if window not in over]
        return [window.group() for window in over]
