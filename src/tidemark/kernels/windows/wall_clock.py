"""Windows in local time: runs a kernel with the times that a clock in a time zone shows.

Even if times are instants, windows follow the calendar of the session: twice a year, a day has 23
or 25 hours. The kernel inside gets local times, as milliseconds since 1970.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, STAMP, TIME
from tidemark.kernels.cuts import BY_TIME, ByArrival, ByTime, Cut, cut_of
from tidemark.kernels.pieces import limited
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs

# Clocks change on a quarter of an hour.
_QUARTER: Final = 15 * 60_000
# The longest period that may occur twice.
_LONGEST_SHIFT: Final = 12 * _QUARTER
_FIXED = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d\d))?\Z")


@dataclass(frozen=True, slots=True)
class WallClock:
    """Runs a kernel whose times and watermark are those that a clock in `zone` shows.

    Outside, state and timers are instants, as for any other kernel.
    """

    kernel: Kernel
    zone: str

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        shown = [self._shown(frame) for frame in inputs]
        inner = replace(state, watermark=self.passed(state.watermark))
        step = self.kernel.step(inner, shown, self.passed(watermark), processing_time)
        after = replace(step.state, watermark=max(state.watermark, watermark))
        return replace(
            step,
            state=after,
            metrics=replace(step.metrics, watermark=after.watermark),
            next_event_time=self.instant(step.next_event_time),
        )

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        """Window bounds in columns of the rows are local times, not instants."""
        cut = cut_of(self.kernel, inputs)
        return cut if cut is BY_TIME or not isinstance(cut, ByTime) else ByArrival()

    def limited(self, pairs: int | None) -> WallClock:
        return replace(self, kernel=limited(self.kernel, pairs))

    def _shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        times, stamps = longs(rows, TIME), longs(rows, STAMP)
        return rows.with_columns(
            pl.Series(TIME, times + self.offsets(times)),
            pl.Series(STAMP, self._passed(stamps)),
        )

    def passed(self, watermark: int) -> int:
        """The latest local time that cannot occur again once the watermark is at an instant."""
        return int(self._passed(np.array([watermark], dtype=np.int64))[0])

    def _passed(self, watermarks: Longs) -> Longs:
        distinct, place = np.unique(watermarks, return_inverse=True)
        never = (distinct == BEFORE_ALL) | (distinct >= AFTER_ALL - _LONGEST_SHIFT)
        instants = np.where(never, 0, distinct)
        shown = instants + self.offsets(instants)
        # The first time that an hour occurs twice, none of it has passed for good.
        for later in range(_QUARTER, _LONGEST_SHIFT + 1, _QUARTER):
            quarter = (instants // _QUARTER) * _QUARTER + later
            shown = np.minimum(shown, quarter + self.offsets(quarter))
        return np.asarray(np.where(never, distinct, shown)[place], dtype=np.int64)

    def instant(self, shown: int | None) -> int | None:
        """The first instant at which a local time has passed for good."""
        if shown is None or not abs(shown) < _FAR:
            return shown
        day = 96 * _QUARTER
        around = self.offsets(np.array([shown - day, shown, shown + day], dtype=np.int64))
        candidates = sorted({shown - int(offset) for offset in around})
        return next((c for c in candidates if self.passed(c) >= shown), candidates[-1])

    def offsets(self, instants: Longs) -> Longs:
        """The offset of the zone from UTC at each instant."""
        quarters, place = np.unique(instants // _QUARTER, return_inverse=True)
        zone = _zone(self.zone)
        found = [_offset(int(quarter) * _QUARTER, zone) for quarter in quarters]
        return np.array(found, dtype=np.int64)[place] if found else instants


@dataclass(frozen=True, slots=True)
class ShownClock:
    """Runs a processing-time kernel with the processing time that a clock in `zone` shows."""

    kernel: Kernel
    zone: str

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        wall = WallClock(self.kernel, self.zone)
        [offset] = wall.offsets(np.array([processing_time], dtype=np.int64))
        return self.kernel.step(state, inputs, watermark, processing_time + int(offset))


def instants(shown: pl.Series, zone: str) -> pl.Series:
    """The instants of local times: the first one if a time occurs twice; if a time is skipped, the
    instant that is as much later as the clock skips.
    """
    found = shown.unique().drop_nulls()
    there = _zone(zone)
    moments = pl.Series([_instant(time, there) for time in found], dtype=pl.Int64)
    return shown.replace_strict(found, moments, default=None, return_dtype=pl.Int64)


def _instant(shown: int, zone: tzinfo) -> int:
    bounded = min(max(shown, _PAST), _FAR)
    clock = datetime(1970, 1, 1) + timedelta(milliseconds=bounded)
    distance = clock.replace(tzinfo=zone, fold=0).utcoffset()
    assert distance is not None
    return shown - distance // timedelta(milliseconds=1)


# Outside the years that `datetime` supports.
_PAST: Final = -60_000_000_000_000
_FAR: Final = 253_000_000_000_000


def _offset(instant: int, zone: tzinfo) -> int:
    bounded = min(max(instant, _PAST), _FAR)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=bounded)
    distance = moment.astimezone(zone).utcoffset()
    assert distance is not None
    return int(distance.total_seconds() * 1000)


def _zone(name: str) -> tzinfo:
    fixed = _FIXED.match(name)
    if fixed is None:
        return ZoneInfo(name)
    sign, hours, minutes = fixed.groups()
    distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(distance if sign == "+" else -distance)
