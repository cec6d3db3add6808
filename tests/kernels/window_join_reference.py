"""Window joins row by row: slow, and plain enough to trust.

`arrive` takes one row with its windows, `advance` moves the watermark. What comes out are pairs
of payloads, with None where a side is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .reference import NONE_YET, Row

Window = tuple[int, int]
Pair = tuple[int | None, int | None]


@dataclass
class WindowJoinReference:
    how: str = "inner"
    condition: Callable[[Row, Row], bool] = lambda left, right: True
    nulls_equal: bool = False
    watermark: int = NONE_YET
    open: dict[Window, tuple[list[Row], list[Row]]] = field(default_factory=dict)
    late: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    dropped: list[int] = field(default_factory=lambda: [0, 0])  # once for each window

    def arrive(self, side: int, row: Row, windows: list[Window]) -> None:
        closed = [window for window in windows if window[1] - 1 <= self.watermark]
        self.dropped[side] += len(closed)
        if windows and closed == windows:
            self.late[side].append(row.payload)
        for window in windows:
            if window not in closed:
                self.open.setdefault(window, ([], []))[side].append(row)

    def advance(self, watermark: int) -> list[Pair]:
        self.watermark = max(self.watermark, watermark)
        out: list[Pair] = []
        for window in sorted(self.open, key=lambda window: window[1]):
            if window[1] - 1 <= self.watermark:
                out += self.joined(*self.open.pop(window))
        return out

    def joined(self, left: list[Row], right: list[Row]) -> list[Pair]:
        pairs = [(a, b) for a in left for b in right if self.match(a, b)]
        partners_left = [a for a, _ in pairs]
        partners_right = [b for _, b in pairs]
        if self.how == "semi":
            return [(a.payload, None) for a in left if a in partners_left]
        alone: list[Pair] = [(a.payload, None) for a in left if a not in partners_left]
        if self.how == "anti":
            return alone
        out: list[Pair] = [(a.payload, b.payload) for a, b in pairs]
        out += alone if self.how in ("left", "full") else []
        if self.how in ("right", "full"):
            out += [(None, b.payload) for b in right if b not in partners_right]
        return out

    def match(self, left: Row, right: Row) -> bool:
        if left.key is None or right.key is None:
            same = self.nulls_equal and left.key is right.key
        else:
            same = left.key == right.key
        return same and self.condition(left, right)
