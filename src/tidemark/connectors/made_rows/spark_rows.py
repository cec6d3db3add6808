"""Made rows as rows of Spark, for what it computes itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tidemark import types as t
from tidemark.connectors.base import Part, ReadRequest
from tidemark.connectors.sent_types import received, sent
from tidemark.functions import spark_text
from tidemark.functions.arrow_types import loose_arrow
from tidemark.functions.spark_text import spark_type
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class MakesRows(Protocol):
    """What makes rows, or reads them, where it is sent to."""

    @property
    def types(self) -> Mapping[str, t.DataType]: ...

    def columns(self, part: Part) -> Iterator[list[pa.Array]]:
        """The rows of a part."""
        ...


def made_here(made: MakesRows, part: Part, request: ReadRequest) -> DataFrame:
    """The rows of a part, made in this process: one task has them all, in order."""
    import pyarrow as pa

    columns = _columns(made, request)
    making = _Making(made, _arrow_schema(columns))
    table = pa.Table.from_batches(making.rows(part), making.schema)
    frame = request.spark.createDataFrame(table, _spark_schema(columns)).coalesce(1)
    return _with_types(frame, columns, request)


def by_workers(made: MakesRows, parts: DataFrame, request: ReadRequest) -> DataFrame:
    """The rows of parts that are the rows of a frame."""
    from tidemark.spark.stateful.counted import counted

    columns = _columns(made, request)
    making, schema = _Making(made, _arrow_schema(columns)), _spark_schema(columns)
    if parts.isStreaming:
        frame = counted(parts, making, lambda open_, _: open_, schema, making.schema)
    else:
        frame = parts.mapInArrow(_Uncounted(making), schema)
    return _with_types(frame, columns, request)


@dataclass(frozen=True, slots=True)
class _Making:
    made: MakesRows
    schema: pa.Schema

    def __call__(
        self, parts: Iterator[pa.RecordBatch], report: SourceReport
    ) -> Iterator[pa.RecordBatch]:
        for named in parts:
            for part in map(Part, *(column.to_pylist() for column in named.columns)):
                report.add(-1, 0)  # Spark has counted the part
                for rows in self.rows(part):
                    report.add(rows.num_rows, 0)
                    yield rows

    def rows(self, part: Part) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for columns in self.made.columns(part):
            typed = [
                made.cast(type_) for made, type_ in zip(columns, self.schema.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(typed, schema=self.schema)


@dataclass(frozen=True, slots=True)
class _Uncounted:
    making: _Making

    def __call__(self, parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.making(parts, SourceReport())


# --- types that Spark does not read from Arrow -------------------------------------------------


Columns = Sequence[tuple[str, t.DataType]]


def _columns(made: MakesRows, request: ReadRequest) -> Columns:
    """What is made, under the names that it has in Spark."""
    names = request.columns or tuple(made.types)
    return [*zip(names, made.types.values(), strict=True)]


def _with_types(frame: DataFrame, columns: Columns, request: ReadRequest) -> DataFrame:
    """The columns that are asked for, of which Spark casts what it cannot read from Arrow."""
    asked = [(spark_text.name(name), type_) for name, type_ in columns if name in request.columns]
    return frame.selectExpr(*(f"{received(name, type_)} AS {name}" for name, type_ in asked))


def _spark_schema(columns: Columns) -> str:
    each = ((spark_text.name(name), spark_type(sent(type_))) for name, type_ in columns)
    return ", ".join(f"{name} {type_}" for name, type_ in each)


def _arrow_schema(columns: Columns) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, loose_arrow(sent(type_))) for name, type_ in columns])
