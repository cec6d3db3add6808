"""Rows put into windows by Spark: each once per window, with the window's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.functions.moments import clock_of_millis, millis_of_clock, session_clock
from tidemark.kernels.windows.spec import Assigner, Cumulating, Sliding
from tidemark.plan.nodes import AssignWindows
from tidemark.spark.frame import Frame, names_of

if TYPE_CHECKING:
    from tidemark.physical import Compute
    from tidemark.spark.builder import Builder


def assign_windows(builder: Builder, stage: Compute) -> Frame:
    """Each row once per window, with the window's columns."""
    node = stage.node
    assert isinstance(node, AssignWindows)
    below = builder.build(stage.inputs[0])
    names = names_of(node.edge)
    width = len(below.columns)
    time = spark_text.name(below.columns[node.time])
    shown = session_clock(time, node.input.edge.columns[node.time].type)
    moment = millis_of_clock(shown)
    windows = _windows(node.assigner, "_tm_moment")
    if node.last_only:
        windows = f"slice(array_sort({windows}), -1, 1)"
    timed = below.data.selectExpr(*below.kept, f"{moment} AS _tm_moment")
    windows = below.exploding(windows)
    opened = timed.selectExpr(*below.kept, "_tm_moment", f"explode({windows}) AS _tm_window")
    bounds = bounds_of("_tm_window.start", "_tm_window.end", node.edge.columns[width + 2].type)
    if node.marks_last:
        bounds = (*bounds, _is_last(node.assigner, "_tm_moment", "_tm_window"))
    projections = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(below.columns, names, strict=False)
    ]
    projections += [
        f"{text} AS {spark_text.name(name)}"
        for text, name in zip(bounds, names[width:], strict=True)
    ]
    data = opened.selectExpr(*projections, *below.extra)
    return below.over(data, columns=names)


def _windows(assigner: Assigner, moment: str) -> str:
    """An array of the windows that a moment is in, as milliseconds on the clock."""
    match assigner:
        case Sliding(size, slide, offset):
            last = f"({moment} - pmod({moment} - {offset}L, {slide}L))"
            count = -(-size // slide)
            starts = f"transform(sequence(0L, {count - 1}L), n -> {last} - n * {slide}L)"
            return (
                f"transform(filter({starts}, s -> s + {size}L > {moment}), "
                f"s -> named_struct('start', s, 'end', s + {size}L))"
            )
        case Cumulating(size, step, offset):
            start = f"({moment} - pmod({moment} - {offset}L, {size}L))"
            first = f"CAST(floor(({moment} - {start}) / {step}) AS BIGINT)"
            steps = f"sequence({first} + 1L, {size // step}L)"
            return (
                f"transform({steps}, n -> named_struct('start', {start}, "
                f"'end', {start} + n * {step}L))"
            )
    raise AssertionError(f"windows cannot be assigned row by row:  {assigner}")


def _is_last(assigner: Assigner, moment: str, window: str) -> str:
    """Whether a moment is in no window after this one."""
    match assigner:
        case Sliding(slide=slide):
            return f"{window}.start + {slide}L > {moment}"
        case Cumulating(size=size):
            return f"{window}.end = {window}.start + {size}L"
    raise AssertionError(f"windows cannot be assigned row by row:  {assigner}")


def bounds_of(start: str, end: str, time: t.DataType) -> tuple[str, ...]:
    """The window's start, end and time from its milliseconds."""
    last = clock_of_millis(f"{end} - 1L")
    zoned = isinstance(time, t.TimestampLtz)
    return (
        clock_of_millis(start),
        clock_of_millis(end),
        f"CAST({last} AS TIMESTAMP)" if zoned else last,
    )
