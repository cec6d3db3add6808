"""Lookup joins in Spark's workers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.connectors.lookups import Lookup
from tidemark.errors import NeedsSpark
from tidemark.local.builder import LocalBuilder
from tidemark.local.lookups.dimension import Dimension, DimensionRows, of_rows, of_table, refused
from tidemark.local.lookups.join import current
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.physical import Compute, Operator, Settings, Stage, WatermarkStage, physical_plan
from tidemark.plan.nodes import LookupJoin, Scan
from tidemark.plan.nodes.scan import Emitted
from tidemark.spark.builder import Builder, StateSettings
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import KIND, Frame, names_of
from tidemark.spark.shipped_modules import ship

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql.types import StructType


# The rows that are joined at once.
_AT_ONCE = 1 << 16


def joined(stage: Compute, builder: Builder) -> Frame:
    """The rows of a lookup join of Spark's rows."""
    from tidemark.spark.stateful.packed_rows import arrow_schema

    node, below = stage.node, builder.build(stage.inputs[0]).alone()
    assert isinstance(node, LookupJoin)
    started = dt.datetime.fromtimestamp(builder.start.at_ms / 1000, dt.UTC)
    _check_condition(node, builder.zone, started)
    alone = replace(prepared(node, builder), left=Emitted(node.left.edge))
    names, schema = names_of(node.edge), _schema(node, below)
    join = _Joining(alone, builder.zone, started, below.columns, arrow_schema(schema))
    rows = below.data.select(*below.kept).mapInArrow(join, schema)
    return below.over(rows, columns=names)


def _check_condition(node: LookupJoin, zone: str, now: dt.datetime) -> None:
    """Check that workers can test which rows match."""
    builder = LocalBuilder(zone, 0, now, _no_table, lower)
    rows = LocalRows(lambda: iter(()), names_of(node.edge))
    try:
        if node.condition is not None:
            builder.program([node.condition], rows, node)
    except NeedsSpark as problem:
        where = "in the condition of a left lookup join"
        raise refused(problem, where) from None


def with_dimensions(stage: Stage, builder: Builder) -> Stage:
    """The stage as workers can run it: of the right sides of lookup joins they know how to find the
    rows.
    """
    match stage:
        case Compute(node=node):
            inputs = tuple(with_dimensions(below, builder) for below in stage.inputs)
            ready = prepared(node, builder) if isinstance(node, LookupJoin) else node
            return replace(stage, node=ready, inputs=inputs)
        case WatermarkStage(inputs=(below,)):
            return replace(stage, inputs=(with_dimensions(below, builder),))
        case Operator():
            return stage  # that is lowered by itself
    return stage


def prepared(node: LookupJoin, builder: Builder) -> LookupJoin:
    """The join with what workers must know of its right side."""
    edge = node.right.edge
    if isinstance(node.right, DimensionRows):
        return node
    dimension = of_table(node, builder.zone, lower, access_of(builder.spark))
    if dimension is not None:
        ship(builder.spark, dimension.lookup.modules)
    found = dimension or _computed(node, builder)
    return replace(node, right=DimensionRows(edge, dimension=found))


def _computed(node: LookupJoin, builder: Builder) -> Dimension:
    """The rows of a plan, which Spark computes now. They are sent along with the job."""
    import pyarrow as pa

    plan = physical_plan(node.right, Settings(builder.zone), streaming=False)
    batch = replace(builder, streaming=False, state=StateSettings(builder.state.buckets))
    frame = batch.build(plan.root).alone().checked()
    kinds = () if frame.changelog is Changelog.APPEND else (KIND,)
    table = frame.data.select(*frame.columns, *kinds).toArrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as to:
        to.write_table(table)
    lookup = Lookup(load=_Sent(sink.getvalue().to_pybytes(), frame.columns, frame.changelog))
    return of_rows(node, lookup, frame.columns, builder.zone)


@dataclass(frozen=True, slots=True)
class _Sent:
    """Rows, or changes of rows, as bytes."""

    rows: bytes
    columns: tuple[str, ...]
    changelog: Changelog

    def __call__(self) -> Iterator[pl.DataFrame]:
        import polars as pl
        import pyarrow as pa

        frame = pl.from_arrow(pa.ipc.open_file(self.rows).read_all())
        assert isinstance(frame, pl.DataFrame)
        yield from current(LocalRows(lambda: iter([frame]), self.columns, self.changelog))


def _schema(node: LookupJoin, below: Frame) -> StructType:
    """The columns of the left side, those that are found, and what goes along with left rows."""
    from pyspark.sql.types import StructField, StructType

    from tidemark.spark.types import to_spark

    names, given = names_of(node.edge), below.data.schema
    width = len(below.columns)
    left = [
        StructField(name, given[old].dataType)
        for name, old in zip(names, below.columns, strict=False)
    ]
    right = zip(names[width:], node.right.edge.types, strict=True)
    found = [StructField(name, to_spark(type_)) for name, type_ in right]
    return StructType([*left, *found, *(given[name] for name in below.extra)])


@dataclass(frozen=True, slots=True)
class _Joining:
    """Joins the rows of a partition, for `DataFrame.mapInArrow`."""

    node: LookupJoin
    zone: str
    now: dt.datetime
    columns: tuple[str, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import polars as pl

        from tidemark.local.lookups.join import LookupStep
        from tidemark.runtime.combining import gathered
        from tidemark.runtime.times import in_schema

        builder = LocalBuilder(self.zone, 0, self.now, _no_table, lower)
        step = LookupStep.of(builder, self.node, LocalRows(lambda: iter(()), self.columns))
        for table in gathered(batches, _AT_ONCE):
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)
            for joined in step(frame):
                yield from in_schema(joined, self.schema)


def _no_table(scan: Scan, _: LocalBuilder) -> LocalRows:
    raise AssertionError(f"a table on the left of a lookup join: {scan.table.name}")
