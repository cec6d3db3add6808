"""Aggregates of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Assigner, CountSliding, Emit, Firing, Session
from tidemark.plan import window_words
from tidemark.plan.nodes.aggregate_call import AggregateCall
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Reason, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.lateness import operator_words
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port, tick_of, within_reason
from tidemark.plan.nodes.state import StateSpec, by_place, plain
from tidemark.plan.nodes.unnest import Unnest
from tidemark.plan.nodes.window_columns import Windowing
from tidemark.types import TimestampLtz


@dataclass(frozen=True)
class WindowAggregate(Unary, Stateful, Windowing):
    """One row for each key and window: the keys, the window's start, end and time in the columns
    `bounds`, the results.

    `time` is the column of the rows' time; in processing time rows are in the windows in which they
    arrive. If rows have their window in columns, `given` are the columns of its start and end.
    """

    keys: tuple[int, ...]
    assigner: Assigner
    time: int | None
    given: tuple[int, int] | None
    calls: tuple[AggregateCall, ...]
    emit: Emit
    lateness_ms: int
    bounds: tuple[Column, ...]

    def _edge(self) -> Edge:
        below = self.input.edge
        of_keys = [below.columns[key] for key in self.keys]
        results = [Column(f"$result{n}", call.type) for n, call in enumerate(self.calls)]
        columns = (*(Column(c.name, c.type) for c in of_keys), *self.bounds, *results)
        unique = (*(c.name for c in of_keys), self.bounds[0].name, self.bounds[1].name)
        return Edge(
            columns,
            Changelog.APPEND if self.emit == Emit() else Changelog.RETRACT,
            (unique,) if len(set(unique)) == len(unique) else (),
            below.bounded,
        )

    @property
    def processing_time(self) -> bool:
        return self.time is None and self.given is None and not self._is_of_rows

    @property
    def _is_of_rows(self) -> bool:
        return isinstance(self.assigner, CountSliding)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.keys) + len(self.bounds)
        kept = sorted({place - width for place in wanted if place >= width})
        if len(kept) == len(self.calls):
            return whole(self)
        calls = [self.calls[n] for n in kept]
        times = () if self.time is None else (self.time,)
        used = {*self.keys, *times, *(self.given or ()), *(p for call in calls for p in call.used)}
        below = self.input.narrowed(sorted(used))
        given = self.given and (below.place(self.given[0]), below.place(self.given[1]))
        node = replace(
            self,
            input=below.node,
            keys=below.places(self.keys),
            time=None if self.time is None else below.place(self.time),
            given=given,
            calls=tuple(call.moved(below.place) for call in calls),
        )
        return Narrowed(node, (*range(width), *(width + n for n in kept)))

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"window=[{window_words.window(self.assigner)}]", self._time_words()]
        if self.keys:
            details.append(f"key=[{', '.join(names[key] for key in self.keys)}]")
        details.append(f"select=[{', '.join(call.words(names) for call in self.calls)}]")
        details += window_words.emit(self.emit)
        if self.lateness_ms:
            details.append(f"lateness=[{window_words.duration(self.lateness_ms)}]")
        return Description("WindowAggregate", tuple(details), ON_STATE, self._keeps())

    def _time_words(self) -> str:
        """How rows are assigned to windows."""
        names = self.input.edge.names
        if self.given is not None:
            return f"bounds=[{', '.join(names[column] for column in self.given)}]"
        return "time=[processing time]" if self.time is None else f"time=[{names[self.time]}]"

    def _keeps(self) -> str:
        until = "the clock" if self.processing_time else "the watermark"
        later = f" and {window_words.duration(self.lateness_ms)} more" if self.lateness_ms else ""
        return f"the aggregates of each key and window, until {until} has reached its end{later}"

    @property
    def needs(self) -> Needs:
        port = Port(self.keys, self.time, stamps=True, processing_time=self.processing_time)
        firings = [firing for firing in (self.emit.early, self.emit.late) if firing is not None]
        wanted = [firing.every_ms for firing in firings if firing.every_ms is not None]
        if self.processing_time:
            wanted.append(tick_of(self.assigner))
        tick_ms = within_reason(min(wanted)) if wanted else None
        return Needs("window-aggregate", (port,), delay_ms(self.input), tick_ms)

    @property
    def state(self) -> StateSpec:
        below = self.input
        event_time = "event" if self.time is None else below.origin(self.time)
        meaning = {
            "keys": below.origins(self.keys),
            "windows": plain(self.assigner),
            "given by columns": self.given,
            "time": "processing" if self.processing_time else event_time,
            "functions": [call.meaning(below.origin) for call in self.calls],
            "early results": _firing(self.emit.early),
            "late results": _firing(self.emit.late),
            "allowed lateness in milliseconds": self.lateness_ms,
            "changes": below.edge.changelog.value,
        }
        used = {*self.keys, *(place for call in self.calls for place in call.used)}
        zoned = isinstance(self.bounds[2].type, TimestampLtz)
        changes = below.edge.changelog
        format_ = 1 if self.emit == Emit() else AggregateCall.format_of(self.calls, changes)
        return StateSpec(meaning, (by_place(below.edge, used),), zoned, format_)

    @property
    def why_rows_change(self) -> Reason:
        return Reason(
            "EMIT or 'table.exec.emit.*' makes windows emit early or late results", "remove EMIT"
        )

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if self.processing_time or self._is_of_rows:
            return ()
        below, keys = self.input, self.keys
        if self.opens_grouping_sets and not isinstance(self.assigner, Session):
            assert isinstance(below, Unnest)
            below, keys = below.input, ()  # each row once
        window = window_words.window(self.assigner)
        return (
            LateInput(
                below,
                operator_words("window-aggregate", self.input, self.keys, window),
                self.time,
                self.given,
                None if self.given is not None else self.assigner,
                keys,
                self.lateness_ms,
                delay_ms(below),
            ),
        )

    @property
    def opens_grouping_sets(self) -> bool:
        """Whether its input has each row once for each grouping set."""
        return isinstance(self.input, Unnest) and self.input.edge.names[-1] == "$set"


def _firing(firing: Firing | None) -> str | None:
    """What makes windows emit before or after their end, without the interval, which may change."""
    if firing is None:
        return None
    return "at each row" if firing.each_row else "by the clock"
