"""The join of LATERAL SNAPSHOT row by row, as the rules read: slow, and plain enough to trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .reference import NONE_YET, CleanUpTimers, Row

Pair = tuple[int, int | None]


@dataclass
class SnapshotReference:
    until: int
    how: str = "inner"
    idle: int | None = None
    condition: Callable[[Row, Row], bool] = lambda left, right: True
    retention: tuple[int, int] | None = None
    watermark: int = NONE_YET
    clock: int = 0
    active_at: int | None = None
    loaded_at: int | None = None
    held: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)  # not visible yet, in order of arrival
    table: list[Row] = field(default_factory=list)
    timers: CleanUpTimers = field(default_factory=CleanUpTimers)

    def __post_init__(self) -> None:
        self.timers.retention = self.retention

    def tick(self, clock: int, quiet: bool) -> list[Pair]:
        """The clock advances; if `quiet`, nothing else comes of the right side now."""
        self.clock = clock
        for key in self.timers.tick(clock):
            self.expire(key)
        idle = self.idle is not None and self.active_at is not None
        if self.loaded_at is None and quiet and idle and clock >= self.active_at + self.idle:
            return self.load()
        if not quiet and self.loaded_at is None:
            self.active_at = clock
        return []

    def expire(self, key: str | None) -> None:
        assert self.retention is not None
        shortest, longest = self.retention
        if self.loaded_at is None:
            self.timers.timers[key] = self.clock + longest
        elif self.clock < self.loaded_at + shortest:
            self.timers.timers[key] = self.loaded_at + longest
        else:
            self.changes = [row for row in self.changes if row.key != key]
            self.table = [row for row in self.table if row.key != key]

    def load(self) -> list[Pair]:
        self.loaded_at = self.clock
        if self.watermark == NONE_YET:
            self.show(self.changes)
            self.changes = []
        held, self.held = self.held, []
        return [pair for row in held for pair in self.join(row)]

    def left(self, row: Row) -> list[Pair]:
        self.timers.access(row.key)
        if self.loaded_at is None:
            self.held.append(row)
            return []
        return self.join(row)

    def right(self, row: Row) -> list[Pair]:
        self.timers.access(row.key)
        if self.loaded_at is not None and self.watermark == NONE_YET:
            self.show([row])
        else:
            self.changes.append(row)
        return []

    def advance(self, watermark: int) -> list[Pair]:
        if watermark <= self.watermark:
            return []
        self.watermark = watermark
        self.show([row for row in self.changes if row.time <= watermark])
        self.changes = [row for row in self.changes if row.time > watermark]
        return self.load() if self.loaded_at is None and watermark >= self.until else []

    def show(self, changes: list[Row]) -> None:
        for row in sorted(changes, key=lambda row: row.time):
            if row.kind in ("+I", "+U"):
                self.table.append(row)
                continue
            for there in self.table:
                if (there.key, there.payload) == (row.key, row.payload):
                    self.table = [r for r in self.table if r is not there]
                    break

    def join(self, row: Row) -> list[Pair]:
        same = [r for r in self.table if r.key == row.key is not None and self.condition(row, r)]
        found: list[Pair] = [(row.payload, r.payload) for r in same]
        return found or ([(row.payload, None)] if self.how == "left" else [])
