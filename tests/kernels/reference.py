"""The temporal joins row by row, as the rules read: slow, and plain enough to trust.

`advance` moves the watermark, `tick` the clock, `left` and `right` take one row. What comes out
is (left payload, right payload or None, left kind).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

NONE_YET = -(2**63)


@dataclass(frozen=True)
class Row:
    key: str | None
    time: int
    payload: int
    kind: str = "+I"


Emitted = tuple[int, int | None, str]


@dataclass
class CleanUpTimers:
    """Section 5. `retention` is (min, max) or None for off."""

    retention: tuple[int, int] | None = None
    clock: int = 0
    timers: dict[str | None, int] = field(default_factory=dict)

    def access(self, key: str | None) -> None:
        if self.retention is None:
            return
        shortest, longest = self.retention
        if key not in self.timers or self.clock + shortest > self.timers[key]:
            self.timers[key] = self.clock + longest

    def remove(self, key: str | None) -> None:
        self.timers.pop(key, None)

    def tick(self, clock: int) -> list[str | None]:
        """The keys that expire now that the clock has advanced."""
        self.clock = clock
        expired = [key for key, timer in self.timers.items() if timer <= clock]
        for key in expired:
            self.remove(key)
        return expired


@dataclass
class KeyState:
    left: dict[int, Row] = field(default_factory=dict)  # by arrival number
    next_number: int = 1
    versions: dict[int, Row] = field(default_factory=dict)  # by time
    timer: int | None = None


@dataclass
class EventTimeReference:
    how: str = "inner"
    update_before: str = "ignored"
    drops_late: bool = False
    watermark: int = NONE_YET
    keys: dict[str | None, KeyState] = field(default_factory=dict)
    clean_up: CleanUpTimers = field(default_factory=CleanUpTimers)

    def tick(self, clock: int) -> None:
        for key in self.clean_up.tick(clock):
            del self.keys[key]

    def left(self, row: Row) -> list[Emitted]:
        if self.drops_late and row.time <= self.watermark:
            return []
        state = self.keys.setdefault(row.key, KeyState())
        state.left[state.next_number] = row
        state.next_number += 1
        self.lower_timer(state, row.time)
        self.clean_up.access(row.key)
        return []

    def right(self, row: Row) -> list[Emitted]:
        if row.kind == "-U" and self.update_before == "ignored":
            return []
        state = self.keys.setdefault(row.key, KeyState())
        state.versions[row.time] = row
        self.lower_timer(state, row.time)
        self.clean_up.access(row.key)
        return []

    @staticmethod
    def lower_timer(state: KeyState, time: int) -> None:
        state.timer = time if state.timer is None else min(state.timer, time)

    def advance(self, watermark: int) -> list[Emitted]:
        if watermark <= self.watermark:
            return []
        self.watermark = watermark
        return [emitted for key in self.keys for emitted in self.fire(key, self.keys[key])]

    def fire(self, key: str | None, state: KeyState) -> Iterator[Emitted]:
        if state.timer is None or state.timer > self.watermark:
            return
        ready = {n: row for n, row in state.left.items() if row.time <= self.watermark}
        for number in sorted(ready):
            yield from self.join(ready[number], state.versions)
            del state.left[number]
        past = [time for time in state.versions if time <= self.watermark]
        for time in past:
            if time != max(past):
                del state.versions[time]
        state.timer = min((row.time for row in state.left.values()), default=None)
        if state.left or state.versions:
            self.clean_up.access(key)
        else:
            self.clean_up.remove(key)

    def join(self, row: Row, versions: dict[int, Row]) -> Iterator[Emitted]:
        before = [time for time in versions if time <= row.time]
        version = versions[max(before)] if before else None
        if version is not None and version.kind in ("+I", "+U"):
            yield row.payload, version.payload, row.kind
        elif self.how == "left":
            yield row.payload, None, row.kind


@dataclass
class ProcessingTimeReference:
    how: str = "inner"
    latest: dict[str | None, Row] = field(default_factory=dict)
    clean_up: CleanUpTimers = field(default_factory=CleanUpTimers)

    def tick(self, clock: int) -> None:
        for key in self.clean_up.tick(clock):
            self.latest.pop(key, None)

    def left(self, row: Row) -> list[Emitted]:
        version = self.latest.get(row.key)
        if version is not None:
            self.clean_up.access(row.key)
        if version is not None:
            return [(row.payload, version.payload, row.kind)]
        return [(row.payload, None, row.kind)] if self.how == "left" else []

    def right(self, row: Row) -> list[Emitted]:
        if row.kind in ("+I", "+U"):
            self.latest[row.key] = row
            self.clean_up.access(row.key)
        else:
            self.latest.pop(row.key, None)
            self.clean_up.remove(row.key)
        return []

    def advance(self, watermark: int) -> list[Emitted]:
        return []
