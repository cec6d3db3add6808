"""Window joins: rows of two sides that are in the same window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tidemark.catalog.tables import Changelog
from tidemark.plan import window_words
from tidemark.plan.nodes.base import Description, LateInput
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.lateness import late_sides
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.nodes.window_columns import windows_meaning
from tidemark.plan.words import words
from tidemark.types import DataType, TimestampLtz


@dataclass(frozen=True, kw_only=True)
class WindowJoin(Join):
    """The pairs of rows with equal keys in the same window; `left_window` and `right_window` are
    the columns of the window's start and end.
    """

    left_window: tuple[int, int]
    right_window: tuple[int, int]
    time_type: DataType  # the type of the windows' time

    @property
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        return self.left_window, self.right_window

    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        (left_start, left_end), (right_start, right_end) = left, right
        return replace(
            self, left_window=(left_start, left_end), right_window=(right_start, right_end)
        )

    @property
    def _changelog(self) -> Changelog:
        return Changelog.APPEND

    def _description(self) -> Description:
        left, right = self.left.edge.names, self.right.edge.names
        start = self.left.edge.columns[self.left_window[0]]
        details: list[str] = [self.how]
        if start.window is not None:
            details.append(f"window=[{window_words.window(start.window.assigner)}]")
        if self.left_keys:
            details.append(f"key=[{self.equalities(self.nulls_equal)}]")
        if self.condition is not None:
            details.append(f"where=[{words(self.condition)}]")
        ends = dict.fromkeys((left[self.left_window[1]], right[self.right_window[1]]))
        keeps = f"rows of both sides until the watermark reaches their {' or '.join(ends)}"
        return Description("WindowJoin", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        left = Port(self.left_keys, window=self.left_window)
        right = Port(self.right_keys, window=self.right_window)
        return self.sides("window-join", left, right)

    @property
    def state(self) -> StateSpec:
        left, right = self.left.edge, self.right.edge
        meaning = {
            **self.meaning,
            "windows": [
                windows_meaning(left, self.left_window),
                windows_meaning(right, self.right_window),
            ],
            "condition": plain(self.condition),
        }
        zoned = isinstance(self.time_type, TimestampLtz)
        return StateSpec(meaning, (by_name(left), by_name(right)), zoned)

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        windows = self.left_window, self.right_window
        return late_sides(self, "window-join", windows)
