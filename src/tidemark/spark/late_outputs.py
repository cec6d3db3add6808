"""Late rows together with the results of the operator that drops them: one query, several sinks.

The output of the query is that of the operator, packed, or the union of what several operators
emit. Each micro-batch is cached until all sinks have written their part of it, so the operators run
once; what follows them in the plan is computed separately for each sink.
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
from tidemark.physical import Compute, Stage
from tidemark.plan.nodes import LateOutput
from tidemark.spark.caching import computed_once
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.handover import Consume, Handover
from tidemark.spark.jobs import Computed, nothing
from tidemark.spark.stateful.packed_rows import PackedRows
from tidemark.spark.upkeep import together
from tidemark.spark.windowed import called

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.builder import Builder


@dataclass(frozen=True, slots=True)
class Above:
    """The part of a plan that follows `last`, an operator or a union, which has all late rows of
    the plan in its `output`, up to `stage`.
    """

    builder: Builder
    stage: Stage
    last: Stage
    output: PackedRows | Frame

    @classmethod
    def of(cls, builder: Builder, stage: Stage) -> Self | None:
        """None if no operator of the plan hands out late rows."""
        if not builder.handing_out:
            return None
        # The operators above pass on what those below hand out.
        last, output = builder.handing_out[-1]
        return cls(builder, stage, last, output)

    def handover(self, consume: Consume, readers: Sequence[tuple[Stage, Consume]]) -> Handover:
        """The whole output, for the consumer of its results and for the readers of late rows."""
        parts = [(self.stage, consume), *readers]
        # This registers functions before the query starts.
        samples = [taken(self._frame(stage, self.output.data)) for stage, taken in parts]
        upkeep = together([one.upkeep for one in samples if one.upkeep is not None])

        def deliver(data: DataFrame, batch_id: int | None, _: Computed) -> int:
            with computed_once(data, batch_id):
                return sum(self._deliver(part, data, batch_id) for part in parts)

        return Handover(self.output.data, deliver, upkeep=upkeep)

    def _deliver(self, part: tuple[Stage, Consume], data: DataFrame, batch_id: int | None) -> int:
        stage, consume = part
        handover = consume(self._frame(stage, data))
        return handover.deliver(handover.data, batch_id, nothing)

    def _frame(self, stage: Stage, data: DataFrame) -> Frame:
        """A stage over the whole output."""

        def lower(builder: Builder, stage: Stage) -> Frame:
            if stage is self.last:
                return self._results(data)
            if isinstance(stage, Compute) and isinstance(stage.node, LateOutput):
                return _late_rows(stage.node, self._packed(data).handed_out(stage.node.outlet))
            return self.builder.lower(builder, stage)

        frame = replace(self.builder, lower=lower).build(stage).checked()
        return replace(frame, seed=self.builder.start.seed)

    def _results(self, data: DataFrame) -> Frame:
        if isinstance(self.output, Frame):
            return self.output.over(data).alone()
        edge = self.last.edge
        return Frame.of(self._packed(data).alone, names_of(edge), edge.changelog)

    def _packed(self, data: DataFrame) -> PackedRows:
        """The late rows, which are packed; and the results if they are packed too."""
        if isinstance(self.output, Frame):
            rows, late = data.schema, self.output.late
            return PackedRows(data, rows, in_files=False, late=late, kept=True)
        return replace(self.output, source=data, kept=True)


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
