"""Aggregate functions of the user's: whole groups at once, or row by row."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.errors import TidemarkError
from tidemark.kernels.aggregates.users import RowByRow, Vectorized
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Emit, Firing, Session, Sliding

from .drive import LONG, TEXT, Driver
from .reference import Reference, count
from .test_windows_equal_reference import ASSIGNERS, SMALL, check, scripts, with_retractions


def spread(values: pa.Array) -> pa.Scalar:
    """Vectorized: the distance of the greatest and the least value."""
    ends = pc.min_max(values)
    return pc.subtract(ends["max"], ends["min"])


class Spread:
    """The same for one row after the other."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int | None) -> None:
        if value is not None:
            accumulator.append(value)

    def retract(self, accumulator: list[int], value: int | None) -> None:
        if value is not None:
            accumulator.remove(value)

    def get_value(self, accumulator: list[int]) -> int | None:
        return max(accumulator) - min(accumulator) if accumulator else None


@pytest.fixture(params=[Vectorized(spread), RowByRow(Spread())], ids=["vectorized", "row by row"])
def call(request) -> AggregateSpec:
    return AggregateSpec("SPREAD", ("v",), "spread", LONG, implementation=request.param)


def test_it_sees_all_rows_of_a_window_across_batches(call):
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,)))
    tumble.feed("a 1 5, b 1, a 2 9")
    tumble.restart()

    assert tumble.feed("a 3 2", watermark=9) == ["a 0 10 7", "b 0 10 -"]


def test_it_sees_merged_sessions(call):
    session = Driver(WindowAggregateKernel(("k",), Session(5), (call,)))
    session.feed("a 0 1, a 8 4")

    assert session.feed("a 4 10", watermark=50) == ["a 0 13 9"]


def test_retracted_rows_are_gone(call):
    early = Emit(early=Firing(each_row=True))
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,), early, retracts=True))

    assert tumble.feed("a 1 5, a 2 9, a 1 5 -D") == [
        "a 0 10 0 +I",
        "a 0 10 0 -U",
        "a 0 10 4 +U",
        "a 0 10 4 -U",
        "a 0 10 0 +U",
    ]


def test_value_of_another_type_is_refused_by_the_name_of_the_function():
    call = AggregateSpec(
        "SPREAD", ("v",), "spread", LONG, implementation=Vectorized(lambda _: "much")
    )
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,)))
    tumble.feed("a 1 5")

    with pytest.raises(
        TidemarkError, match="`SPREAD` returned a value that is not of its result type"
    ):
        tumble.feed(watermark=9)


class Diary:
    """Tells what it was asked to do, in order."""

    def create_accumulator(self) -> list[str]:
        return []

    def accumulate(self, accumulator: list[str], value: int | None) -> None:
        accumulator.append(f"+{value}")

    def retract(self, accumulator: list[str], value: int | None) -> None:
        accumulator.append(f"-{value}")

    def get_value(self, accumulator: list[str]) -> str:
        return "".join(accumulator)


class MergingDiary(Diary):
    def merge(self, accumulator: list[str], accumulators: list[list[str]]) -> None:
        accumulator += [f"({''.join(other)})" for other in accumulators]


def diary(function: Diary) -> AggregateSpec:
    return AggregateSpec("DIARY", ("v",), "diary", TEXT, implementation=RowByRow(function))


@pytest.mark.parametrize("function", [Diary(), MergingDiary()])
def test_rows_are_retracted_in_their_order(function):
    early = Emit(early=Firing(each_row=True))
    updating = WindowAggregateKernel(
        ("k",), Sliding(10, 10), (diary(function),), early, retracts=True
    )
    tumble = Driver(updating)
    tumble.feed("a 1 5")
    tumble.restart()

    assert tumble.feed("a 2 9, a 1 5 -D")[1::2] == ["a 0 10 +5+9 +U", "a 0 10 +5+9-5 +U"]
    once = Driver(replace(updating, emit=Emit()))
    once.feed("a 1 5, a 2 9")
    assert once.feed("a 1 5 -D", watermark=9) == ["a 0 10 +5+9-5 +I"]


@pytest.mark.parametrize(
    ("function", "result"), [(Diary(), "+1+2+4+6+10"), (MergingDiary(), "+1+2(+4+6)+10")]
)
def test_accumulators_of_sessions_that_merge_are_merged_if_they_can_be(function, result):
    session = Driver(WindowAggregateKernel(("k",), Session(5), (diary(function),)))
    session.feed("a 0 1, a 1 2, a 8 4, a 9 6")
    session.restart()

    assert session.feed("a 4 10", watermark=50) == [f"a 0 14 {result}"]


