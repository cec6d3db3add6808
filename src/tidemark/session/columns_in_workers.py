"""Tables that Spark's workers read in columns, with what is computed of their rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tidemark import connectors
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.errors import DataError, NeedsSpark, TidemarkError
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import LocalBuilder
from tidemark.local.faults import checked
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.local.sources import request_of, rows_of
from tidemark.physical import ColumnStage, Compute, Operator, Stage, WatermarkStage
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Scan
from tidemark.runtime.source_report import SourceReport
from tidemark.session import sources
from tidemark.spark.builder import Builder
from tidemark.spark.frame import KIND, PLACE, Frame

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from tidemark.spark.stateful.counted import Opener, Read


# The rows of an operator that are computed at once. They may go on as rows of Spark.
_AT_ONCE = 1 << 16


def can_read(scan: Scan, streaming: bool) -> bool:
    """Whether workers should read a table: they can, and it is so large that several should share
    it; or it is a stream.
    """
    try:
        request = request_of(scan, "UTC", dt.datetime.now(dt.UTC))
        return _can_stream(request) if streaming else bool(_tasks(request))
    except TidemarkError:  # a table without files is explained too
        return False


def read(stage: ColumnStage, builder: Builder) -> Frame:
    """The rows of a stage, which are made by the workers that need them."""
    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.stateful.packing import PAYLOAD

    source = _source_of(stage.stage)
    if isinstance(source, Operator):
        return _computed(stage, source, builder)
    assert isinstance(source, Compute) and isinstance(source.node, Scan)
    scan = source.node
    request = request_of(scan, builder.zone, dt.datetime.now(dt.UTC))
    if builder.streaming:
        arriving = connectors.lookup(scan.table).arriving
        assert arriving is not None
        data, parts_of = arriving(sources.request_of(scan, builder)), _arriving
    else:
        tasks = tuple(_tasks(request))
        data = builder.spark.range(0, len(tasks), 1, len(tasks)).toDF(PAYLOAD)
        parts_of = partial(_parts, tasks)
    # A watermark that Spark follows is above: it names the files of rows without a time.
    placed = request.placed and not any(isinstance(part, WatermarkStage) for part in walk(stage))
    made = _Made(stage.stage, request, parts_of, stage.follows)
    packed = PackedRows(data, _schema_of(stage, placed), in_files=False, made=made, named=True)
    frame = Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)
    return replace(frame, placed=placed)


def _computed(stage: ColumnStage, operator: Operator, builder: Builder) -> Frame:
    """What is computed of the rows that an operator emits."""
    below = builder.build(operator)
    if below.packed is None or below.late:
        return _by_spark(stage.stage, operator, below, builder)
    made = _Computed(stage.stage, builder.zone, below.columns, below.changelog, below.packed.unpack)
    packed = replace(
        below.packed, schema=_schema_of(stage, False), in_files=False, late={}, made=made
    )
    return Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)


def _by_spark(stage: Stage, operator: Operator, below: Frame, builder: Builder) -> Frame:
    """The same by Spark, which lets late rows go along."""

    def lower_above(builder_above: Builder, part: Stage) -> Frame:
        return below if part is operator else builder.lower(builder_above, part)

    return replace(builder, lower=lower_above).build(stage)


def _can_stream(request: ColumnsRequest) -> bool:
    connector = connectors.lookup(request.table)
    if connector.can_stream_columns is None or connector.read_columns is None:
        return False
    connector.read_columns(replace(request, parts=()))  # raises NeedsSpark
    return connector.can_stream_columns(request)


def _tasks(request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
    """What each task reads; nothing if workers cannot, or if the table is too small."""
    connector = connectors.lookup(request.table)
    if connector.parts is None or connector.read_columns is None:
        return ()
    tasks = connector.parts(request)
    if tasks is None:
        return ()
    try:
        connector.read_columns(replace(request, parts=()))
    except NeedsSpark:
        return ()
    return tasks


def _parts(tasks: tuple[tuple[Part, ...], ...], numbers: pa.RecordBatch) -> Iterator[Part]:
    """The parts of tasks with these numbers."""
    for number in numbers.column(0).to_pylist():
        yield from tasks[number]


def _arriving(parts: pa.RecordBatch) -> Iterator[Part]:
    yield from map(Part, *(column.to_pylist() for column in parts.columns))


def _source_of(stage: Stage) -> Stage:
    """What the first rows are of: a table or an operator."""
    while isinstance(stage, Compute | WatermarkStage) and stage.inputs:
        [stage] = stage.inputs
    return stage


def _schema_of(stage: ColumnStage, placed: bool) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    from tidemark.spark.types import to_spark

    pairs = zip(safe_names(stage.edge.names), stage.edge.types, strict=True)
    kinds = [] if stage.edge.changelog is Changelog.APPEND else [StructField(KIND, StringType())]
    columns = [StructField(name, to_spark(type_)) for name, type_ in pairs]
    return StructType([*columns, *kinds, *[StructField(PLACE, StringType())] * placed])


@dataclass(frozen=True, slots=True)
class _Made:
    """Makes what reads the parts that the values of batches stand for."""

    stage: Stage
    request: ColumnsRequest
    parts_of: Callable[[pa.RecordBatch], Iterator[Part]]
    follows: bool

    def __call__(self, schema: pa.Schema) -> _Opener:
        return _Opener(self, schema)


@dataclass(frozen=True, slots=True)
class _Opener:
    made: _Made
    schema: pa.Schema

    def __call__(
        self, batches: Iterator[pa.RecordBatch], report: SourceReport
    ) -> Iterator[pa.RecordBatch]:
        from tidemark.runtime.times import in_schema

        file = ""

        def parts() -> Iterator[Part]:
            nonlocal file
            for part in chain.from_iterable(map(self.made.parts_of, batches)):
                file = part.file
                if part.start == 0:
                    report.add(-1, 0)  # Spark has counted the file
                yield part

        request = replace(self.made.request, parts=parts(), count=report.add)
        builder = LocalBuilder(
            request.zone,
            0,
            request.now,
            lambda scan, _: rows_of(request, scan),
            lower,
            report=report,
            follows=self.made.follows,
        )
        try:
            for frame in checked(builder.build(self.made.stage)).frames():
                if frame.height:
                    yield from in_schema(frame, self.schema)
        except DataError as problem:
            raise _in_file(problem, file) from None


@dataclass(frozen=True, slots=True)
class _Computed:
    """Makes what computes rows of those that an operator emits."""

    stage: Stage
    zone: str
    columns: tuple[str, ...]
    changelog: Changelog
    unpack: Opener

    def __call__(self, schema: pa.Schema) -> Read:
        def read(batches: Iterator[pa.RecordBatch], _: SourceReport) -> Iterator[pa.RecordBatch]:
            from tidemark.runtime.times import in_schema

            given = LocalRows(lambda: _frames(self.unpack(batches)), self.columns, self.changelog)
            for frame in self._builder(given).build(self.stage).frames():
                if frame.height:
                    yield from in_schema(frame, schema)

        return read

    def _builder(self, given: LocalRows) -> LocalBuilder:
        def lower_above(builder: LocalBuilder, stage: Stage) -> LocalRows:
            return given if isinstance(stage, Operator) else lower(builder, stage)

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


def _in_file(problem: DataError, file: str) -> DataError:
    """The problem with its file, unless it says so itself."""
    if problem.message.startswith(file):
        return problem
    return DataError(f"{file}  {problem.message}", notes=problem.notes, hint=problem.hint)
