"""Operators that wait for the clock: how often they look at it, and how they hear of the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.kernels.windows.spec import Assigner, Cumulating, Session, Sliding
from tidemark.plan.nodes import AssignWatermark, Node, is_stateful, walk
from tidemark.spark.frame import WATERMARK, Frame

if TYPE_CHECKING:
    from tidemark.spark.builder import Builder

_FASTEST_TICK, _SLOWEST_TICK = 100, 1000


def tick_of(assigner: Assigner) -> int:
    """How often the clock must be looked at where it decides which windows are over."""
    match assigner:
        case Sliding(slide=shortest) | Cumulating(step=shortest) | Session(gap=shortest):
            return within_reason(shortest)
    return _SLOWEST_TICK


def within_reason(tick_ms: int) -> int:
    return min(max(tick_ms, _FASTEST_TICK), _SLOWEST_TICK)


def told_end(builder: Builder, node: Node, frame: Frame) -> Frame:
    """The rows of a node, with a watermark that tells nothing but the end, where a bounded stream
    has none of its own: what waits for the clock would not be told when the stream ends."""
    has_watermark = is_stateful(node) or any(isinstance(n, AssignWatermark) for n in walk(node))
    if not builder.streaming or not node.edge.bounded or has_watermark:
        return frame
    from tidemark.spark.stateful.end_of_input import with_watermark

    data = frame.data.selectExpr(*frame.kept, f"timestamp_millis(0) AS {WATERMARK}")
    data = with_watermark(data, WATERMARK, builder.end_folder())
    return frame.over(data.drop(WATERMARK))
