"""Aggregate functions of the user's: whole groups at once, or row by row."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tidemark.errors import TidemarkError
from tidemark.kernels.aggregates.users import RowByRow, Vectorized
from tidemark.kernels.windows.aggregate import WindowAggregate
from tidemark.kernels.windows.spec import Call, Emit, Firing, Session, Sliding

from .drive import LONG, Driver


def spread(values: pa.Array) -> pa.Scalar:
    """Vectorised: the distance of the greatest and the least value."""
    ends = pc.min_max(values)
    return pc.subtract(ends["max"], ends["min"])


class Spread:
    """The same for one row after the other."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int | None) -> None:
        if value is not None:
            accumulator.append(value)

    def get_value(self, accumulator: list[int]) -> int | None:
        return max(accumulator) - min(accumulator) if accumulator else None


@pytest.fixture(params=[Vectorized(spread), RowByRow(Spread())], ids=["vectorised", "row by row"])
def call(request) -> Call:
    return Call("SPREAD", ("v",), "spread", LONG, implementation=request.param)


def test_it_sees_all_rows_of_a_window_across_batches(call):
    tumble = Driver(WindowAggregate(("k",), Sliding(10, 10), (call,)))
    tumble.feed("a 1 5, b 1, a 2 9")
    tumble.restart()

    assert tumble.feed("a 3 2", watermark=9) == ["a 0 10 7", "b 0 10 -"]


def test_it_sees_merged_sessions(call):
    session = Driver(WindowAggregate(("k",), Session(5), (call,)))
    session.feed("a 0 1, a 8 4")

    assert session.feed("a 4 10", watermark=50) == ["a 0 13 9"]


def test_rows_that_are_taken_back_are_gone(call):
    early = Emit(early=Firing(each_row=True))
    tumble = Driver(WindowAggregate(("k",), Sliding(10, 10), (call,), early, retracts=True))

    assert tumble.feed("a 1 5, a 2 9, a 1 5 -D") == [
        "a 0 10 0 +I",
        "a 0 10 0 -U",
        "a 0 10 4 +U",
        "a 0 10 4 -U",
        "a 0 10 0 +U",
    ]


def test_value_of_another_type_is_refused_by_the_name_of_the_function():
    call = Call("SPREAD", ("v",), "spread", LONG, implementation=Vectorized(lambda _: "much"))
    tumble = Driver(WindowAggregate(("k",), Sliding(10, 10), (call,)))
    tumble.feed("a 1 5")

    with pytest.raises(TidemarkError, match="`SPREAD` gave a value that is not of its result type"):
        tumble.feed(watermark=9)


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
