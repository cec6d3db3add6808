"""The key groups of a batch in Spark's workers: packed rows in, packed output and a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Final, Self

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.kernels.protocol import Step
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, Packed
from tidemark.spark.stateful.counted import Opener
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.metrics import (
    REPORT,
    ROWS_PER_PAYLOAD,
    Stopwatch,
    report,
    wrapped_late_rows,
    wrapped_output,
)
from tidemark.spark.stateful.modules import freeze_loaded_objects
from tidemark.spark.stateful.packing import (
    BUCKET,
    INPUT,
    LEFT_OUT,
    PACKED,
    PARTITION,
    PAYLOAD,
    POSITION,
    TICK,
    FramesRepacked,
)
from tidemark.spark.stateful.passing import Passed, parted

_OUTPUT: Final = pa.schema(
    [(PAYLOAD, pa.binary()), (REPORT, pa.string()), (LATE, pa.binary()), (OUTLET, pa.int32())]
)


def run(bucket: Bucket, batches: Iterable[pa.RecordBatch], clock: str) -> Iterator[pa.RecordBatch]:
    """The packed output of a key group whose packed rows arrive in batches, for Spark. The column
    `clock` contains their processing time. The report is last.
    """
    group = _Group.of(bucket, batches, clock)
    for step in group.steps():
        for said in _said(step, bucket):
            group.watch.lap("encode")
            yield _output(**said)
            group.watch.resume()
    for late in group.passed:
        yield _output(**_late(*late))
    yield _output(**{REPORT: group.report()})
    freeze_loaded_objects()


def run_and_repack(
    bucket: Bucket, batches: Iterable[pa.RecordBatch], clock: str, repack: FramesRepacked
) -> Iterator[pa.RecordBatch]:
    """The output of a key group, packed for the operator above. The report is last."""
    group = _Group.of(bucket, batches, clock)

    def emitted() -> Iterator[pl.DataFrame]:
        for step in group.steps():
            group.watch.resume()
            yield from step.output.iter_slices(ROWS_PER_PAYLOAD)

    for packed in repack(emitted(), group.label, BEFORE_ALL):
        group.watch.lap("encode")
        yield packed.append_column(REPORT, pa.nulls(packed.num_rows, pa.string()))
        group.watch.resume()
    nothing = [pa.nulls(1, field.type) for field in PACKED]
    yield pa.RecordBatch.from_arrays(
        [*nothing, pa.array([group.report()])], names=[*PACKED.names, REPORT]
    )
    freeze_loaded_objects()


def run_and_use(
    bucket: Bucket,
    batches: Iterator[pa.RecordBatch],
    clock: str,
    rows_of: Callable[[Iterator[pl.DataFrame]], Iterator[pa.RecordBatch]],
    use: Callable[[Opener], Opener],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """What is made of the rows that all key groups of a task emit, with the columns of a schema.
    Their packed rows arrive in order of their groups; the reports are last."""
    reports: list[str] = []

    def emitted(group: _Group) -> Iterator[pl.DataFrame]:
        for step in group.steps():
            yield from step.output.iter_slices(ROWS_PER_PAYLOAD)
            group.watch.resume()

    def opened(packed: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, of_label in groupby(_by_label(packed), itemgetter(0)):
            group = _Group.of(bucket, map(itemgetter(1), of_label), clock)
            yield from rows_of(emitted(group))
            reports.append(group.report())

    for made in use(opened)(batches):
        yield made.append_column(REPORT, pa.nulls(made.num_rows, pa.string()))
    nothing = [pa.nulls(len(reports), field.type) for field in schema]
    yield pa.RecordBatch.from_arrays(
        [*nothing, pa.array(reports, pa.string())], names=[*schema.names, REPORT]
    )
    freeze_loaded_objects()


def _by_label(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each key group, as slices of the batches."""
    for batch in batches:
        labels = batch.column(BUCKET).to_numpy()
        starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
        for start, end in pairwise(starts):
            if end > start:
                yield int(labels[start]), batch.slice(start, end - start)


@dataclass(frozen=True, slots=True)
class _Group:
    """A key group of a batch, and what is known about it when its steps are done."""

    bucket: Bucket
    label: int
    now: int
    packed: Iterator[Packed]
    tally: Tally = field(default_factory=Tally)
    watch: Stopwatch = field(default_factory=Stopwatch)
    passed: list[Passed] = field(default_factory=list)

    @classmethod
    def of(cls, bucket: Bucket, batches: Iterable[pa.RecordBatch], clock: str) -> Self:
        batches = iter(batches)
        first = next(batches)
        label, now = first.column(BUCKET)[0].as_py(), first.column(clock)[0].as_py()
        packed = (row for batch in chain([first], batches) for row in _packed_rows(batch))
        return cls(bucket, label, now, packed)

    def steps(self) -> Iterator[Step]:
        packed = parted(self._arriving(), self.passed)
        return Batch(self.bucket, self.now).steps(packed, self.tally, self.watch.lap)

    def _arriving(self) -> Iterator[Packed]:
        """The packed rows without the reports on rows that were left out, which are counted."""
        for row in self.packed:
            number, _, count, payload = row
            if payload is None and number < TICK:
                self.tally.left_out[number - LEFT_OUT] += count
            else:
                yield row

    def report(self) -> str:
        return report(self.label, self.tally.read(), self.watch)


def _said(step: Step, bucket: Bucket) -> Iterator[dict[str, bytes | int]]:
    for payload in wrapped_output(step.output, bucket.payloads):
        yield {PAYLOAD: payload}
    for late in wrapped_late_rows(step, bucket.payloads):
        yield _late(*late)


def _late(outlet: int, payload: bytes) -> dict[str, bytes | int]:
    return {LATE: payload, OUTLET: outlet}


def _packed_rows(batch: pa.RecordBatch) -> Iterator[Packed]:
    columns = (batch.column(name).to_pylist() for name in (INPUT, PARTITION, POSITION, PAYLOAD))
    return zip(*columns, strict=True)


def _output(**said: bytes | str | int) -> pa.RecordBatch:
    columns = [pa.array([said.get(field.name)], field.type) for field in _OUTPUT]
    return pa.RecordBatch.from_arrays(columns, schema=_OUTPUT)
