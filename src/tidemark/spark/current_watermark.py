"""The watermark before each row, as a column that comes from the row's source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.functions import spark_text
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.plan.nodes import CurrentWatermark
from tidemark.spark.frame import SEEN, Frame, names_of
from tidemark.spark.late_outputs import moment
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stamps import Latest, stamped
from tidemark.spark.watermarks import instant

if TYPE_CHECKING:
    from tidemark.physical import Compute
    from tidemark.spark.builder import Builder


def current_watermark(builder: Builder, stage: Compute) -> Frame:
    """The rows, all read by one task. In a stream it notes what the watermark was after each
    micro-batch, and reads what it was before."""
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, CurrentWatermark)
    latest = None
    if builder.streaming:
        latest = Latest(builder.current_watermark_folder(node.number))
    time = instant(builder.write(node.expression, below), node.expression, builder.zone)
    data = below.data.selectExpr(*below.kept, f"{time} AS {WATERMARK}")
    data = stamped(data, latest, each_row=node.is_ordered)
    *names, own = names_of(node.edge)
    met = moment(SEEN, node.edge.types[-1])
    values = [
        *(
            f"{spark_text.name(old)} AS {spark_text.name(new)}"
            for old, new in zip(below.columns, names, strict=True)
        ),
        f"CASE WHEN {SEEN} <> {BEFORE_ALL}L THEN {met} END AS {spark_text.name(own)}",
    ]
    return below.over(data.selectExpr(*values, *below.extra), columns=(*names, own))
