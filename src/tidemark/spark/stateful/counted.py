"""Counts what workers read themselves, which Spark does not see, beside what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import uuid4

import pyarrow as pa

from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_READ: Final = "_tm_read"
_SKIPPED: Final = "_tm_skipped"
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
    data: DataFrame, read: Read, use: Use, schema: StructType | str, as_arrow: pa.Schema
) -> DataFrame:
    """What is made of the rows of a stream's frame, whose own rows only name what is to be read."""

    def make(batches: Batches, report: SourceReport) -> Batches:
        return use(lambda given: read(given, report), report)(batches)

    return counting(data, make, schema, as_arrow)


def counting(
    data: DataFrame, make: Read, schema: StructType | str, as_arrow: pa.Schema
) -> DataFrame:
    """What is made of a stream's frame. The counts are among the observed metrics of the stream."""
    from pyspark.sql import functions as f

    made = data.mapInArrow(_Counting(make, as_arrow), _with_counts(schema))
    observed = made.observe(
        f"{_PREFIX}{uuid4().hex[:8]}",
        *(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in (_READ, _SKIPPED)),
    )
    return observed.where(f"{_READ} IS NULL").drop(_READ, _SKIPPED)


def _with_counts(schema: StructType | str) -> StructType | str:
    from pyspark.sql.types import LongType, StructField, StructType

    if isinstance(schema, str):
        return f"{schema}, {_READ} BIGINT, {_SKIPPED} BIGINT"
    return StructType([*schema.fields, *(StructField(n, LongType()) for n in (_READ, _SKIPPED))])


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
            yield _with(batch, None, None)
        nothing = [pa.nulls(1, field.type) for field in self.schema]
        last = pa.RecordBatch.from_arrays(nothing, schema=self.schema)
        yield _with(last, report.rows, report.skipped)


def _with(batch: pa.RecordBatch, rows: int | None, skipped: int | None) -> pa.RecordBatch:
    numbers = [pa.repeat(pa.scalar(n, pa.int64()), batch.num_rows) for n in (rows, skipped)]
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *numbers], names=[*batch.schema.names, _READ, _SKIPPED]
    )
