"""Counts what workers read themselves, which Spark does not see, beside what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import uuid4

import pyarrow as pa

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_READ: Final = "_tm_read"
_SKIPPED: Final = "_tm_skipped"
_WATERMARK: Final = "_tm_reached"  # the watermark after the rows that were read
_REPORT: Final = (_READ, _SKIPPED, _WATERMARK)
_PREFIX: Final = "tidemark-read-"

Batches: TypeAlias = Iterator[pa.RecordBatch]
Opener: TypeAlias = Callable[[Batches], Batches]
# Reads what the values of batches name, and reports on it.
Read = Callable[[Batches, SourceReport], Batches]
# The same, unless another one has read and kept it.
ReadOnce = Callable[[Batches, SourceReport, MadeOnce[Any] | None], Batches]
# Makes something of rows, given what opens batches as rows, and a report on those so far.
Use = Callable[[Opener, SourceReport], Opener]


def counted(
    data: DataFrame,
    read: Read,
    use: Use,
    schema: StructType | str,
    as_arrow: pa.Schema,
    watermark: str | None = None,
) -> DataFrame:
    """What is made of the rows of a stream's frame, whose own rows only name what is to be read.
    The `watermark` is the metric that says how far they have come, if anything asks for it.
    """

    def make(batches: Batches, report: SourceReport) -> Batches:
        return use(lambda given: read(given, report), report)(batches)

    return counting(data, make, schema, as_arrow, watermark)


def counting(
    data: DataFrame,
    make: Read,
    schema: StructType | str,
    as_arrow: pa.Schema,
    watermark: str | None = None,
) -> DataFrame:
    """What is made of a stream's frame. The counts are among the observed metrics of the stream."""
    from pyspark.sql import functions as f

    made = data.mapInArrow(_Counting(make, as_arrow), _with_report(schema))
    observed = made.observe(
        f"{_PREFIX}{uuid4().hex[:8]}",
        *(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in (_READ, _SKIPPED)),
    )
    if watermark is not None:
        observed = observed.observe(watermark, f.max(_WATERMARK).alias("ms"))
    return observed.where(f"{_READ} IS NULL").drop(*_REPORT)


def _with_report(schema: StructType | str) -> StructType | str:
    from pyspark.sql.types import LongType, StructField, StructType

    if isinstance(schema, str):
        return ", ".join([schema, *(f"{name} BIGINT" for name in _REPORT)])
    return StructType([*schema.fields, *(StructField(name, LongType()) for name in _REPORT)])


def counts_in(metrics: Mapping[str, Mapping[str, Any]]) -> SourceReport:
    """What the workers have read in a micro-batch, from the observed metrics of its query."""
    found = SourceReport()
    for name, row in metrics.items():
        if name.startswith(_PREFIX):
            found.add(row[_READ], row[_SKIPPED])
    return found


@dataclass(frozen=True, slots=True)
class _Counting:
    make: Read
    schema: pa.Schema

    def __call__(self, batches: Batches) -> Batches:
        report = SourceReport()
        for batch in self.make(batches, report):
            yield _with(batch, None, None, None)
        nothing = [pa.nulls(1, field.type) for field in self.schema]
        last = pa.RecordBatch.from_arrays(nothing, schema=self.schema)
        mark = None if report.watermark == BEFORE_ALL else report.watermark
        yield _with(last, report.rows, report.skipped, mark)


def _with(batch: pa.RecordBatch, *report: int | None) -> pa.RecordBatch:
    numbers = [pa.repeat(pa.scalar(n, pa.int64()), batch.num_rows) for n in report]
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *numbers], names=[*batch.schema.names, *_REPORT]
    )
