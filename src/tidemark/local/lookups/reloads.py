"""When a table that is held in memory is loaded again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

_DAY = dt.timedelta(days=1)
_OPTIONS = "lookup.full-cache."


@dataclass(frozen=True, slots=True)
class EveryInterval:
    """After some time, from the end of a load or, at a fixed rate, from its start."""

    interval_ms: int
    fixed_rate: bool = False

    def is_due(self, started_ms: int, ended_ms: int, now_ms: int) -> bool:
        return now_ms - (started_ms if self.fixed_rate else ended_ms) >= self.interval_ms


@dataclass(frozen=True, slots=True)
class AtTimeOfDay:
    """At a time of day in a zone, every so many days after the first one."""

    time: dt.time
    days: int

    def is_due(self, started_ms: int, ended_ms: int, now_ms: int) -> bool:
        """Whether the first such time after a load has come. The next load then starts there."""
        zone = self.time.tzinfo or dt.UTC
        started = dt.datetime.fromtimestamp(started_ms / 1000, zone)
        first = dt.datetime.combine(started.date(), self.time)
        if first <= started:
            first += _DAY * self.days
        return first <= dt.datetime.fromtimestamp(now_ms / 1000, zone)


Reload = EveryInterval | AtTimeOfDay


def reload_of(options: Mapping[str, Any], zone: str) -> Reload | None:
    """What a table's options say; None if it is loaded once."""
    if options.get(_OPTIONS + "reload-strategy") == "TIMED":
        time = dt.time.fromisoformat(options[_OPTIONS + "timed-reload.iso-time"])
        own = time if time.tzinfo is not None else time.replace(tzinfo=ZoneInfo(zone))
        return AtTimeOfDay(own, options[_OPTIONS + "timed-reload.interval-in-days"])
    interval = options.get(_OPTIONS + "periodic-reload.interval")
    if interval is None:
        return None
    mode = options[_OPTIONS + "periodic-reload.schedule-mode"]
    return EveryInterval(interval, fixed_rate=mode == "FIXED_RATE")
