"""Which columns describe a row's window, and which nodes assign rows to windows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

from tidemark import types as t
from tidemark.kernels.windows.spec import Assigner
from tidemark.plan.nodes.base import Node, walk
from tidemark.plan.nodes.edge import Column, Edge, TimeAttribute, WindowColumn
from tidemark.plan.nodes.state import plain

BOUND = t.Timestamp(3, nullable=False)


class Windowing(Node):
    """A node that assigns rows to windows."""

    @property
    @abstractmethod
    def processing_time(self) -> bool:
        """Whether the windows are in processing time."""


def window_columns(
    assigner: Assigner, time: t.DataType, attribute: TimeAttribute
) -> tuple[Column, Column, Column]:
    """The window's start, end and time. The bounds are local times, whatever the type of time;
    the last millisecond is a time attribute again, so that windows cascade.
    """
    zoned = isinstance(time, t.TimestampLtz)
    last = t.TimestampLtz(3, nullable=False) if zoned else BOUND
    return (
        Column("window_start", BOUND, window=WindowColumn("start", assigner, last)),
        Column("window_end", BOUND, window=WindowColumn("end", assigner, last)),
        Column("window_time", last, attribute, WindowColumn("time", assigner, last)),
    )


def windows_meaning(edge: Edge, bounds: tuple[int, int]) -> Any:
    """The windows that rows are in, as plain values: the columns `bounds` are start and end."""
    window = edge.columns[bounds[0]].window
    return list(bounds) if window is None else plain(window.assigner)


def is_in_processing_time(node: Node) -> bool:
    """Whether the rows' windows are in processing time."""
    windows = (part for part in walk(node) if isinstance(part, Windowing))
    nearest = next(windows, None)
    return nearest is not None and nearest.processing_time


def time_of_window(edge: Edge, start: int) -> Column:
    """The time column of the window whose start is in this column, even if it was dropped."""
    window = edge.columns[start].window
    assert window is not None
    wanted = replace(window, says="time")
    found = next((column for column in edge.columns if column.window == wanted), None)
    return found or window_columns(window.assigner, window.time, "event")[2]
