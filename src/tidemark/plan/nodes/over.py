"""OVER aggregations: each row with functions of the rows around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.catalog.tables import Changelog
from tidemark.kernels.over.spec import OverFrame
from tidemark.plan.expressions import over, references
from tidemark.plan.nodes.aggregate_call import AggregateCall
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Node, Reason, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.lateness import operator_words
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.project import Project, project
from tidemark.plan.nodes.state import StateSpec, by_place, plain
from tidemark.plan.nodes.window_rank import WindowOrder


@dataclass(frozen=True, slots=True)
class OverFunction:
    """A call over a frame. LAG and LEAD look `distance` rows away, NTILE makes so many groups."""

    call: AggregateCall
    frame: OverFrame
    distance: int = 1

    def moved(self, place: Callable[[int], int]) -> OverFunction:
        """The function over other places of its columns."""
        arguments = tuple(map(place, self.call.arguments))
        only = None if self.call.filter is None else place(self.call.filter)
        return replace(self, call=replace(self.call, arguments=arguments, filter=only))


@dataclass(frozen=True)
class Over(Unary, Stateful):
    """The rows of its input followed by the results of functions, over the rows with the same
    `keys` in an order.

    By default the order is that of a time attribute, and a row is emitted when the watermark
    reaches it, in processing time at once. If it computes `at_end`, rows are emitted when the input
    has ended. If it `updates`, each change of a row changes the results of others.
    """

    keys: tuple[int, ...]
    order: tuple[WindowOrder, ...]
    functions: tuple[OverFunction, ...]
    at_end: bool = False
    updates: bool = False

    def _edge(self) -> Edge:
        below = self.input.edge
        width = len(below.columns)
        results = tuple(
            Column(f"$over{width + n}", function.call.type)
            for n, function in enumerate(self.functions)
        )
        changelog = Changelog.RETRACT if self.updates else Changelog.APPEND
        return replace(below, columns=(*below.columns, *results), changelog=changelog)

    @property
    def by_time(self) -> bool:
        return not (self.at_end or self.updates)

    @property
    def processing_time(self) -> bool:
        """Whether the order is that in which rows arrive."""
        return self.by_time and self._time_of_order == "processing"

    @property
    def late_by_key(self) -> bool:
        """Whether rows behind the watermark are accepted if no later one of their key was emitted:
        all frames are bounded.
        """
        event_time = self.by_time and not self.processing_time
        calls = ((f.call.function, f.frame) for f in self.functions)
        return event_time and not any(name == "LAG" or frame.grows for name, frame in calls)

    @property
    def _time_of_order(self) -> str | None:
        return self.input.edge.columns[self.order[0].column].time if self.order else None

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.input.edge.columns)
        kept = self._needed({place - width for place in wanted if place >= width})
        functions = [self.functions[n] for n in kept]
        used = {place for function in functions for place in function.call.used}
        order = {by.column for by in self.order}
        below = exactly(self.input, {*self.keys, *order, *used, *(p for p in wanted if p < width)})
        if not functions:
            return below
        node = replace(
            self,
            input=below.node,
            keys=below.places(self.keys),
            order=tuple(replace(by, column=below.place(by.column)) for by in self.order),
            functions=tuple(function.moved(below.place) for function in functions),
        )
        return Narrowed(node, (*below.kept, *(width + n for n in kept)))

    def _needed(self, wanted: set[int]) -> list[int]:
        """The functions that stay if these are wanted. Which rows are late follows from their
        frames, so that all of these are needed in event time."""
        every = range(len(self.functions))
        if not self.by_time or self.processing_time:
            return sorted(wanted)
        if len({(f.frame, f.call.function == "LAG") for f in self.functions}) > 1:
            return [*every]
        return sorted(wanted) or [0]

    # --- for a reader ------------------------------------------------------------------------

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"key=[{', '.join(names[key] for key in self.keys)}]"] if self.keys else []
        if self.order:
            details.append(f"order=[{', '.join(by.words(names) for by in self.order)}]")
        words = [f"{f.call.words(names)} {frame_words(f.frame)}" for f in self.functions]
        return Description(
            "Over", (*details, f"select=[{', '.join(words)}]"), ON_STATE, self._keeps
        )

    @property
    def _keeps(self) -> str:
        idle = "; until 'table.exec.state.ttl' after its last row, if that is set"
        if self.at_end:
            return "all rows, until the input ends"
        if self.updates:
            return "all rows of each key" + idle
        kept = [] if self.processing_time else ["rows until the watermark reaches them"]
        if any(_is_growing(function) for function in self.functions):
            kept.append("the aggregates of each key")
        if not all(_is_growing(function) for function in self.functions):
            kept.append("the rows that frames reach back to")
        return ", ".join(kept) + idle

    # --- state and time ----------------------------------------------------------------------

    @property
    def needs(self) -> Needs:
        event_time = self.by_time and not self.processing_time
        time = self.order[0].column if event_time else None
        port = Port(self.keys, time, stamps=event_time)
        waits = self.at_end or event_time
        return Needs("over", (port,), delay_ms(self.input), waits=waits)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "order": [{**plain(by), "column": below.origin(by.column)} for by in self.order],
            "time": self._time_of_order if self.by_time else None,
            "functions": [
                {**f.call.meaning(below.origin), "frame": plain(f.frame), "distance": f.distance}
                for f in self.functions
            ],
            "emitted": "at end" if self.at_end else "as updates" if self.updates else "by time",
            "changes": below.edge.changelog.value,
            "held back in milliseconds": delay_ms(below),
        }
        return StateSpec(meaning, (by_place(below.edge, range(len(below.edge.columns))),))

    @property
    def why_rows_change(self) -> Reason | None:
        if not self.updates:
            return None
        return Reason(
            "a row changes the results of the rows around it, unless OVER goes by time",
            "ORDER BY a time attribute, with a frame that ends with the current row",
        )

    @property
    def can_be_stamped(self) -> bool:
        return self.by_time and self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if not self.by_time or self.processing_time:
            return ()
        words: Any = operator_words("over", self.input, self.keys, None)
        behind = delay_ms(self.input)
        return (LateInput(self.input, words, self.order[0].column, held_back_ms=behind),)


def without_unread_over(node: Node) -> Node:
    """A projection without those of the OVERs just below it whose results it does not read.

    Flink removes them where two projections meet, unless the upper one reads no column at all.
    Elsewhere an OVER without a reader stays, and drops late rows.
    """
    if not isinstance(node, Project):
        return node
    read = {place for value in node.expressions for place in references(value)}
    stack: list[Over] = []
    below = node.input
    while isinstance(below, Over):
        stack.append(below)
        below = below.input
    places = {place: place for place in range(len(below.edge.columns))}
    for each in reversed(stack):
        first = len(each.input.edge.columns)
        results = range(first, first + len(each.functions))
        if not read or read & {*results}:
            moved = len(below.edge.columns)
            places |= {place: moved + n for n, place in enumerate(results)}
            below = replace(each, input=below)
    values = [over(e, lambda ref: below.edge.ref(places[ref.index])) for e in node.expressions]
    return project(below, values, node.names)


def _is_growing(function: OverFunction) -> bool:
    return function.frame.grows and function.call.function != "LAG"


def frame_words(frame: OverFrame) -> str:
    """A frame as in SQL.

    >>> frame_words(OverFrame(-5000, 0))
    'RANGE BETWEEN 5000 PRECEDING AND CURRENT ROW'
    """
    unit = "ROWS" if frame.by_rows else "RANGE"
    start = "UNBOUNDED PRECEDING" if frame.start is None else _bound_words(frame.start)
    end = "UNBOUNDED FOLLOWING" if frame.end is None else _bound_words(frame.end)
    return f"{unit} BETWEEN {start} AND {end}"


def _bound_words(distance: float) -> str:
    if distance == 0:
        return "CURRENT ROW"
    return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"