def test_all_kinds_of_functions_can_be_combined():
    early = Emit(early=Firing(each_row=True))
    calls = (
        diary(Diary()),
        AggregateSpec("SPREAD", ("v",), "spread", LONG, implementation=Vectorized(spread)),
        AggregateSpec("COUNT", (), "n", LONG),
    )
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), calls, early, retracts=True))
    tumble.feed("a 1 5, b 1 1")

    assert tumble.feed("a 2 9, a 1 5 -D")[1::2] == ["a 0 10 +5+9 4 2 +U", "a 0 10 +5+9-5 0 1 +U"]


@pytest.mark.parametrize("implementation", [Vectorized(lambda v: 6 // len(v)), None])
def test_the_result_of_rows_that_are_all_retracted_is_not_computed(implementation):
    class Sixth(Rows):
        def get_value(self, accumulator: list[int]) -> int:
            return 6 // accumulator[0]

    whole = implementation or RowByRow(Sixth())
    call = AggregateSpec("SIXTH", ("v",), "n", LONG, implementation=whole)
    early = Emit(early=Firing(each_row=True))
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,), early, retracts=True))

    assert tumble.feed("a 1 5, a 1 5 -D, a 1 4") == ["a 0 10 6 +I", "a 0 10 6 -D", "a 0 10 6 +I"]


def test_function_without_arguments_sees_that_there_are_rows():
    call = AggregateSpec("ROWS", (), "n", LONG, implementation=RowByRow(Rows()))
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,)))
    tumble.feed("a 1, b 1, a 2")

    assert tumble.feed("a 3", watermark=9) == ["a 0 10 3", "b 0 10 1"]


def test_one_column_may_be_several_arguments():
    class Products(Rows):
        def accumulate(self, accumulator: list[int], value: int, factor: int) -> None:
            accumulator[0] += value * factor

    call = AggregateSpec("SQUARES", ("v", "v"), "n", LONG, implementation=RowByRow(Products()))
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,)))

    assert tumble.feed("a 1 2, a 2 3", watermark=9) == ["a 0 10 13"]


def test_accumulator_that_cannot_be_kept_is_refused_by_the_name_of_the_function():
    class Locked(Rows):
        def create_accumulator(self):
            return [0, lambda: None]

    call = AggregateSpec("LOCKED", (), "n", LONG, implementation=RowByRow(Locked()))
    early = Emit(early=Firing(each_row=True))
    tumble = Driver(WindowAggregateKernel(("k",), Sliding(10, 10), (call,), early))

    with pytest.raises(TidemarkError, match="accumulator of aggregate function `LOCKED` cannot"):
        tumble.feed("a 1 5")


class Rows:
    """How many rows there are."""

    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *_: int) -> None:
        accumulator[0] += 1

    def retract(self, accumulator: list[int], *_: int) -> None:
        accumulator[0] -= 1

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class MergingRows(Rows):
    def merge(self, accumulator: list[int], accumulators: list[list[int]]) -> None:
        accumulator[0] += sum(other[0] for other in accumulators)


@pytest.mark.parametrize("function", [Rows(), MergingRows()])
@pytest.mark.parametrize(
    ("assigner", "emit"),
    [
        ("tumbling", Emit()),
        ("sliding", Emit()),
        ("session", Emit()),
        ("sliding", Emit(early=Firing(each_row=True))),
    ],
)
@given(script=scripts, takes=st.lists(st.booleans(), min_size=40, max_size=40))
@searched(10)
def test_combined_rows_have_the_same_result_in_any_order(function, assigner, emit, script, takes):
    call = AggregateSpec("ROWS", ("v",), "n", LONG, implementation=RowByRow(function))
    kernel = WindowAggregateKernel(("k",), ASSIGNERS[assigner], (call,), emit, compaction=SMALL)
    rows = Reference(ASSIGNERS[assigner], (count,), emit)

    check(kernel, rows, script)
    check(replace(kernel, retracts=True), rows, with_retractions(script, takes))


SCRIPT = """
import sys
from pyspark import cloudpickle
from tidemark.catalog.user_functions import declare, udaf
from tidemark.kernels.aggregates.users import RowByRow

@udaf(returns="BIGINT")
class Total:
    def create_accumulator(self):
        return [0]
    def accumulate(self, accumulator, value):
        accumulator[0] += value
    def get_value(self, accumulator):
        return accumulator[0]

function = RowByRow(declare("total", Total).implementation)
sys.stdout.buffer.write(cloudpickle.dumps(function))
"""
WORKER = """
import sys, polars as pl
from pyspark import cloudpickle
print(cloudpickle.loads(sys.stdin.buffer.read())(pl.DataFrame({"v": [1, 2, 4]})))
"""


def test_class_of_a_script_reaches_a_worker_that_does_not_have_it():
    sent = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True).stdout
    worker = subprocess.run([sys.executable, "-c", WORKER], input=sent, capture_output=True)
    assert worker.stdout.decode().strip() == "7", worker.stderr.decode()
