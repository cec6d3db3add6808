"""The windows of a grouping: a call in GROUP BY, or the columns of a window function; and the
rows in the form that the aggregating operator takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.kernels.windows.spec import Assigner, CountSliding, Session
from tidemark.plan.aggregates.calls import Columns
from tidemark.plan.aggregates.grouping import Grouping
from tidemark.plan.expressions import Expression, Ref, references
from tidemark.plan.nodes import Column, Edge, Node
from tidemark.plan.nodes.window_columns import (
    BOUND,
    is_in_processing_time,
    time_of_window,
    window_columns,
)
from tidemark.plan.scope import Scope
from tidemark.plan.windows.before_windows import before_windows
from tidemark.plan.windows.group_windows import GroupWindow


@dataclass(frozen=True, slots=True)
class Windowed:
    """Rows to be aggregated in windows, in the form an operator takes: `time` is the column of
    their time, `given` those of their bounds; without either, they use processing time.
    """

    node: Node
    time: int | None
    given: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ByCall:
    """The windows of a call in GROUP BY."""

    window: GroupWindow
    at: exp.Expression

    @property
    def assigner(self) -> Assigner:
        return self.window.assigner

    @property
    def columns(self) -> tuple[Column, Column, Column]:
        start, end, time = window_columns(
            self.assigner, self.window.time.type, self.window.attribute
        )
        # In Flink, TUMBLE_ROWTIME and the like are nullable if the time of the rows is, unlike
        # `window_time`.
        nullable = self.window.attribute == "processing" or self.window.time.type.nullable
        return start, end, replace(time, type=time.type.with_nullable(nullable))

    @property
    def keys(self) -> tuple[Expression | None, ...]:
        """Which grouping keys are equivalent to the columns: none."""
        return (None, None, None)

    def rows(self, node: Node, keys: Iterable[Expression], columns: Columns) -> Windowed:
        processing_time = self.window.attribute == "processing"
        return Windowed(node, None if processing_time else columns.add(self.window.time), None)


@dataclass(frozen=True, slots=True)
class ByRows:
    """Windows of a number of rows per key, which have no bounds in time."""

    assigner: CountSliding
    at: exp.Expression

    @property
    def columns(self) -> tuple[Column, Column, Column]:
        start, end, time = window_columns(self.assigner, BOUND, "event")
        unknown = BOUND.with_nullable(True)
        return Column(start.name, unknown), Column(end.name, unknown), Column(time.name, unknown)

    @property
    def keys(self) -> tuple[Expression | None, ...]:
        return (None, None, None)

    def rows(self, node: Node, keys: Iterable[Expression], columns: Columns) -> Windowed:
        return Windowed(node, None, None)


@dataclass(frozen=True, slots=True)
class Unwindowed:
    """No windows: groups that never end."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return ()

    @property
    def keys(self) -> tuple[Expression | None, ...]:
        return ()

    def rows(self, node: Node, keys: Iterable[Expression], columns: Columns) -> Windowed:
        return Windowed(node, None, None)


@dataclass(frozen=True, slots=True)
class ByColumns:
    """The windows that a window function assigned to the rows: grouped by start and end, and
    optionally by the window's time, which is redundant.
    """

    edge: Edge
    start: Ref
    end: Ref
    time: Ref | None
    at: exp.Expression

    @property
    def assigner(self) -> Assigner:
        window = self.edge.columns[self.start.index].window
        assert window is not None
        return window.assigner

    @property
    def columns(self) -> tuple[Column, Column, Column]:
        start, end = (self.edge.columns[ref.index] for ref in (self.start, self.end))
        return start, end, time_of_window(self.edge, self.start.index)

    @property
    def keys(self) -> tuple[Expression | None, ...]:
        return (self.start, self.end, self.time)

    def never_end(self, node: Node, keys: Iterable[Expression], columns: Columns) -> bool:
        """Whether no operator knows when the windows are complete: neither the clock of one that
        assigns them itself, nor a watermark.
        """
        return is_in_processing_time(node) and self._before_windows(node, keys, columns) is None

    @property
    def grouped_by(self) -> tuple[Ref, ...]:
        """Those of the window's columns that the query groups by."""
        return (self.start, self.end) if self.time is None else (self.start, self.end, self.time)

    def rows(self, node: Node, keys: Iterable[Expression], columns: Columns) -> Windowed:
        below = self._before_windows(node, keys, columns)
        if below is None:
            return Windowed(node, None, (columns.add(self.start), columns.add(self.end)))
        # The position of the window's start now contains the time of the row.
        time = Scope.of(below.edge).ref(self.start.index)
        processing_time = below.edge.columns[time.index].time == "processing"
        return Windowed(below, None if processing_time else columns.add(time), None)

    def _before_windows(
        self, node: Node, keys: Iterable[Expression], columns: Columns
    ) -> Node | None:
        """The rows before the window function, if it is right below and nothing else uses the
        windows.
        """
        windows = {i for i, column in enumerate(self.edge.columns) if column.window is not None}
        below = before_windows(node)
        if below is None or below.found.assigner != self.assigner:
            return None
        if any(references(expression) & windows for expression in columns.expressions):
            return None
        if isinstance(self.assigner, Session):
            of_keys = {key.index if isinstance(key, Ref) else None for key in keys}
            if of_keys != set(below.partition):
                return None
        return below.node


def columns_of_window(
    edge: Edge, grouping: Grouping, select: exp.Select
) -> tuple[ByColumns, Grouping] | None:
    """The window in the grouping keys, and the grouping by the remaining keys.

    None if rows are not grouped by both the start and the end of one window.
    """
    found: dict[str, int] = {}
    for place, key in enumerate(grouping.keys):
        window = edge.columns[key.index].window if isinstance(key, Ref) else None
        if window is not None and all(place in one for one in grouping.sets):
            found.setdefault(window.says, place)
    if not {"start", "end"} <= found.keys():
        return None
    start, end = grouping.keys[found["start"]], grouping.keys[found["end"]]
    assert isinstance(start, Ref) and isinstance(end, Ref)
    of_start, of_end = (edge.columns[ref.index].window for ref in (start, end))
    assert of_start is not None and of_end is not None
    if of_start.assigner != of_end.assigner:
        return None
    time = grouping.keys[found["time"]] if "time" in found else None
    group = select.args["group"]
    windows = ByColumns(edge, start, end, time if isinstance(time, Ref) else None, group)
    return windows, grouping.without(list(found.values()))
