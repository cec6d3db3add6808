"""A table that is read once, packed for several operators: what a task does with its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.payloads import unwrapped
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.packing import INPUT, PAYLOAD, POSITION, Pack, Repack
from tidemark.spark.stateful.shared_reading import (
    _USE,
    Piece,
    SharedInput,
    SharedReading,
    _Together,
    in_one_piece,
)

ROWS = pa.schema([("k", pa.int64())])


class Reading:
    """Reads rows 0 to 9, of which a use gets those that have this remainder by 2."""

    made = 0

    def of(self, remainder: int) -> Any:
        def numbers() -> Iterator[int]:
            self.made += 1
            yield from range(10)

        def read(
            batches: Iterator[pa.RecordBatch], report: SourceReport, kept: MadeOnce[Any] | None
        ) -> Iterator[pa.RecordBatch]:
            [batch] = batches
            [first] = batch.column(0).to_pylist()

            def those() -> Iterator[int]:
                for number in numbers():
                    report.add(1, 0)
                    yield 100 * first + number

            there = those() if kept is None else kept.of(those)
            mine = [number for number in there if number % 2 == remainder]
            yield pa.RecordBatch.from_pydict({"k": mine}, schema=ROWS)

        return read


def repack(number: int) -> Repack:
    return Repack(("k",), (), Pack(number, (12, 6), ROWS, None))


def rows(packed: list[pa.RecordBatch], use: int, number: int) -> list[int]:
    """Those of an input, in the order of their positions."""
    found = []
    for row in (row for batch in packed for row in batch.to_pylist()):
        if row[_USE] == use and row[INPUT] == number:
            found.append((row[POSITION], sorted(unwrapped(row[PAYLOAD])["k"].to_list())))
    return [k for _, of_piece in sorted(found) for k in of_piece]


def given(reading: Reading, *remainders: int) -> tuple[SharedInput, ...]:
    return tuple(
        SharedInput(reading.of(remainder), repack(number))
        for number, remainder in enumerate(remainders)
    )


def named(*numbers: int) -> Iterator[pa.RecordBatch]:
    return (pa.RecordBatch.from_pydict({"n": [number]}) for number in numbers)


def one_by_one(batches: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
    """Pieces of which those with odd numbers cannot be kept."""
    for batch in batches:
        yield [batch], batch.column(0)[0].as_py() % 2 == 0


def test_what_a_task_reads_is_packed_for_each_input_of_each_use() -> None:
    reading, report = Reading(), SourceReport()
    uses = (given(reading, 0, 1), given(reading, 1))

    packed = [*_Together(uses, in_one_piece)(named(0), report)]

    assert (reading.made, report.rows) == (1, 10)
    assert sorted(rows(packed, 0, 0)) == [0, 2, 4, 6, 8]
    assert sorted(rows(packed, 0, 1)) == [1, 3, 5, 7, 9]
    assert sorted(rows(packed, 1, 0)) == [1, 3, 5, 7, 9]
    assert rows(packed, 1, 1) == []


def test_the_rows_of_one_piece_follow_those_of_the_one_before() -> None:
    reading, report = Reading(), SourceReport()

    packed = [*_Together((given(reading, 0), given(reading, 1)), one_by_one)(named(2, 0), report)]

    assert (reading.made, report.rows) == (2, 20)
    assert [k // 100 for k in rows(packed, 0, 0)] == [2] * 5 + [0] * 5
    assert [k // 100 for k in rows(packed, 1, 0)] == [2] * 5 + [0] * 5


def test_what_cannot_be_kept_is_read_for_each_input_and_counted_once() -> None:
    reading, report = Reading(), SourceReport()

    packed = [*_Together((given(reading, 0, 1), given(reading, 1)), one_by_one)(named(1), report)]

    assert (reading.made, report.rows) == (3, 10)
    assert sorted(rows(packed, 0, 0)) == [100, 102, 104, 106, 108]
    assert sorted(rows(packed, 1, 0)) == [101, 103, 105, 107, 109]


def test_a_use_that_comes_too_late_reads_for_itself() -> None:
    reading, shared, frame = Reading(), SharedReading(), object()
    first = shared.add(frame, given(reading, 0))  # type: ignore[arg-type]
    second = shared.add(frame, given(reading, 1))  # type: ignore[arg-type]
    shared.closed = True
    third = shared.add(frame, given(reading, 1))  # type: ignore[arg-type]

    assert first.reading is second.reading is shared
    assert (first.number, second.number) == (0, 1)
    assert third.reading is not shared
    assert third.number == 0
    assert len(third.reading.uses) == 1
