"""The rows of one key group of a batch, without Spark: what becomes of CPU time and memory when
there are more of them, or when half of them have one key.

python -m bench.batch_steps OPERATOR ROWS [--skewed [--both]]

Rows come packed as Spark hands them to a worker. The CPU time is what remains after making them;
memory is the largest that the process had resident.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Given, Sliding
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, InputShape, Packed
from tidemark.runtime.payloads import encode

# Of Spark's ten thousand rows at a time, as many as one of four key groups gets.
_PACKED_ROWS = 2_500
_ROWS_PER_KEY = 100
_SUMS = (
    AggregateSpec("COUNT", (), "n", pl.Int64()),
    AggregateSpec("SUM", ("left_n",), "total", pl.Int64()),
)
_ALWAYS = Given("start", "end")


@dataclass(frozen=True)
class Operator:
    """A kernel, what it emits, and how many left rows there are for each right one; 0 without a
    right input."""

    kernel: Kernel
    output: tuple[str, ...]
    left_per_right: int = 0


def _joined(kernel: Kernel, left_per_right: int) -> Operator:
    return Operator(kernel, ("left_n", "left_key", "right_n"), left_per_right)


_KEYS = ("left_key",), ("right_key",)
OPERATORS = {
    "temporal-join": _joined(TemporalJoinKernel(*_KEYS), 10),
    "interval-join": _joined(IntervalJoinKernel(*_KEYS, -1000, 1000), 3),
    "windows": Operator(
        WindowAggregateKernel(_KEYS[0], Sliding(10_000, 10_000), _SUMS), ("n", "total")
    ),
    "group-by": Operator(WindowAggregateKernel(_KEYS[0], _ALWAYS, _SUMS), ("n", "total")),
}


@dataclass(frozen=True)
class Rows:
    """A table of so many rows a millisecond apart; half of them are of key 0 if `skewed`."""

    side: str
    keys: int
    skewed: bool

    def frame(self, first: int, count: int, apart: int) -> pl.DataFrame:
        number = np.arange(first, first + count)
        key = number * 7919 * (3 if self.side == "right" else 1) % self.keys
        if self.skewed:
            key = np.where(number % 2 == 0, 0, key)
        return pl.DataFrame(
            {
                f"{self.side}_n": number,
                f"{self.side}_key": key,
                "start": np.zeros(count, dtype=np.int64),
                "end": np.full(count, 2**62),
                HASH: (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64),
                TIME: number * apart,
            }
        )


def packed(operator: Operator, rows: int, skewed: bool, *, both: bool = False) -> Iterator[Packed]:
    keys, given = max(rows // _ROWS_PER_KEY, 1), operator.kernel is OPERATORS["group-by"].kernel
    # If `both` sides of an interval join have the key, it makes hundreds of pairs for each row.
    both = both or operator is not OPERATORS["interval-join"]
    left, right = Rows("left", keys, skewed), Rows("right", keys, skewed and both)
    apart = operator.left_per_right

    def payload(frame: pl.DataFrame) -> bytes:
        return encode(frame if given else frame.drop("start", "end"))

    for first in range(0, rows, _PACKED_ROWS):
        yield 0, 0, first, payload(left.frame(first, _PACKED_ROWS, 1))
    for first in range(0, rows // apart if apart else 0, _PACKED_ROWS):
        yield 1, 0, first, payload(right.frame(first, _PACKED_ROWS, apart))


def bucket_of(operator: Operator) -> Bucket:
    sides = ["left", "right"][: 2 if operator.left_per_right else 1]
    more = ["start", "end"] * (operator.kernel is OPERATORS["group-by"].kernel)
    shapes = tuple(
        InputShape.of(pa.schema(dict.fromkeys([f"{s}_n", f"{s}_key", *more], pa.int64())))
        for s in sides
    )
    return Bucket(operator.kernel, shapes, operator.output)


def without(making: Iterator[Packed], spent: Callable[[float], None]) -> Iterator[Packed]:
    """The same rows, telling how much CPU time it took to make them."""
    while True:
        before = time.process_time()
        row = next(making, None)
        spent(time.process_time() - before)
        if row is None:
            return
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operator", choices=OPERATORS)
    parser.add_argument("rows", type=int)
    parser.add_argument("--skewed", action="store_true")
    parser.add_argument("--both", action="store_true", help="both sides of an interval join")
    arguments = parser.parse_args()
    operator, tally, making = OPERATORS[arguments.operator], Tally(), [0.0]
    rows_in = packed(operator, arguments.rows, arguments.skewed, both=arguments.both)
    rows = without(rows_in, making.append)
    started = time.process_time()
    steps = Batch(bucket_of(operator), 0).steps(rows, tally)
    out = sum(step.output.height for step in steps)
    taken = time.process_time() - started - sum(making)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(
        f"{arguments.operator}, {arguments.rows:,} rows{', half of one key' * arguments.skewed}: "
        f"{taken / arguments.rows * 1e6:.2f} s of CPU per million rows, {peak:,.0f} MB, "
        f"{len(tally.steps)} steps, {out:,} rows out"
    )


if __name__ == "__main__":
    main()
