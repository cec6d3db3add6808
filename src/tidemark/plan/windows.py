"""Rows in windows: how they come into them, and what the columns are that speak of it."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark import types as t
from tidemark.kernels.windows.spec import Assigner
from tidemark.plan.nodes import Column, Edge, Node, TimeAttribute, WindowColumn

BOUND = t.Timestamp(3, nullable=False)


@dataclass(frozen=True, slots=True)
class Windowing:
    """The windows that the rows of `node` are in: by a time attribute, the column `time`, or,
    where that is not there any more, by two columns that are `given` bounds."""

    node: Node
    assigner: Assigner
    attribute: TimeAttribute
    time: int | None
    given: tuple[int, int] | None
    columns: tuple[Column, Column, Column]


def window_columns(
    assigner: Assigner, time: t.DataType, attribute: TimeAttribute
) -> tuple[Column, Column, Column]:
    """The window's start, end and time. The bounds are what a clock shows, whatever the type of
    time; the last millisecond is a time attribute again, so that windows cascade."""
    zoned = isinstance(time, t.TimestampLtz)
    last = t.TimestampLtz(3, nullable=False) if zoned else BOUND
    return (
        Column("window_start", BOUND, window=WindowColumn("start", assigner)),
        Column("window_end", BOUND, window=WindowColumn("end", assigner)),
        Column("window_time", last, attribute, WindowColumn("time", assigner)),
    )


def says(edge: Edge, column: int, what: str) -> bool:
    """Whether a column is the start, end or time of its row's window."""
    window = edge.columns[column].window
    return window is not None and window.says == what
