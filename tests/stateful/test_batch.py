"""Batches that are larger than a step: no step is large, whatever the keys of the rows are."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from tests.stateful.batches import (
    LEFT,
    NOW,
    SMALL_STEPS,
    Rows,
    outcome,
    packed_of,
    rows_of,
)
from tidemark.kernels.co_group.kernel import WindowAssignment
from tidemark.kernels.columns import KIND
from tidemark.kernels.held_back import HeldBack
from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
from tidemark.kernels.keep_last import KeepLastKernel
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Assigner, Session, Sliding
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.runtime.payloads import decode, encode
from tidemark.spark.stateful.at_once import run
from tidemark.spark.stateful.exchange import Exchange
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.metrics import REPORT
from tidemark.spark.stateful.packing import BUCKET, INPUT, LEFT_OUT, PARTITION, PAYLOAD, POSITION

JOINED, SUMS = ("a", "x", "b", "y"), ("a", "total")
A, B = ("a",), ("b",)


def sums(assigner: Assigner) -> WindowAggregateKernel:
    return WindowAggregateKernel(A, assigner, (AggregateSpec("SUM", ("x",), "total", pl.Int64()),))


JOINS: dict[str, Kernel] = {
    "temporal": TemporalJoinKernel(A, B, "left"),
    "interval, held back": HeldBack(IntervalJoinKernel(A, B, -3, 5, "left"), 7),
    "window": window_join(
        A, B, WindowAssignment(Sliding(10, 4)), WindowAssignment(Sliding(8, 4)), "full"
    ),
}
AGGREGATES: dict[str, tuple[Kernel, tuple[str, ...]]] = {
    "tumbling": (sums(Sliding(10, 10)), SUMS),
    "sessions": (sums(Session(3)), SUMS),
    "keep last": (KeepLastKernel(A), ("a", "x", KIND)),
}
MANY = 2_000
EVEN: Rows = [(n * 7919 % 250, n * 31 % MANY) for n in range(MANY)]
ONE_KEY: Rows = [(0, n * 31 % MANY) for n in range(MANY)]
# Of rows of 48 bytes or more, a step has twice what it should at most.
AT_MOST = 2 * SMALL_STEPS // 48


@pytest.mark.parametrize("rows", [EVEN, ONE_KEY], ids=["even", "one key"])
@pytest.mark.parametrize("kernel", JOINS.values(), ids=JOINS)
def test_no_step_of_a_join_has_many_rows_whatever_their_keys(kernel: Kernel, rows: Rows) -> None:
    steps = outcome(kernel, JOINED, [rows, rows], SMALL_STEPS).steps

    assert sum(steps.heights) == 2 * MANY
    assert max(steps.heights) <= AT_MOST


@pytest.mark.parametrize("rows", [EVEN, ONE_KEY], ids=["even", "one key"])
@pytest.mark.parametrize(("kernel", "columns"), AGGREGATES.values(), ids=AGGREGATES)
def test_no_step_of_an_aggregate_has_many_rows_whatever_their_keys(
    kernel: Kernel, columns: tuple[str, ...], rows: Rows
) -> None:
    steps = outcome(kernel, columns, [rows], SMALL_STEPS).steps

    assert sum(steps.heights) == MANY
    assert max(steps.heights) <= AT_MOST


@pytest.mark.parametrize("kernel", JOINS.values(), ids=JOINS)
def test_a_join_by_time_keeps_few_rows_between_the_steps_of_one_key(kernel: Kernel) -> None:
    steps = outcome(kernel, JOINED, [ONE_KEY, ONE_KEY], SMALL_STEPS).steps

    assert len(steps.kept) > 10
    assert max(steps.kept) <= AT_MOST


def test_rows_that_do_not_fit_into_memory_are_in_sparks_local_folder_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/nowhere")
    packed = packed_of(0, rows_of(LEFT, EVEN))
    bucket = Bucket(sums(Sliding(10, 10)), (InputShape.of(LEFT),), SUMS)

    steps = Batch(bucket, 0, SMALL_STEPS).steps(packed, Tally())
    next(steps)
    during = [file for _, _, files in os.walk(tmp_path) for file in files]
    list(steps)

    assert during
    assert not list(tmp_path.iterdir())


def test_packed_rows_in_files_are_still_there_after_the_batch(tmp_path: Path) -> None:
    # Spark may run a task again.
    payloads = Exchange(str(tmp_path), more_than=0)
    packed = [(0, 0, n, payloads.wrapped(rows_of(LEFT, EVEN[:300]))) for n in range(3)]
    bucket = Bucket(sums(Sliding(10, 10)), (InputShape.of(LEFT),), SUMS)

    first, again = (
        pl.concat(step.output for step in Batch(bucket, 0, SMALL_STEPS).steps(packed, Tally()))
        for _ in range(2)
    )

    assert_frame_equal(first, again, check_row_order=False)


def spark_batch(frames: Sequence[pl.DataFrame]) -> pa.RecordBatch:
    """Rows of key group 12 as Spark passes them on."""
    many = len(frames)
    columns = {
        BUCKET: pa.array([12] * many, pa.int32()),
        INPUT: pa.array([0] * many, pa.int32()),
        PARTITION: pa.array([0] * many, pa.int32()),
        POSITION: pa.array(range(many), pa.int64()),
        PAYLOAD: [encode(frame) for frame in frames],
        "clock": pa.array([NOW] * many, pa.int64()),
    }
    return pa.record_batch(columns)


def test_a_key_group_reports_once_after_all_its_output() -> None:
    batch = spark_batch([rows_of(LEFT, [(n, n)]) for n in range(600)])
    bucket = Bucket(sums(Sliding(10, 10)), (InputShape.of(LEFT),), SUMS)

    emitted = [
        row
        for part in run(bucket, iter([batch[:100], batch[100:]]), "clock")
        for row in part.to_pylist()
    ]

    assert sum(decode(row[PAYLOAD]).height for row in emitted[:-1]) == 600
    assert [row[REPORT] for row in emitted[:-1]] == [None] * (len(emitted) - 1)
    report = json.loads(emitted[-1][REPORT])
    assert (report["bucket"], report["rows_in"], report["rows_out"]) == (12, [600], 600)


def test_rows_that_were_left_out_have_come_too() -> None:
    some = spark_batch([rows_of(LEFT, [(n, n)]) for n in range(3)])
    more = [LEFT_OUT, -1, 40, None]
    columns = dict(zip((INPUT, PARTITION, POSITION, PAYLOAD), more, strict=True))
    reported = pa.RecordBatch.from_pylist(
        [{**row, **columns} for row in some.to_pylist()[:2]], schema=some.schema
    )
    bucket = Bucket(sums(Sliding(10, 10)), (InputShape.of(LEFT),), SUMS)

    *_, last = run(bucket, iter([reported, some]), "clock")

    assert json.loads(last.column(REPORT)[0].as_py())["rows_in"] == [83]


def test_late_rows_that_a_kernel_hands_out_are_emitted_next_to_the_output_of_a_batch() -> None:
    @dataclass(frozen=True)
    class HandsOut:
        kernel: Kernel

        def step(
            self, state: State, inputs: Sequence[pl.DataFrame], watermark: int, clock: int
        ) -> Step:
            step = self.kernel.step(state, inputs, watermark, clock)
            return replace(step, handed_out={7: inputs[0].select("x")})

    shape = InputShape.of(LEFT)
    bucket = Bucket(HandsOut(sums(Sliding(10, 10))), (shape,), SUMS, late={7: ("x",)})
    rows = rows_of(LEFT, EVEN)

    emitted = [
        row
        for part in run(bucket, iter([spark_batch([rows])]), "clock")
        for row in part.to_pylist()
    ]

    late = [decode(row[LATE]) for row in emitted if row[LATE] is not None]
    assert pl.concat(late).sort("x").equals(rows.select("x").sort("x"))
    assert {row[OUTLET] for row in emitted if row[LATE] is not None} == {7}
    assert [row[LATE] for row in emitted if row[REPORT] is not None] == [None]


def test_late_rows_of_operators_below_a_batch_are_passed_on_as_they_are() -> None:
    bucket = Bucket(sums(Sliding(10, 10)), (InputShape.of(LEFT),), SUMS)
    rows, late = rows_of(LEFT, EVEN), [b"late", b"later"]
    given = pa.Table.from_batches([spark_batch([rows])])
    passing = pa.Table.from_batches([spark_batch([rows, rows])])
    for name, values in (("input", [-2, -5]), ("payload", late)):
        place = passing.schema.get_field_index(name)
        column = pa.array(values, passing.schema.field(name).type)
        passing = passing.set_column(place, name, column)

    emitted = [
        row
        for part in run(bucket, iter(pa.concat_tables([passing, given]).to_batches()), "clock")
        for row in part.to_pylist()
    ]

    assert [(row[OUTLET], row[LATE]) for row in emitted if row[LATE]] == [
        (0, late[0]),
        (3, late[1]),
    ]
    [report] = [json.loads(row[REPORT]) for row in emitted if row[REPORT]]
    assert report["rows_in"] == [rows.height]
