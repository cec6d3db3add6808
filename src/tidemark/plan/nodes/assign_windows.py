"""Window table functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark import types as t
from tidemark.kernels.windows.spec import Assigner, Session
from tidemark.plan import window_words
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Unary
from tidemark.plan.nodes.lateness import operator_words
from tidemark.plan.nodes.narrowing import exactly, whole
from tidemark.plan.nodes.needs import Needs, Port, tick_of
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.nodes.window_columns import Windowing, window_columns
from tidemark.types import TimestampLtz


@dataclass(frozen=True)
class AssignWindows(Unary, Windowing):
    """Each row once for every window it is in; the last three columns are the window's start, end
    and time. With `last_only`, just the window that ends last. If it `marks_last`, one more column
    says whether the row is in no later window.

    Sessions are those of the columns `keys`; their rows are emitted when the session is over,
    because only then are its start and end known.
    """

    assigner: Assigner
    time: int
    keys: tuple[int, ...]
    last_only: bool = False
    marks_last: bool = False

    def _edge(self) -> Edge:
        column = self.input.edge.columns[self.time]
        assert column.time is not None, f"`{column.name}` is not a time attribute"
        added = window_columns(self.assigner, column.type, column.time)
        marks = (Column("$last", t.Boolean(nullable=False)),) * self.marks_last
        return self.input.edge.with_columns((*added, *marks))

    @property
    def keeps_rows(self) -> bool:
        return isinstance(self.assigner, Session)

    @property
    def processing_time(self) -> bool:
        return self.input.edge.columns[self.time].time == "processing"

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        if not self.keeps_rows:
            return whole(self)
        width = len(self.input.edge.columns)
        below = exactly(self.input, {self.time, *self.keys, *(i for i in wanted if i < width)})
        time, keys = below.place(self.time), below.places(self.keys)
        assigned = replace(self, input=below.node, time=time, keys=keys)
        return Narrowed(assigned, (*below.kept, *range(width, width + 3)))

    def origin(self, place: int) -> Any:
        of_input = place < len(self.input.edge.columns)
        return self.input.origin(place) if of_input else super().origin(place)

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"window=[{window_words.window(self.assigner)}]", f"time=[{names[self.time]}]"]
        if self.keys:
            details.append(f"partition=[{', '.join(names[key] for key in self.keys)}]")
        if not self.keeps_rows:
            return Description("WindowFunction", tuple(details), "rows once for each window")
        until = "the clock" if self.processing_time else "the watermark"
        keeps = f"rows until {until} has reached the end of their session"
        return Description("WindowFunction", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs | None:
        if not self.keeps_rows:
            return None
        time = None if self.processing_time else self.time
        port = Port(self.keys, time, stamps=True, processing_time=self.processing_time)
        tick_ms = tick_of(self.assigner) if self.processing_time else None
        return Needs("session-window", (port,), delay_ms(self.input), tick_ms)

    @property
    def state(self) -> StateSpec | None:
        if not self.keeps_rows:
            return None
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "windows": plain(self.assigner),
            "time": "processing" if self.processing_time else below.origin(self.time),
            "changes": below.edge.changelog.value,
        }
        zoned = isinstance(self.edge.columns[-1].type, TimestampLtz)
        return StateSpec(meaning, (by_name(below.edge),), zoned)

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def is_ordered(self) -> bool:
        return False  # only used below a watermark

    @property
    def can_be_stamped(self) -> bool:
        return not self.keeps_rows and self.input.can_be_stamped

    @property
    def keeps_all_rows(self) -> bool:
        return False

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if not self.keeps_rows or self.processing_time:
            return ()
        window = window_words.window(self.assigner)
        words = operator_words("session-window", self.input, self.keys, window)
        behind = delay_ms(self.input)
        return (
            LateInput(
                self.input,
                words,
                self.time,
                assigner=self.assigner,
                keys=self.keys,
                held_back_ms=behind,
            ),
        )
