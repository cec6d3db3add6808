"""coGroup: rows of two sides with one key in one window, for a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark import types as t
from tidemark.kernels.windows.spec import Session
from tidemark.plan import window_words
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Node
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import TwoSided
from tidemark.plan.nodes.lateness import late_sides
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.project import project
from tidemark.plan.nodes.state import StateSpec, by_name
from tidemark.plan.nodes.window_columns import BOUND, windows_meaning


@dataclass(frozen=True, kw_only=True)
class CoGroup(TwoSided):
    """What `function` returns for the rows of both sides with the same key in the same window, in
    `columns`; without a function, the pairs: both rows, and the window's start and end.

    The windows are those of the columns `left_window` and `right_window`, or sessions of `gap_ms`
    built from the times of both sides. The function gets the keys and the window's bounds as a
    dict, and both sides' rows as pandas frames.
    """

    left_time: int
    right_time: int
    left_window: tuple[int, int] | None
    right_window: tuple[int, int] | None
    gap_ms: int | None
    time_type: t.DataType  # the type of the windows' time
    function: Callable[[dict[str, Any], Any, Any], Any] | None = None
    columns: tuple[Column, ...] = ()

    def _edge(self) -> Edge:
        return Edge(self.columns or self._pair(), bounded=self.bounded)

    def _pair(self) -> tuple[Column, ...]:
        """Both rows, and the bounds of their window."""
        rows = [
            Column(name, t.Row(tuple(t.Field(c.name, c.type) for c in side.edge.columns)))
            for name, side in (("l", self.left), ("r", self.right))
        ]
        return (*rows, Column("window_start", BOUND), Column("window_end", BOUND))

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)  # the function gets whole rows

    def _description(self) -> Description:
        details = [f"key=[{self.equalities()}]"]
        if self.gap_ms is not None:
            details.append(f"window=[{window_words.window(Session(self.gap_ms))}]")
        made = "pairs" if self.function is None else getattr(self.function, "__name__", "function")
        details.append(f"makes=[{made}]")
        keeps = "rows of both sides until the watermark reaches the end of their windows"
        return Description("CoGroup", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        left = Port(self.left_keys, self.left_time, window=self.left_window)
        right = Port(self.right_keys, self.right_time, window=self.right_window)
        return self.sides("co-group", left, right)

    @property
    def state(self) -> StateSpec:
        left, right = self.left, self.right
        meaning = {
            "keys": [left.origins(self.left_keys), right.origins(self.right_keys)],
            "times": [left.origin(self.left_time), right.origin(self.right_time)],
            "windows": [
                None if window is None else windows_meaning(side.edge, window)
                for side, window in ((left, self.left_window), (right, self.right_window))
            ],
            "gap in milliseconds": self.gap_ms,
        }
        zoned = isinstance(self.time_type, t.TimestampLtz)
        return StateSpec(meaning, (by_name(left.edge), by_name(right.edge)), zoned)

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        windows = self.left_window, self.right_window
        left, right = late_sides(self, "co-group", windows)
        left, right = replace(left, time=self.left_time), replace(right, time=self.right_time)
        if self.gap_ms is None:
            return left, right
        gap = Session(self.gap_ms)
        return (
            replace(left, assigner=gap, keys=self.left_keys, shared=_of_sessions(right)),
            replace(right, assigner=gap, keys=self.right_keys, shared=_of_sessions(left)),
        )


def _of_sessions(side: LateInput) -> Node:
    """What sessions need of the rows of a side: their keys, followed by their time."""
    assert side.time is not None
    edge, places = side.rows.edge, (*side.keys, side.time)
    names = [f"${number}" for number in range(len(places))]
    return project(side.rows, [edge.ref(place) for place in places], names)
