"""Temporal joins, in event time and in processing time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.lateness import late_sides
from tidemark.plan.nodes.needs import USUAL_TICK_MS, Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name


@dataclass(frozen=True, kw_only=True)
class TemporalJoin(Join):
    """Each left row with the right version valid at its time.

    Without `right_time`, it is the version that is current when the left row arrives; with
    `load_idle_ms`, left rows wait until the right side has been silent for so long. If
    `retractions_overwrite`, a `-U` ends the version at its time. If `drops_late`, left rows at or
    behind the watermark are dropped.
    """

    how: Literal["inner", "left"]
    left_time: int
    right_time: int | None
    retractions_overwrite: bool
    load_idle_ms: int | None = None
    drops_late: bool = False

    @property
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        return (self.left_time,), () if self.right_time is None else (self.right_time,)

    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        return replace(self, left_time=left[0], right_time=right[0] if right else None)

    @property
    def _changelog(self) -> Changelog:
        return self.left.edge.changelog

    @property
    def _keys(self) -> tuple[tuple[str, ...], ...]:
        return self.left.edge.keys

    def _description(self) -> Description:
        left, right = self.left.edge.names, self.right.edge.names
        key = f"key=[{self.equalities()}]"
        details = [self.how, key, f"as of=[{left[self.left_time]}]"]
        if self.right_time is None:
            keeps = "the latest version of each key"
            if self.load_idle_ms is not None:
                details.append(
                    f"load phase=[until the right side is silent for {self.load_idle_ms} ms]"
                )
                keeps += "; left rows until the right side has been loaded"
        else:
            details.append(f"versions by=[{right[self.right_time]}]")
            if self.drops_late:
                details.append("drops late rows")
            keeps = (
                f"left rows until the watermark reaches their {left[self.left_time]}; of each key "
                f"the versions after the watermark and the newest one before it"
            )
        return Description("TemporalJoin", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        by_event_time = self.right_time is not None
        left = Port(self.left_keys, self.left_time if by_event_time else None)
        right = Port(self.right_keys, self.right_time)
        loading = self.load_idle_ms
        tick_ms = None if loading is None else min(USUAL_TICK_MS, loading)
        return self.sides("temporal-join", left, right, tick_ms, self.shown)

    @property
    def state(self) -> StateSpec:
        left, right, right_time = self.left, self.right, self.right_time
        by_event_time = right_time is not None
        meaning = {**self.meaning, "time": "event" if by_event_time else "processing"}
        if right_time is None:
            meaning["waits for the right side"] = self.load_idle_ms is not None
            return StateSpec(meaning, (by_name(left.edge), by_name(right.edge)))
        meaning["times"] = [left.origin(self.left_time), right.origin(right_time)]
        meaning["retractions end versions"] = self.retractions_overwrite
        return StateSpec(meaning, self.rows_without_times(self.left_time, right_time))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if not self.drops_late:
            return ()  # a late row is joined with the remaining versions
        left, _ = late_sides(self, "temporal-join")
        return (replace(left, time=self.left_time),)
