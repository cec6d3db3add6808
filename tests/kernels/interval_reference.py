"""The interval joins row by row, as the rules read: slow, and plain enough to trust.

`advance` moves the watermark (or the time of day), `arrive` takes one row. What comes out are
pairs of payloads, with None where a side is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.kernels.columns import AFTER_ALL

from .reference import NONE_YET, Row

LEFT, RIGHT = 0, 1
Pair = tuple[int | None, int | None]


@dataclass
class Cached:
    row: Row
    matched: bool


@dataclass
class Cache:
    rows: list[Cached] = field(default_factory=list)
    timer: int | None = None


def _caches() -> dict[str | None, Cache]:
    return defaultdict(Cache)


@dataclass
class IntervalReference:
    """The form of SQL: caches, expiration, one timer per key and side."""

    lower: int
    upper: int
    how: str = "inner"
    slack: int = 0
    condition: Callable[[Row, Row], bool] = lambda left, right: True
    watermark: int = NONE_YET
    caches: tuple[dict[str | None, Cache], dict[str | None, Cache]] = field(
        default_factory=lambda: (_caches(), _caches())
    )

    @property
    def sizes(self) -> tuple[int, int]:
        return self.upper, -self.lower

    @property
    def clock(self) -> int:
        return max(self.watermark, 0)

    def pads(self, side: int) -> bool:
        return self.how in (("left", "full", "anti"), ("right", "full"))[side]

    def expiration(self, side: int) -> int:
        if self.watermark == AFTER_ALL:
            return AFTER_ALL
        return self.clock - self.sizes[side] - 1

    def arrive(self, side: int, row: Row) -> list[Pair]:
        out: list[Pair] = []
        other, matched = 1 - side, False
        cache = self.caches[other][row.key]
        expired = self.expiration(other)
        if expired < row.time + self.sizes[side]:
            for cached in list(cache.rows):
                found = self.joins(side, row, cached.row)
                if found:
                    out += self.pair(
                        side, row, cached.row, first=not self.any(side, matched, cached)
                    )
                    matched = cached.matched = True
                if cached.row.time <= expired:
                    out += self.pad(other, cached)
                    cache.rows.remove(cached)
        if self.clock < row.time + self.sizes[side]:
            mine = self.caches[side][row.key]
            mine.rows.append(Cached(row, matched))
            if mine.timer is None:
                self.set_timer(side, mine, row.time)
        else:
            out += self.pad(side, Cached(row, matched))
        return out

    def any(self, side: int, matched: bool, cached: Cached) -> bool:
        """Whether the left one of two rows had matched before."""
        return matched if side == LEFT else cached.matched

    def joins(self, side: int, row: Row, cached: Row) -> bool:
        left, right = (row, cached) if side == LEFT else (cached, row)
        near = left.time + self.lower <= right.time <= left.time + self.upper
        return row.key is not None and near and self.condition(left, right)

    def pair(self, side: int, row: Row, cached: Row, first: bool) -> list[Pair]:
        left, right = (row, cached) if side == LEFT else (cached, row)
        if self.how == "semi":
            return [(left.payload, None)] if first else []
        return [] if self.how == "anti" else [(left.payload, right.payload)]

    def pad(self, side: int, cached: Cached) -> list[Pair]:
        if cached.matched or not self.pads(side):
            return []
        payload = cached.row.payload
        return [(payload, None) if side == LEFT else (None, payload)]

    def set_timer(self, side: int, cache: Cache, time: int) -> None:
        cache.timer = time + self.sizes[side] + self.slack + 1

    def advance(self, watermark: int) -> list[Pair]:
        out: list[Pair] = []
        self.watermark = max(self.watermark, watermark)
        for side in (LEFT, RIGHT):
            for cache in self.caches[side].values():
                if cache.timer is not None and cache.timer <= self.watermark:
                    out += self.fire(side, cache)
        return out

    def fire(self, side: int, cache: Cache) -> list[Pair]:
        expired = [c for c in cache.rows if c.row.time <= self.expiration(side)]
        cache.rows = [c for c in cache.rows if c.row.time > self.expiration(side)]
        cache.timer = None
        if cache.rows:
            self.set_timer(side, cache, min(c.row.time for c in cache.rows))
        return [pair for cached in expired for pair in self.pad(side, cached)]


@dataclass
class StreamReference:
    """The form of the stream API: late rows are dropped, each row has a timer of its own."""

    lower: int
    upper: int
    watermark: int = NONE_YET
    late: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    buffers: tuple[list[Row], list[Row]] = field(default_factory=lambda: ([], []))

    def arrive(self, side: int, row: Row) -> list[Pair]:
        if row.time < self.watermark:
            self.late[side].append(row.payload)
            return []
        self.buffers[side].append(row)
        pairs = [(row, other) if side == LEFT else (other, row) for other in self.buffers[1 - side]]
        return [
            (left.payload, right.payload)
            for left, right in pairs
            if left.key == right.key is not None
            and left.time + self.lower <= right.time <= left.time + self.upper
        ]

    def advance(self, watermark: int) -> list[Pair]:
        self.watermark = max(self.watermark, watermark)
        for side, size in ((LEFT, self.upper), (RIGHT, -self.lower)):
            kept = [r for r in self.buffers[side] if r.time + max(size, 0) > self.watermark]
            self.buffers[side][:] = kept
        return []
