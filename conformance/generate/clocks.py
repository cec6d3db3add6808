"""When the rows of a script are: in seconds, or by clocks of a zone that are about to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

# When the clocks of a zone change, in UTC: twice forward, twice back, and by half an hour.
CHANGES = [
    ("Europe/Berlin", "2024-03-31 01:00"),
    ("Europe/Berlin", "2024-10-27 01:00"),
    ("America/New_York", "2024-03-10 07:00"),
    ("America/New_York", "2024-11-03 06:00"),
    ("Australia/Lord_Howe", "2024-04-06 15:00"),
    ("Australia/Lord_Howe", "2024-10-05 15:30"),
    # One that does not change, and is no number of hours from UTC.
    ("Asia/Kolkata", "2024-01-01 00:00"),
]


@dataclass(frozen=True)
class Clock:
    """Tables count times in units from `start`; windows and joins use the same unit."""

    unit: str = "SECOND"
    start: datetime = datetime(2024, 1, 1, tzinfo=UTC)
    zone: str | None = None

    def local(self, time: int) -> str:
        """What a clock of the zone shows."""
        return self._instant(time).astimezone(ZoneInfo(self.zone or "UTC")).strftime(_DIGITS)

    def milliseconds(self, time: int) -> int:
        return round(self._instant(time).timestamp() * 1000)

    def interval(self, count: int) -> str:
        return f"INTERVAL '{count}' {self.unit}"

    def _instant(self, time: int) -> datetime:
        return self.start + time * timedelta(seconds=_SECONDS[self.unit])


_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600}
_DIGITS = "%Y-%m-%d %H:%M:%S"


def changing(one: Callable[[Iterable[Any]], Any]) -> Clock:
    """A clock that changes ten units after its start."""
    zone, change = one(CHANGES)
    unit = one(["MINUTE", "HOUR", "HOUR"])
    at = datetime.fromisoformat(change).replace(tzinfo=UTC)
    return Clock(unit, at - 10 * timedelta(seconds=_SECONDS[unit]), zone)
