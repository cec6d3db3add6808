"""Aggregate functions of the user's: whole groups at once, or row by row."""

from __future__ import annotations

import polars as pl
import pytest

from tidemark.kernels.aggregates.users import RowByRow
from tidemark.kernels.windows.aggregate import WindowAggregate
from tidemark.kernels.windows.spec import Call, Emit, Firing, Session, Sliding

from .drive import LONG, Driver


def spread(rows: pl.DataFrame) -> int | None:
    """Vectorised: the distance of the greatest and the least value."""
    values = rows["v"].drop_nulls()
    return None if values.is_empty() else values.max() - values.min()


class Spread:
    """The same for one row after the other."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int | None) -> None:
        if value is not None:
            accumulator.append(value)

    def get_value(self, accumulator: list[int]) -> int | None:
        return max(accumulator) - min(accumulator) if accumulator else None


@pytest.fixture(params=[spread, RowByRow(Spread())], ids=["vectorised", "row by row"])
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
