"""Tables that Spark's workers read in columns, with what is computed of their rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem.file_parts import pieces as pieces_of
from tidemark.errors import DataError, NeedsSpark, TidemarkError
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import LocalBuilder
from tidemark.local.faults import checked
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.local.sources import request_of, rows_of
from tidemark.physical import ColumnStage, Compute, Operator, Stage, TableFacts, WatermarkStage
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Scan
from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.source_report import SourceReport
from tidemark.session import sources
from tidemark.session.computed_in_workers import computed
from tidemark.session.lookups_in_workers import with_dimensions
from tidemark.spark.builder import Builder
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import Frame, schema_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from tidemark.spark.stateful.shared_reading import Piece, Pieces


def can_read(scan: Scan, streaming: bool) -> bool:
    """Whether workers should read a table: they can, and it is so large that several should share
    it; or it is a stream.
    """
    try:
        if registry.lookup(scan.table).always_in_columns:
            return True
        request = request_of(scan, "UTC", dt.datetime.now(dt.UTC))
        return _can_stream(request) if streaming else bool(_tasks(request))
    except TidemarkError:  # a table without files is explained too
        return False


def size_of(scan: Scan) -> int | None:
    """About how many bytes the rows of a table are; None if that is not known."""
    try:
        size = registry.lookup(scan.table).size
        return None if size is None else size(request_of(scan, "UTC", dt.datetime.now(dt.UTC)))
    except (OSError, TidemarkError):  # whoever reads the table will say what is wrong
        return None


def reads_once(scan: Scan, streaming: bool) -> bool:
    """Whether workers read each part of a table once for all operators."""
    try:
        asks = registry.lookup(scan.table).reads_once
        request = request_of(scan, "UTC", dt.datetime.now(dt.UTC))
        return asks is not None and asks(request, streaming)
    except (OSError, TidemarkError):  # whoever reads the table will say what is wrong
        return False


def _is_read_here(scan: Scan, _: bool) -> bool:
    """Whether this process reads a table block by block; it never keeps more than one of them."""
    return registry.lookup(scan.table).reads_files


TABLES = TableFacts(can_read, size_of, reads_once)
TABLES_READ_HERE = TableFacts(reads_once=_is_read_here)


def read(stage: ColumnStage, builder: Builder) -> Frame:
    """The rows of a stage, which are made by the workers that need them."""
    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.stateful.packing import PAYLOAD
    from tidemark.spark.stateful.shared_reading import in_one_piece

    pieces: Pieces
    source = _source_of(stage.stage)
    if isinstance(source, Operator):
        return computed(stage, source, builder)
    assert isinstance(source, Compute) and isinstance(source.node, Scan)
    scan = source.node
    request = request_of(scan, builder.zone, _started(builder), builder.start.seed)
    request = replace(
        request, marks=sources.marks_of(scan, builder), access=access_of(builder.spark)
    )
    if builder.streaming:
        arriving = registry.lookup(scan.table).arriving
        assert arriving is not None
        data, parts_of = arriving(sources.request_of(scan, builder)), _arriving
        pieces = _pieces
    else:
        tasks = tuple(_tasks(request))
        data = builder.spark.range(0, len(tasks), 1, len(tasks)).toDF(PAYLOAD)
        parts_of, pieces = partial(_parts, tasks), in_one_piece
    # A watermark that Spark follows is above: it names the files of rows without a time.
    placed = request.placed and not any(isinstance(part, WatermarkStage) for part in walk(stage))
    made = _Made(with_dimensions(stage.stage, builder), request, parts_of, stage.follows)
    packed = PackedRows(
        data,
        schema_of(stage.edge, placed=placed),
        in_files=False,
        made=made,
        made_once=made,
        reading=builder.reading(stage.reading, pieces),
        named=True,
        watermark=_metric(stage, builder),
    )
    frame = Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)
    return replace(frame, placed=placed)


def _metric(stage: ColumnStage, builder: Builder) -> str | None:
    """The metric for the watermark of a stream, if no operator follows it but the sink does."""
    from tidemark.spark.watermarks import metric_of_watermark

    if builder.watermarks is None or not stage.follows:
        return None
    return metric_of_watermark(builder.watermarks)


def _started(builder: Builder) -> dt.datetime:
    return dt.datetime.fromtimestamp(builder.start.at_ms / 1000, dt.UTC)


def _can_stream(request: ColumnsRequest) -> bool:
    connector = registry.lookup(request.table)
    if connector.can_stream_columns is None or connector.read_columns is None:
        return False
    connector.read_columns(replace(request, parts=()))  # raises NeedsSpark
    return connector.can_stream_columns(request)


def _tasks(request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
    """What each task reads; nothing if workers cannot, or if the table is too small."""
    connector = registry.lookup(request.table)
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
    yield from (Part(**fields) for fields in parts.to_pylist())


def _pieces(parts: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
    """What a task reads of a stream at a time, and whether it may be kept for several inputs."""
    import pyarrow as pa

    tables = [pa.Table.from_batches([batch]) for batch in parts if batch.num_rows]
    if not tables:
        return
    everything = pa.concat_tables(tables).combine_chunks()
    [whole] = everything.to_batches()
    start = 0
    for few, fits in pieces_of([*_arriving(whole)]):
        yield [whole.slice(start, len(few))], fits
        start += len(few)


def _source_of(stage: Stage) -> Stage:
    """What the first rows are of: a table or an operator."""
    while isinstance(stage, Compute | WatermarkStage) and stage.inputs:
        [stage] = stage.inputs
    return stage


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
        self,
        batches: Iterator[pa.RecordBatch],
        report: SourceReport,
        kept: MadeOnce[pl.DataFrame] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        from tidemark.runtime.times import in_schema

        file = ""

        def parts() -> Iterator[Part]:
            nonlocal file
            for part in chain.from_iterable(map(self.made.parts_of, batches)):
                file = part.file
                if part.is_counted:
                    report.add(-1, 0)
                yield part

        request = replace(self.made.request, parts=parts(), count=report.add, mark=report.mark)

        def read(scan: Scan, _: LocalBuilder) -> LocalRows:
            rows = rows_of(request, scan)
            return rows if kept is None else replace(rows, frames=lambda: kept.of(rows.frames))

        builder = LocalBuilder(
            request.zone,
            0,
            request.now,
            read,
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


def _in_file(problem: DataError, file: str) -> DataError:
    """The problem with its file if there is one, unless it says so itself."""
    if problem.message.startswith(file):
        return problem
    return DataError(f"{file}  {problem.message}", notes=problem.notes, hint=problem.hint)
