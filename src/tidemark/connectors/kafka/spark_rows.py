"""Records of Kafka as rows of Spark, for what it computes itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.kafka.rows import KafkaColumns
from tidemark.connectors.sent_types import received, sent
from tidemark.functions import spark_text
from tidemark.functions.arrow_types import loose_arrow
from tidemark.functions.spark_text import safe_names, spark_type
from tidemark.kernels.columns import KIND, PLACE
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def read(
    request: ReadRequest,
    changelog: Changelog,
    arriving: Callable[[ReadRequest], DataFrame],
    parts: Callable[[ColumnsRequest], Sequence[tuple[Part, ...]]],
) -> DataFrame:
    """The rows with the columns of the request."""
    asked = _columns_request(request)
    extra = [KIND] if changelog is not Changelog.APPEND else []
    extra += [PLACE] * asked.placed
    reading = _Reading(asked, tuple(extra))
    fields = [*zip(asked.columns, map(sent, asked.types), strict=True)]
    schema = ", ".join(f"{spark_text.name(name)} {spark_type(type_)}" for name, type_ in fields)
    schema += "".join(f", {name} STRING" for name in extra)
    if request.streaming:
        from tidemark.spark.stateful.counted import counted

        named = arriving(request)
        rows = counted(named, reading, lambda open_, _: open_, schema, reading.schema)
    else:
        tasks = [part for task in parts(asked) for part in task]
        values = [(p.topic, p.partition, p.start, p.end) for p in tasks]
        names = "topic STRING, partition INT, start BIGINT, end BIGINT"
        named = request.spark.createDataFrame(values, names)
        # A task for each part.
        named = named.repartition(max(1, len(tasks)), "topic", "partition", "start")
        rows = named.mapInArrow(_Uncounted(reading), schema)
    columns = zip(asked.columns, request.columns, request.types, strict=True)
    wanted = [f"{received(_name(own), type_)} AS {_name(asks)}" for own, asks, type_ in columns]
    return rows.selectExpr(*wanted, *extra)


def _name(column: str) -> str:
    return spark_text.name(column)


def _columns_request(request: ReadRequest) -> ColumnsRequest:
    return ColumnsRequest(
        table=request.table,
        options=request.options,
        columns=safe_names(request.columns),
        types=request.types,
        metadata=request.metadata,
        zone=request.zone,
        now=dt.datetime.fromtimestamp(request.start.at_ms / 1000, dt.UTC),
        placed=request.table.watermark is not None,
        read=request.read,
        marks=request.marks,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the parts that rows name."""

    request: ColumnsRequest
    extra: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        import pyarrow as pa

        fields = zip(self.request.columns, self.request.types, strict=True)
        own = [(name, loose_arrow(sent(type_))) for name, type_ in fields]
        return pa.schema([*own, *((name, pa.string()) for name in self.extra)])

    def __call__(
        self, parts: Iterator[pa.RecordBatch], report: SourceReport
    ) -> Iterator[pa.RecordBatch]:
        columns = KafkaColumns(replace(self.request, count=report.add))
        for named in parts:
            for fields in named.to_pylist():
                report.add(-1, 0)  # Spark has counted the part
                for frame in columns.frames(Part("", **fields)):
                    yield from self._sent(frame)

    def _sent(self, frame: object) -> Iterator[pa.RecordBatch]:
        import polars as pl
        import pyarrow as pa

        assert isinstance(frame, pl.DataFrame)
        types: list[t.DataType | None] = [*self.request.types, *(None for _ in self.extra)]
        arrays = []
        for column, type_ in zip(frame.get_columns(), types, strict=True):
            values = column.to_arrow(compat_level=pl.CompatLevel.oldest())
            if type_ is None:
                arrays.append(values.cast(pa.string()))
            else:
                arrays.append(values.cast(loose_arrow(type_)).cast(loose_arrow(sent(type_))))
        yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


@dataclass(frozen=True, slots=True)
class _Uncounted:
    reading: _Reading

    def __call__(self, parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.reading(parts, SourceReport())
