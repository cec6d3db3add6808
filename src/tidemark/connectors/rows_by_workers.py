"""Rows that workers read part by part, as rows of Spark: for what it computes itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.sent_types import received, sent
from tidemark.functions import spark_text
from tidemark.functions.arrow_types import loose_arrow
from tidemark.functions.spark_text import safe_names, spark_type
from tidemark.kernels.columns import KIND, PLACE
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.file_systems import access_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

# Makes, in a worker, what reads a part as frames with the columns of the request.
Open: TypeAlias = Callable[[ColumnsRequest], Callable[[Part], Iterator["pl.DataFrame"]]]
# The same for all parts of a task.
OpenTask: TypeAlias = Callable[
    [ColumnsRequest], Callable[[Sequence[Part]], Iterator["pl.DataFrame"]]
]
# Fields of a `Part`, and their types in Spark SQL.
Fields: TypeAlias = Mapping[str, str]


def columns_of(fields: Fields) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in fields.items())


def named(request: ReadRequest, parts: Sequence[Part], fields: Fields) -> DataFrame:
    """The parts of a batch as rows of Spark, each in a task of its own."""
    values = [tuple(getattr(part, name) for name in fields) for part in parts]
    rows = request.spark.createDataFrame(values, columns_of(fields))
    return rows.repartition(max(1, len(parts)), *fields)


def part_by_part(open_: Open) -> OpenTask:
    """For parts that have nothing to do with each other."""

    def opened(request: ColumnsRequest) -> Callable[[Sequence[Part]], Iterator[pl.DataFrame]]:
        read = open_(request)
        return lambda parts: chain.from_iterable(map(read, parts))

    return opened


def read(
    request: ReadRequest, parts: DataFrame, open_: OpenTask, changelog: Changelog
) -> DataFrame:
    """The rows of parts, with the columns of the request."""
    asked = columns_request(request)
    extra = [KIND] if changelog is not Changelog.APPEND else []
    extra += [PLACE] * asked.placed
    reading = _Reading(asked, open_, tuple(extra))
    fields = [*zip(asked.columns, map(sent, asked.types), strict=True)]
    schema = ", ".join(f"{spark_text.name(name)} {spark_type(type_)}" for name, type_ in fields)
    schema += "".join(f", {name} STRING" for name in extra)
    if request.streaming:
        from tidemark.spark.stateful.counted import counted

        rows = counted(parts, reading, lambda opened, _: opened, schema, reading.schema)
    else:
        rows = parts.mapInArrow(_Uncounted(reading), schema)
    columns = zip(asked.columns, request.columns, request.types, strict=True)
    wanted = [f"{received(_name(own), type_)} AS {_name(asks)}" for own, asks, type_ in columns]
    return rows.selectExpr(*wanted, *extra)


def _name(column: str) -> str:
    return spark_text.name(column)


def columns_request(request: ReadRequest) -> ColumnsRequest:
    """The same for workers."""
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
        access=access_of(request.spark),
        conditions=request.conditions,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the parts that rows name."""

    request: ColumnsRequest
    open: OpenTask
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
        read = self.open(replace(self.request, count=report.add))
        asked = [Part(**fields) for named in parts for fields in named.to_pylist()]
        report.add(-len(asked), 0)  # Spark has counted the parts
        for frame in read(asked):
            yield from self._sent(frame)

    def _sent(self, frame: pl.DataFrame) -> Iterator[pa.RecordBatch]:
        import polars as pl
        import pyarrow as pa

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
