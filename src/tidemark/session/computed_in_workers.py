"""Rows that operators emit, with what workers compute of them in columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import LocalBuilder
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.physical import ColumnStage, Compute, Operator, Stage
from tidemark.plan.nodes import Emitted, Scan
from tidemark.runtime.source_report import SourceReport
from tidemark.session.lookups_in_workers import with_dimensions
from tidemark.spark.builder import Builder
from tidemark.spark.frame import Frame, schema_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from tidemark.spark.stateful.counted import Read
    from tidemark.spark.stateful.packing import Unpack

# The rows of an operator that are computed at once. They may go on as rows of Spark.
_AT_ONCE = 1 << 16


def computed(stage: ColumnStage, operator: Operator, builder: Builder) -> Frame:
    """What is computed of the rows that the operator below the stage emits."""
    below = builder.build(operator)
    if below.packed is None or below.late:
        return _by_spark(stage.stage, operator, below, builder)
    made = _Computed(
        _above(with_dimensions(stage.stage, builder)),
        builder.zone,
        below.columns,
        below.changelog,
        below.packed.unpack,
        below.stamped,
    )
    groups = below.packed.groups
    if groups is not None:
        groups = replace(groups, computed=made.of_emitted)
    packed = replace(
        below.packed,
        schema=schema_of(stage.edge, stamped=below.stamped),
        in_files=False,
        late={},
        made=made,
        groups=groups,
    )
    frame = Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)
    return replace(frame, stamped=below.stamped)


def _by_spark(stage: Stage, operator: Operator, below: Frame, builder: Builder) -> Frame:
    """The same by Spark, which lets late rows go along."""

    def lower_above(builder_above: Builder, part: Stage) -> Frame:
        return below if part is operator else builder.lower(builder_above, part)

    return replace(builder, lower=lower_above).build(stage)


def _above(stage: Stage) -> Compute:
    """The stage over the bare rows of the operator. What is below it stays on the driver: workers
    need none of it, and it may contain DataFrames, which cannot be sent to them.
    """
    if isinstance(stage, Operator):
        return Compute(Emitted(stage.edge), ())
    assert isinstance(stage, Compute)
    [below] = map(_above, stage.inputs)
    return Compute(stage.node.with_inputs([below.node]), (below,))


@dataclass(frozen=True, slots=True)
class _Computed:
    """Makes what computes rows of those that an operator emits."""

    stage: Compute
    zone: str
    columns: tuple[str, ...]
    changelog: Changelog
    unpack: Unpack
    stamped: bool

    def __call__(self, schema: pa.Schema) -> Read:
        def read(batches: Iterator[pa.RecordBatch], _: SourceReport) -> Iterator[pa.RecordBatch]:
            from tidemark.runtime.times import in_schema

            for frame in self._computed(_frames(self.unpack(batches))):
                if frame.height:
                    yield from in_schema(frame, schema)

        return read

    def of_emitted(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """What is computed of frames as an operator emits them."""
        from tidemark.runtime.times import called, polars_schema

        schema = self.unpack.schema
        types = polars_schema(schema)
        return self._computed(called(frame, schema).cast(types) for frame in frames)

    def _computed(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        given = LocalRows(lambda: frames, self.columns, self.changelog, self.stamped)
        return self._builder(given).build(self.stage).frames()

    def _builder(self, given: LocalRows) -> LocalBuilder:
        def lower_above(builder: LocalBuilder, stage: Stage) -> LocalRows:
            is_given = isinstance(stage, Compute) and isinstance(stage.node, Emitted)
            return given if is_given else lower(builder, stage)

        now = dt.datetime.now(dt.UTC)  # which no function here reads
        return LocalBuilder(self.zone, 0, now, _no_table, lower_above)


def _frames(batches: Iterator[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
    """The rows, some thousands at a time: what an operator emits is in pieces by key group."""
    import polars as pl

    from tidemark.runtime.combining import gathered

    for table in gathered(batches, _AT_ONCE):
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        yield frame


def _no_table(scan: Scan, _: LocalBuilder) -> LocalRows:
    raise AssertionError(f"a table above an operator: {scan.table.name}")
