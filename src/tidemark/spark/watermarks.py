"""Watermarks of sources: declared to Spark, and told to the operators above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.plan.expressions import Call, Expression, Literal, Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    Node,
    is_stateful,
    walk,
)
from tidemark.spark.frame import WATERMARK, Frame
from tidemark.spark.stamps import stamped

if TYPE_CHECKING:
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import SourceWatermark


@dataclass(frozen=True, slots=True)
class Input:
    """What flows into an operator, and what is known of its watermark."""

    frame: Frame
    watermark: SourceWatermark | None
    chained: bool


def input_of(builder: Builder, node: Node) -> Input:
    """An operator's input. Where nothing drops rows on the way from the source, the operator
    declares the watermark, of a few packed rows in place of many."""
    from tidemark.spark.stateful.operator import SourceWatermark

    behind, chained = _behind_ms(node), is_stateful(node)
    undeclared = node.undeclared() if builder.streaming and behind is not None else None
    ends = len(builder.ends)
    frame = builder.build(undeclared or node).checked()
    if behind is None or not builder.streaming:
        return Input(frame, None, chained)
    if undeclared is None:
        return Input(frame, SourceWatermark(behind), chained)
    folder = builder.ends[ends] if len(builder.ends) > ends else None
    return Input(frame, SourceWatermark(behind, declared=False, end_folder=folder), chained)


def input_in_windows(builder: Builder, node: Node) -> Input:
    """The input of an operator whose rows are in windows already. The time of a window is ahead of
    its rows', so the operator follows the watermark of each row, in the column WATERMARK."""
    from tidemark.spark.stateful.operator import SourceWatermark

    chained = is_stateful(node)
    frame = builder.build(node).checked()
    known = builder.streaming and frame.followed and not chained and len(_sources(node)) == 1
    return Input(frame, SourceWatermark(0, column=WATERMARK) if known else None, chained)


def _sources(node: Node) -> list[AssignWatermark]:
    return [part for part in walk(node) if isinstance(part, AssignWatermark)]


def _behind_ms(node: Node) -> int | None:
    """How far the watermark lies behind the rows' event time, if that is always as far."""
    sources = _sources(node)
    # The time of a window is not that of the row which was put into it.
    moved = any(isinstance(part, AssignWindows) for part in walk(node))
    if len(sources) != 1 or moved or is_stateful(node):
        return None
    [source] = sources
    time, expression, behind = source.edge.names.index(source.column), source.expression, 0
    match expression:
        case Call(function=function, args=(of, Literal(value=int() as milliseconds, type=kind))):
            if function.name == "-" and isinstance(kind, t.DayTimeInterval):
                expression, behind = of, milliseconds
    # A watermark may follow another column than the one it is for.
    return behind if isinstance(expression, Ref) and expression.index == time else None


def watermarked(builder: Builder, node: AssignWatermark, frame: Frame) -> Frame:
    """The rows, from which Spark now follows the watermark in a stream. Those that are to be
    stamped say what it was before them, in a batch too."""
    from tidemark.spark.stateful.end_of_input import with_watermark

    folder = builder.end_folder() if builder.streaming and node.edge.bounded else None
    if not node.declared:
        return frame
    instant = _instant(builder.write(node.expression, frame), node.expression, builder.zone)
    data = frame.data.selectExpr(*frame.kept, f"{instant} AS {WATERMARK}")
    if node.stamps:
        data = stamped(data)
    if not builder.streaming:
        return frame.over(data.drop(WATERMARK), stamped=node.stamps)
    data = with_watermark(data, WATERMARK, folder)
    return frame.over(data, followed=True, stamped=node.stamps)


def _instant(text: str, expression: Expression, zone: str) -> str:
    """Event time as the TIMESTAMP that Spark wants; wall-clock time counts as UTC."""
    if isinstance(expression.type, t.TimestampLtz):
        return text
    if zone.upper() in ("UTC", "ETC/UTC", "GMT", "Z"):
        return f"CAST({text} AS TIMESTAMP)"
    # Not through a cast, which would read the clock of the session's zone.
    epoch = spark_text.string("1970-01-01")
    days = f"CAST(datediff({text}, DATE {epoch}) AS BIGINT)"
    seconds = f"CAST(extract(SECOND FROM {text}) * 1000000 AS BIGINT)"
    clock = f"hour({text}) * 3600000000L + minute({text}) * 60000000L + {seconds}"
    return f"timestamp_micros({days} * 86400000000L + {clock})"
