"""Joins with the current rows of a table that is read along: `LATERAL SNAPSHOT(...)`."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput, delay_ms
from tidemark.plan.nodes.edge import Column
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.needs import USUAL_TICK_MS, Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.words import idle_words, words


@dataclass(frozen=True, slots=True)
class PointInTime:
    """A time of the clocks in the session's zone, or one that is the same everywhere."""

    clock: dt.datetime | None = None
    epoch_ms: int | None = None

    def text(self) -> str:
        if self.clock is not None:
            return self.clock.isoformat(" ")
        assert self.epoch_ms is not None
        return _utc(self.epoch_ms).isoformat(" ") + "Z"

    def as_event_time(self, type_: t.DataType, zone: str) -> int:
        """The same time as an event time of a type, in milliseconds."""
        local = isinstance(type_, t.Timestamp)
        if self.clock is not None:
            return _ms(self.clock) if local else _ms(self.clock, zone)
        assert self.epoch_ms is not None
        return _ms(_utc(self.epoch_ms), to=zone) if local else self.epoch_ms


def _utc(epoch_ms: int) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=epoch_ms)


def _ms(clock: dt.datetime, zone: str = "UTC", to: str = "UTC") -> int:
    """The milliseconds of a time on the clocks of a zone, as clocks elsewhere show it."""
    moment = clock.replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(to))
    return calendar.timegm(moment.timetuple()) * 1000 + moment.microsecond // 1000


@dataclass(frozen=True, kw_only=True)
class SnapshotJoin(Join):
    """Each left row with the current right rows of its key, once these have been loaded.

    They have been loaded when the watermark of the right side reaches `load_until`, or the time at
    which the job started; or, with `load_idle_ms`, when it has not advanced for so long. Changes of
    the right side count from their time on. `hinted_ms` is how long idle keys are kept.
    """

    how: Literal["inner", "left"]
    right_time: int
    load_until: PointInTime | None = None
    load_idle_ms: int | None = None
    hinted_ms: int | None = None

    @property
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        return (), (self.right_time,)

    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        return replace(self, right_time=right[0])

    @property
    def _columns(self) -> tuple[Column, ...]:
        """Rows that wait until all is loaded may be of any age, so they have no event time."""
        width = len(self.left.edge.columns)
        return tuple(
            column
            if place < width and column.time == "processing"
            else replace(column, time=None, window=None)
            for place, column in enumerate(super()._columns)
        )

    @property
    def _changelog(self) -> Changelog:
        return Changelog.APPEND

    def _description(self) -> Description:
        right = self.right.edge.names
        until = "the start of the job" if self.load_until is None else self.load_until.text()
        phase = f"until the watermark of {right[self.right_time]} reaches {until}"
        if self.load_idle_ms is not None:
            phase += f", or does not advance for {self.load_idle_ms} ms"
        details = [self.how, f"key=[{self.equalities(self.nulls_equal)}]"]
        if self.condition is not None:
            details.append(f"where=[{words(self.condition)}]")
        details.append(f"load phase=[{phase}]")
        kept = (
            "forever, or for 'table.exec.state.ttl' after the key was last used if that is set"
            if self.hinted_ms is None
            else idle_words(self.hinted_ms, "after the key was last used")
        )
        keeps = f"left rows until the right side has been loaded; the right rows {kept}"
        return Description("SnapshotJoin", tuple(details), ON_STATE, keeps)

    def ttls_ms(self, session_ms: int) -> tuple[int, ...]:
        return (session_ms if self.hinted_ms is None else self.hinted_ms,) * 2

    @property
    def needs(self) -> Needs:
        left = Port(self.left_keys, unwatched=True)
        right = Port(self.right_keys, self.right_time)
        idle_ms = self.load_idle_ms
        tick_ms = None if idle_ms is None else min(USUAL_TICK_MS, idle_ms)
        held_back_ms = delay_ms(self.right)
        return Needs("snapshot-join", (left, right), held_back_ms, tick_ms, self.shown, follows=1)

    @property
    def state(self) -> StateSpec:
        left, right, time = self.left.edge, self.right.edge, self.right_time
        shown, width = self.shown, len(left.columns)
        seen = shown is None or width + time in shown
        meaning: dict[str, Any] = {
            **self.meaning,
            "condition": plain(self.condition),
            "time": self.right.origin(time),
            "changes": right.changelog.value,
            "unique key": list(right.keys[0]) if right.keys else [],
        }
        hidden = () if seen else {right.names[time]}
        return StateSpec(meaning, (by_name(left), by_name(right, hidden)))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()
