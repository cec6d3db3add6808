"""Event times of sources: none may be null, and Spark follows their watermark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.functions.moments import is_utc
from tidemark.plan.expressions import Expression
from tidemark.spark.error_details import with_details
from tidemark.spark.frame import KIND, PLACE, Frame
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stamps import stamped
from tidemark.spark.upkeep import SOURCE_WATERMARK

if TYPE_CHECKING:
    from tidemark.physical import WatermarkStage
    from tidemark.spark.builder import Builder


def watermark(builder: Builder, stage: WatermarkStage) -> Frame:
    """The rows, from which Spark follows the watermark if it is declared here. Those that are to
    be stamped carry what it was before them, in a batch too."""
    frame = _with_event_times(builder, stage)
    if builder.watermarks is not None:
        return _observed(builder.watermarks, builder, stage, frame)
    if not stage.declared and not stage.stamps:
        return frame
    if stage.marks is not None:
        from tidemark.spark.stateful.end_of_input import with_watermark_beside

        marks = builder.partition_watermarks(stage.marks)
        # The time 0 stands for rows that carry no watermark.
        beside = marks.select(WATERMARK).where(f"unix_millis({WATERMARK}) > 0")
        end = None if stage.end is None else builder.end_folder(stage.end)
        source = builder.followed(stage, stage.marks)
        return frame.over(with_watermark_beside(frame.data, beside, end, source))
    expression = stage.node.expression
    moment = instant(builder.write(expression, frame), expression, builder.zone)
    data = frame.data.selectExpr(*frame.kept, f"{moment} AS {WATERMARK}")
    if stage.stamps:
        data = stamped(data)
    if not stage.declared:
        return frame.over(data.drop(WATERMARK), stamped=stage.stamps)
    from tidemark.spark.stateful.end_of_input import with_watermark

    folder = None if stage.end is None else builder.end_folder(stage.end)
    data = with_watermark(data, WATERMARK, folder, builder.followed(stage))
    return frame.over(data, followed=True, stamped=stage.stamps)


def _with_event_times(builder: Builder, stage: WatermarkStage) -> Frame:
    """The rows, of which one without an event time is faulty.

    Spark evaluates event times once more for this. Where an operator checks them, it is only worth
    it to say which file the row is from.
    """
    node, below = stage.node, builder.build(stage.inputs[0])
    time = spark_text.name(below.columns[node.edge.names.index(node.column)])
    missing = f"{time} IS NULL"
    if below.changelog is Changelog.UPSERT:
        # A delete may have nothing but its key.
        missing = f"{missing} AND {KIND} <> '-D'"
    if node.drops_untimed:
        below = below.over(below.data.where(f"{time} IS NOT NULL OR {KIND} <> '-D'"))
    if stage.checked_above and not below.placed:
        return below
    if not node.checks:
        return below.over(below.data.drop(PLACE), placed=False) if below.placed else below
    row = ", ".join(spark_text.name(below.columns[place]) for place in node.read)
    facts = {
        "problem": spark_text.string(f"event time `{node.column}` is NULL"),
        "reason": spark_text.string("every row of a stream needs an event time"),
        "record": f"to_json(struct({row}))",
    }
    if below.placed:
        facts["file"] = PLACE
    fault = f"CASE WHEN {missing} THEN {with_details(facts)} END"
    return replace(below, placed=False).with_fault(fault)


def _observed(names: list[str], builder: Builder, stage: WatermarkStage, frame: Frame) -> Frame:
    """The rows, with a metric of their watermark: no operator waits for it, but the sink does."""
    from pyspark.sql.functions import expr

    name = metric_of_watermark(names)
    expression = stage.node.expression
    moment = instant(builder.write(expression, frame), expression, builder.zone)
    greatest = expr(f"max(unix_millis({moment}))").alias("ms")
    return frame.over(frame.data.observe(name, greatest))


def metric_of_watermark(names: list[str]) -> str:
    """The name of another metric, for which the keeper of the sink will look."""
    names.append(f"{SOURCE_WATERMARK}{len(names)}")
    return names[-1]


def instant(text: str, expression: Expression, zone: str) -> str:
    """Event time as the TIMESTAMP that Spark wants; wall-clock time counts as UTC."""
    if isinstance(expression.type, t.TimestampLtz):
        return text
    if is_utc(zone):
        return f"CAST({text} AS TIMESTAMP)"
    # Not through a cast, which would read the clock of the session's zone.
    epoch = spark_text.string("1970-01-01")
    days = f"CAST(datediff({text}, DATE {epoch}) AS BIGINT)"
    seconds = f"CAST(extract(SECOND FROM {text}) * 1000000 AS BIGINT)"
    clock = f"hour({text}) * 3600000000L + minute({text}) * 60000000L + {seconds}"
    return f"timestamp_micros({days} * 86400000000L + {clock})"
