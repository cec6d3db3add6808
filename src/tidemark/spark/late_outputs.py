"""Late rows together with the results of the operator that drops them: one query, several sinks.

The output of the query is that of the operator, packed. Each micro-batch is cached until all sinks
have written their part of it, so the operator runs once; what follows the operator in the plan is
computed separately for each sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.functions.moments import clock_of_millis
from tidemark.operators.outlets import late_column
from tidemark.physical import Compute, Operator, Stage
from tidemark.plan.nodes import LateOutput
from tidemark.spark.caching import computed_once
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.handover import Consume, Handover
from tidemark.spark.upkeep import together
from tidemark.spark.windowed import called

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.packed_rows import PackedRows


@dataclass(frozen=True, slots=True)
class Above:
    """The part of a plan that follows the last operator, which hands out or passes on late rows, up
    to `stage`.
    """

    builder: Builder
    stage: Stage
    operator: Operator
    packed: PackedRows

    @classmethod
    def of(cls, builder: Builder, stage: Stage) -> Self | None:
        """None if no operator of the plan hands out late rows."""
        if not builder.handing_out:
            return None
        # The operators above pass on what those below hand out.
        operator, packed = builder.handing_out[-1]
        return cls(builder, stage, operator, packed)

    def handover(self, consume: Consume, readers: Sequence[tuple[Stage, Consume]]) -> Handover:
        """The whole output of the operator, for the consumer of its results and for the readers of
        late rows.
        """
        parts = [(self.stage, consume), *readers]
        # This registers functions before the query starts.
        samples = [taken(self._frame(stage, self.packed.data)) for stage, taken in parts]
        upkeep = together([one.upkeep for one in samples if one.upkeep is not None])

        def deliver(data: DataFrame, batch_id: int | None) -> int:
            with computed_once(data, batch_id):
                return sum(self._deliver(part, data, batch_id) for part in parts)

        return Handover(self.packed.data, deliver, upkeep=upkeep)

    def _deliver(self, part: tuple[Stage, Consume], data: DataFrame, batch_id: int | None) -> int:
        stage, consume = part
        handover = consume(self._frame(stage, data))
        return handover.deliver(handover.data, batch_id)

    def _frame(self, stage: Stage, data: DataFrame) -> Frame:
        """A stage over the output of the operator."""
        given = replace(self.packed, data=data, kept=True)

        def lower(builder: Builder, stage: Stage) -> Frame:
            if stage is self.operator:
                edge = self.operator.edge
                return Frame.of(given.alone, names_of(edge), edge.changelog)
            if isinstance(stage, Compute) and isinstance(stage.node, LateOutput):
                return _late_rows(stage.node, given.handed_out(stage.node.outlet))
            return self.builder.lower(builder, stage)

        return replace(self.builder, lower=lower).build(stage).checked()


def _late_rows(node: LateOutput, packed: PackedRows) -> Frame:
    from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK

    time = node.details[1].type
    values = [
        *(late_column(node.outlet, place) for place in node.places),
        spark_text.string(node.operator),
        moment(LATE_TIME, time),
        moment(LATE_WATERMARK, time),
        f"{LATE_WATERMARK} - {LATE_TIME}",
        LATE_KIND,
    ]
    columns = called(values[: len(node.edge.columns)], node.edge)
    return Frame(packed.rows.selectExpr(*columns), names_of(node.edge), Changelog.APPEND)


def moment(milliseconds: str, time: t.DataType) -> str:
    """Milliseconds as a time of this type, in Spark SQL."""
    zoned = isinstance(time, t.TimestampLtz)
    return f"timestamp_millis({milliseconds})" if zoned else clock_of_millis(milliseconds)
