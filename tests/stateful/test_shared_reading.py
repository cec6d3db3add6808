"""A table that is read once, packed for several operators: what a task does with its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.payloads import unwrapped
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.packing import INPUT, PAYLOAD, Pack, Repack
from tidemark.spark.stateful.shared_reading import _USE, SharedReading, _Together

ROWS = pa.schema([("k", pa.int64())])


class Reading:
    """Reads rows 0 to 9, of which a use gets those that have this remainder by 2."""

    made = 0

    def of(self, remainder: int) -> Any:
        def numbers() -> Iterator[int]:
            self.made += 1
            yield from range(10)

        def read(
            batches: Iterator[pa.RecordBatch], report: SourceReport, kept: MadeOnce[Any]
        ) -> Iterator[pa.RecordBatch]:
            assert len([*batches]) == 1
            mine = [number for number in kept.of(numbers) if number % 2 == remainder]
            yield pa.RecordBatch.from_pydict({"k": mine}, schema=ROWS)

        return read


def repack(number: int) -> Repack:
    return Repack(("k",), (), Pack(number, (12, 6), ROWS, None))


def rows(packed: list[pa.RecordBatch], use: int, number: int) -> list[int]:
    found = []
    for row in (row for batch in packed for row in batch.to_pylist()):
        if row[_USE] == use and row[INPUT] == number:
            found += unwrapped(row[PAYLOAD])["k"].to_list()
    return sorted(found)


def test_what_a_task_reads_is_packed_for_each_input_of_each_use() -> None:
    reading = Reading()
    uses = (
        ((reading.of(0), repack(0)), (reading.of(1), repack(1))),
        ((reading.of(1), repack(0)),),
    )

    packed = [*_Together(uses, numbered=True)(iter([pa.RecordBatch.from_pydict({"n": [1]})]))]

    assert reading.made == 1
    assert rows(packed, 0, 0) == [0, 2, 4, 6, 8]
    assert rows(packed, 0, 1) == [1, 3, 5, 7, 9]
    assert rows(packed, 1, 0) == [1, 3, 5, 7, 9]
    assert rows(packed, 1, 1) == []


def test_a_use_that_comes_too_late_reads_for_itself() -> None:
    reading, shared, frame = Reading(), SharedReading(), object()
    first = shared.add(frame, [(reading.of(0), repack(0))])  # type: ignore[arg-type]
    second = shared.add(frame, [(reading.of(1), repack(0))])  # type: ignore[arg-type]
    shared.closed = True
    third = shared.add(frame, [(reading.of(1), repack(0))])  # type: ignore[arg-type]

    assert first.reading is second.reading is shared
    assert (first.number, second.number) == (0, 1)
    assert third.reading is not shared
    assert third.number == 0
    assert len(third.reading.uses) == 1
