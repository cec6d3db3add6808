"""The temporal joins row by row, as the rules read: slow, and plain enough to trust.

`advance` moves the watermark, `left` and `right` take one row. Rows are (key, time, payload,
kind); what comes out is (left payload, right payload or None, left kind).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
class KeyState:
    left: dict[int, Row] = field(default_factory=dict)  # by arrival number
    next_number: int = 1
    versions: dict[int, Row] = field(default_factory=dict)  # by time
    timer: int | None = None


@dataclass
class EventTimeReference:
    how: str = "inner"
    condition: Callable[[Row, Row], bool] = lambda left, version: True
    update_before: str = "ignored"
    watermark: int = NONE_YET
    keys: dict[str | None, KeyState] = field(default_factory=dict)

    def left(self, row: Row) -> list[Emitted]:
        state = self.keys.setdefault(row.key, KeyState())
        state.left[state.next_number] = row
        state.next_number += 1
        self.lower_timer(state, row.time)
        return []

    def right(self, row: Row) -> list[Emitted]:
        if row.kind == "-U" and self.update_before == "ignored":
            return []
        if row.key is None:
            return []
        state = self.keys.setdefault(row.key, KeyState())
        state.versions[row.time] = row
        self.lower_timer(state, row.time)
        return []

    @staticmethod
    def lower_timer(state: KeyState, time: int) -> None:
        state.timer = time if state.timer is None else min(state.timer, time)

    def advance(self, watermark: int) -> list[Emitted]:
        if watermark <= self.watermark:
            return []
        self.watermark = watermark
        return [emitted for state in self.keys.values() for emitted in self.fire(state)]

    def fire(self, state: KeyState) -> Iterator[Emitted]:
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

    def join(self, row: Row, versions: dict[int, Row]) -> Iterator[Emitted]:
        before = [time for time in versions if time <= row.time]
        version = versions[max(before)] if before else None
        if (
            row.key is not None
            and version is not None
            and version.kind in ("+I", "+U")
            and self.condition(row, version)
        ):
            yield row.payload, version.payload, row.kind
        elif self.how == "left":
            yield row.payload, None, row.kind


@dataclass
class ProcessingTimeReference:
    how: str = "inner"
    condition: Callable[[Row, Row], bool] = lambda left, version: True
    latest: dict[str, Row] = field(default_factory=dict)

    def left(self, row: Row) -> list[Emitted]:
        version = self.latest.get(row.key) if row.key is not None else None
        if version is not None and self.condition(row, version):
            return [(row.payload, version.payload, row.kind)]
        return [(row.payload, None, row.kind)] if self.how == "left" else []

    def right(self, row: Row) -> list[Emitted]:
        if row.key is None:
            return []
        if row.kind in ("+I", "+U"):
            self.latest[row.key] = row
        else:
            self.latest.pop(row.key, None)
        return []

    def advance(self, watermark: int) -> list[Emitted]:
        return []
