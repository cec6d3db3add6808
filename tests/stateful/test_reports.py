"""What a step reports about itself, next to its rows."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import polars as pl
import pyarrow as pa
import pytest

from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.state import State
from tidemark.runtime.payloads import unwrapped
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.metrics import REPORT, Stopwatch, packed_output, repacked_output
from tidemark.spark.stateful.packing import (
    BUCKET,
    INPUT,
    PARTITION,
    PAYLOAD,
    POSITION,
    Pack,
    Repack,
)

SCHEMA = pa.schema([("n", pa.int64())])


def test_report_says_what_the_time_of_a_step_went_to() -> None:
    watch = Stopwatch()
    watch.lap("state")
    watch.lap("kernel")
    watch.lap("state")
    step = Step(State(), pl.DataFrame({"n": [1]}), Metrics.of(State(), (1,), (0,), 1, 0))

    [frame] = packed_output(3, step, round_trips=2, watch=watch)

    report = json.loads(frame[REPORT][0])
    assert (report["bucket"], report["round_trips"]) == (3, 2)
    assert list(report["spent_ms"]) == ["state", "kernel", "encode"]
    assert report["busy_ms"] == round(sum(report["spent_ms"].values()), 1)


@pytest.mark.parametrize(("rows", "late"), [(0, 0), (2, 0), (0, 3), (2, 250_001), (100_001, 1)])
def test_late_rows_are_emitted_next_to_the_results(rows: int, late: int) -> None:
    output, handed_out = (
        pl.DataFrame({name: range(height)}, schema={name: pl.Int64})
        for name, height in (("n", rows), ("late", late))
    )
    metrics = Metrics.of(State(), (1,), (late,), rows, 0)

    [frame] = packed_output(3, Step(State(), output, metrics, handed_out={0: handed_out}))

    assert frame[REPORT].count() == 1
    for column, expected in ((PAYLOAD, output), (LATE, handed_out)):
        packed = frame[column].dropna().tolist()
        found = [unwrapped(payload) for payload in packed]
        assert pl.concat([expected.clear(), *found]).equals(expected)


def test_an_operator_passes_on_late_rows_as_they_are() -> None:
    step = Step(State(), pl.DataFrame({"n": [1]}), Metrics.of(State(), (1,), (0,), 1, 0))
    step = replace(step, handed_out={1: pl.DataFrame({"v": [2]})})

    [frame] = packed_output(3, step, passed=[(0, b"late"), (4, b"later")])

    assert frame[OUTLET].tolist() == [1, 0, 4]
    assert frame[LATE].tolist()[1:] == [b"late", b"later"]


def test_an_operator_without_an_outlet_has_no_late_rows() -> None:
    step = Step(State(), pl.DataFrame({"n": [1]}), Metrics.of(State(), (1,), (1,), 1, 0))

    [frame] = packed_output(3, step)

    assert frame[LATE].count() == 0


@pytest.mark.parametrize("rows", [0, 3])
def test_rows_that_are_packed_for_the_operator_above_have_a_report_too(rows: int) -> None:
    output = pl.DataFrame({"n": range(rows)}, schema={"n": pl.Int64})
    step = Step(State(), output, Metrics.of(State(), (rows,), (0,), rows, 0))
    repack = Repack(("n",), (), Pack(1, (10, 20), SCHEMA, None))

    [frame] = repacked_output(3, step, 2, Stopwatch(), partial(repack_of, repack))

    packed, [said] = frame[frame[REPORT].isna()], frame[REPORT].dropna()
    assert json.loads(said)["bucket"] == 3
    found = [n for payload in packed[PAYLOAD] for n in unwrapped(payload)["n"]]
    assert sorted(found) == [*range(rows)]
    assert {*packed[PARTITION]} <= {3} and {*packed[INPUT]} <= {1}


def test_the_watermark_that_follows_rows_is_reported_to_one_key_group_of_the_operator_above() -> (
    None
):
    output = pl.DataFrame({"n": [1, 2, 3]})
    step = Step(State(), output, Metrics.of(State(), (3,), (0,), 3, 0))
    repack = Repack(("n",), (), Pack(1, (10, 20), SCHEMA, None))

    [frame] = repacked_output(20, step, 2, Stopwatch(), partial(repack_of, repack), 1_000)

    reports = frame[frame[REPORT].isna() & frame[PAYLOAD].isna()]
    assert reports[[BUCKET, INPUT, POSITION]].values.tolist() == [[20, 1, 1_000]]


def repack_of(
    repack: Repack, frames: Iterator[pl.DataFrame], label: int, watermark: int
) -> Iterator[pa.RecordBatch]:
    return repack.of_emitted(frames, SCHEMA, label, watermark)
