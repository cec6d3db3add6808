"""The key groups of a batch in Spark's workers: packed rows in, packed output and a report out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import pyarrow as pa

from tidemark.kernels.protocol import Step
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, Packed
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.metrics import (
    REPORT,
    Stopwatch,
    report,
    wrapped_late_rows,
    wrapped_output,
)
from tidemark.spark.stateful.modules import freeze_loaded_objects
from tidemark.spark.stateful.packing import BUCKET, INPUT, PARTITION, PAYLOAD, POSITION
from tidemark.spark.stateful.passing import Passed, parted

_OUTPUT: Final = pa.schema(
    [(PAYLOAD, pa.binary()), (REPORT, pa.string()), (LATE, pa.binary()), (OUTLET, pa.int32())]
)


def run(bucket: Bucket, batches: Iterable[pa.RecordBatch], clock: str) -> Iterator[pa.RecordBatch]:
    """The packed output of a key group whose packed rows arrive in batches, for Spark. The column
    `clock` contains their processing time. The report is last.
    """
    batches = iter(batches)
    first = next(batches)
    label, now = first.column(BUCKET)[0].as_py(), first.column(clock)[0].as_py()
    packed = (row for batch in chain([first], batches) for row in _packed_rows(batch))
    tally, watch = Tally(), Stopwatch()
    passed: list[Passed] = []
    for step in Batch(bucket, now).steps(parted(packed, passed), tally, watch.lap):
        for said in _said(step, bucket):
            watch.lap("encode")
            yield _output(**said)
            watch.resume()
    for late in passed:
        yield _output(**_late(*late))
    yield _output(**{REPORT: report(label, tally.read(), watch)})
    freeze_loaded_objects()


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
