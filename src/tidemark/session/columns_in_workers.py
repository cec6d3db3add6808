"""Tables that Spark's workers read in columns, with what is computed of their rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from tidemark.physical import ColumnStage, Compute, Stage
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Scan
from tidemark.spark.builder import Builder
from tidemark.spark.frame import KIND, Frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


def can_read(scan: Scan) -> bool:
    """Whether a table is so large that several workers should read it, and they can."""
    try:
        return bool(_tasks(request_of(scan, "UTC", dt.datetime.now(dt.UTC))))
    except TidemarkError:  # a table without files is explained too
        return False


def read(stage: ColumnStage, builder: Builder) -> Frame:
    """The rows of a stage, which are made by the workers that need them."""
    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.stateful.packing import PAYLOAD

    request = request_of(_scan_of(stage), builder.zone, dt.datetime.now(dt.UTC))
    tasks = _tasks(request)
    numbers = builder.spark.range(0, len(tasks), 1, len(tasks)).toDF(PAYLOAD)
    made = _Made(stage.stage, request, tuple(tasks))
    packed = PackedRows(numbers, _schema_of(stage), in_files=False, made=made)
    return Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)


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


def _scan_of(stage: ColumnStage) -> Scan:
    computed = (part.node for part in walk(stage) if isinstance(part, Compute))
    [scan] = (node for node in computed if isinstance(node, Scan))
    return scan


def _schema_of(stage: ColumnStage) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    from tidemark.spark.types import to_spark

    pairs = zip(safe_names(stage.edge.names), stage.edge.types, strict=True)
    kinds = [] if stage.edge.changelog is Changelog.APPEND else [StructField(KIND, StringType())]
    return StructType([*(StructField(name, to_spark(type_)) for name, type_ in pairs), *kinds])


@dataclass(frozen=True, slots=True)
class _Made:
    """Makes the rows of tasks by their numbers."""

    stage: Stage
    request: ColumnsRequest
    tasks: tuple[tuple[Part, ...], ...]

    def __call__(self, schema: pa.Schema) -> _Opener:
        return _Opener(self, schema)


@dataclass(frozen=True, slots=True)
class _Opener:
    made: _Made
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from chain.from_iterable(map(self._rows, self.made.tasks[number]))

    def _rows(self, part: Part) -> Iterator[pa.RecordBatch]:
        from tidemark.runtime.times import in_schema

        request = replace(self.made.request, parts=(part,))

        def read(scan: Scan, _: LocalBuilder) -> LocalRows:
            return rows_of(request, scan)

        builder = LocalBuilder(request.zone, 0, request.now, read, lower)
        try:
            for frame in checked(builder.build(self.made.stage)).frames():
                if frame.height:
                    yield from in_schema(frame, self.schema)
        except DataError as problem:
            raise _in_file(problem, part.file) from None


def _in_file(problem: DataError, file: str) -> DataError:
    """The problem with its file, unless it says so itself."""
    if problem.message.startswith(file):
        return problem
    return DataError(f"{file}  {problem.message}", notes=problem.notes, hint=problem.hint)
