"""Tables that Spark's workers read in columns, with what is computed of their rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark import connectors
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.errors import NeedsSpark
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import LocalBuilder
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.local.sources import request_of
from tidemark.physical import ColumnStage, Stage
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Scan
from tidemark.spark.builder import Builder
from tidemark.spark.frame import KIND, Frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class InWorkers:
    """Reads tables in columns if they are so large that several workers should."""

    zone: str
    now: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    def can_read(self, scan: Scan) -> bool:
        return self._tasks(scan) is not None

    def __call__(self, stage: ColumnStage, builder: Builder) -> Frame:
        """The rows of a stage, which are made by the workers that need them."""
        from tidemark.spark.stateful.packed_rows import PackedRows
        from tidemark.spark.stateful.packing import PAYLOAD

        tasks = self._tasks(_scan_of(stage))
        assert tasks is not None
        schema = _schema_of(stage)
        count = max(len(tasks), 1)
        numbers = builder.spark.range(0, count, 1, count).toDF(PAYLOAD)
        made = _Made(stage.stage, self._request(_scan_of(stage)), tuple(tasks))
        packed = PackedRows(numbers, schema, in_files=False, made=made)
        return Frame.of(packed, safe_names(stage.edge.names), stage.edge.changelog)

    def _tasks(self, scan: Scan) -> list[tuple[Part, ...]] | None:
        connector = connectors.lookup(scan.table)
        if connector.parts is None or connector.read_columns is None:
            return None
        request = self._request(scan)
        try:
            tasks = connector.parts(request)
            connector.read_columns(request)
        except NeedsSpark:
            return None
        return None if tasks is None else [*tasks]

    def _request(self, scan: Scan) -> ColumnsRequest:
        return request_of(scan, self.zone, self.now)


def _scan_of(stage: ColumnStage) -> Scan:
    [scan] = [
        part.node for part in walk(stage) if hasattr(part, "node") and isinstance(part.node, Scan)
    ]
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
                if number < len(self.made.tasks):
                    yield from self._rows(self.made.tasks[number])

    def _rows(self, parts: tuple[Part, ...]) -> Iterator[pa.RecordBatch]:
        from tidemark.runtime.times import in_schema

        request = replace(self.made.request, parts=parts)

        def read(scan: Scan, _: LocalBuilder) -> LocalRows:
            read_columns = connectors.lookup(scan.table).read_columns
            assert read_columns is not None
            return LocalRows(read_columns(request), request.columns, scan.edge.changelog)

        builder = LocalBuilder(request.zone, 0, request.now, read, lower)
        for frame in builder.build(self.made.stage).frames():
            if frame.height:
                yield from in_schema(frame, self.schema)
