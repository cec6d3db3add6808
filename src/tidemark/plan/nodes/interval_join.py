"""Interval joins: rows of two sides whose times are close to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.lateness import late_sides
from tidemark.plan.nodes.needs import USUAL_TICK_MS, Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.words import words


@dataclass(frozen=True, kw_only=True)
class IntervalJoin(Join):
    """The pairs of rows with equal keys and `left_time + lower <= right_time <= left_time + upper`.

    Rows are kept `slack_ms` longer than necessary. `drops_late` is the rule of the stream API for
    rows behind the watermark.
    """

    left_time: int
    right_time: int
    lower_ms: int
    upper_ms: int
    slack_ms: int = 0
    drops_late: bool = False

    @property
    def processing_time(self) -> bool:
        """Whether it uses processing time."""
        return self.left.edge.columns[self.left_time].time == "processing"

    @property
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        return (self.left_time,), (self.right_time,)

    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        return replace(self, left_time=left[0], right_time=right[0])

    @property
    def _changelog(self) -> Changelog:
        return Changelog.APPEND

    def _description(self) -> Description:
        left, right = self.left.edge.names, self.right.edge.names
        mine, theirs = left[self.left_time], right[self.right_time]
        near = f"{theirs} in [{mine}{_signed(self.lower_ms)}, {mine}{_signed(self.upper_ms)}]"
        details = [self.how, f"key=[{self.equalities(self.nulls_equal)}]", f"bounds=[{near}]"]
        if self.condition is not None:
            details.append(f"where=[{words(self.condition)}]")
        if self.drops_late:
            details.append("drops late rows")
        now = "the clock" if self.processing_time else "the watermark"
        keeps = (
            f"left rows until {now} has passed {mine}{_signed(self.upper_ms + self.slack_ms)}; "
            f"right rows until it has passed {theirs}{_signed(self.slack_ms - self.lower_ms)}"
        )
        return Description("IntervalJoin", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        left = Port(self.left_keys, None if self.processing_time else self.left_time)
        right = Port(self.right_keys, None if self.processing_time else self.right_time)
        tick_ms = USUAL_TICK_MS if self.processing_time and self.how != "inner" else None
        # The stream API's form reports late rows with all their columns.
        shown = None if self.drops_late else self.shown
        return self.sides("interval-join", left, right, tick_ms, shown)

    @property
    def state(self) -> StateSpec:
        left, right = self.left, self.right
        meaning = {
            **self.meaning,
            "time": "processing" if self.processing_time else "event",
            "times": [left.origin(self.left_time), right.origin(self.right_time)],
            "bounds in milliseconds": [self.lower_ms, self.upper_ms],
            "condition": plain(self.condition),
            "drops late rows": self.drops_late,
        }
        if self.processing_time or self.drops_late:
            return StateSpec(meaning, (by_name(left.edge), by_name(right.edge)))
        return StateSpec(meaning, self.rows_without_times(self.left_time, self.right_time))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        """Unmatched rows wait for matches that may arrive as late as this."""
        return 0 if self.processing_time else max(self.upper_ms, -self.lower_ms, 0) + self.slack_ms

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if not self.drops_late:
            return ()
        # A row at the watermark is not late.
        times = self.left_time, self.right_time
        sides = zip(late_sides(self, "interval-join"), times, strict=True)
        return tuple(replace(side, time=time, lateness_ms=1) for side, time in sides)


def _signed(milliseconds: int) -> str:
    """How far a time is shifted, as ` + 5 s`; empty if it is not."""
    if not milliseconds:
        return ""
    return f" {'+' if milliseconds > 0 else '-'} {abs(milliseconds) / 1000:,.10g} s"
