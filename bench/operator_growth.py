"""Whether a micro-batch of an operator costs what its rows cost, however many keys are in state.

python -m bench.operator_growth [--operators OPERATOR ...]

Without Spark: each group's state is in a dictionary in place of Spark's store, as in
`bench.key_groups`. State has a row for each key; then come micro-batches of the same size, with
rows of random keys. What counts is the CPU time of one process: the median of the micro-batches,
and their mean, in which the merging of segments of state has its share.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from bench.key_groups import Running
from tidemark.kernels.columns import HASH, KIND
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.keep_last import KeepLastKernel
from tidemark.kernels.order import Order
from tidemark.kernels.over.by_time import OverByTimeKernel
from tidemark.kernels.over.spec import OverCall, OverFrame
from tidemark.kernels.over.updating import OverUpdatingKernel
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.regular_join.kernel import RegularJoinKernel
from tidemark.kernels.regular_join.lifetimes import JoinInput
from tidemark.kernels.top_n.kernel import TopNKernel
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Emit, Firing, Given

LIMIT_RATIO = 1.5
KEYS = (100_000, 5_000_000)
_GROUPS = 4
_BATCHES, _WARM_UP = 24, 4
_ROWS, _TOUCHED = 50_000, 10_000
# So many keys come into state at once.
_FILL = 500_000
_START_MS, _BATCH_MS = 1_700_000_000_000, 1_000
_SINCE, _UNTIL = "since", "until"
_ALWAYS = {_SINCE: 0, _UNTIL: 2**62}

_PAYMENTS = pa.schema([("account", pa.int64()), ("amount", pa.int64()), ("id", pa.int64())])
_IN_GROUPS = pa.schema([*_PAYMENTS, *((name, pa.int64()) for name in _ALWAYS)])
_CHANGES = pa.schema([*_PAYMENTS, (KIND, pa.string())])
_ACCOUNTS = pa.schema([("key", pa.int64()), ("name", pa.int64()), ("number", pa.int64())])
_KEY = ("account",)


@dataclass(frozen=True)
class Growing:
    """A kernel, the columns of its inputs and those that it emits."""

    kernel: Kernel
    inputs: tuple[pa.Schema, ...] = (_PAYMENTS,)
    output: tuple[str, ...] = ("account", "id")


def _grouped(*calls: AggregateSpec) -> Growing:
    kernel = WindowAggregateKernel(
        _KEY, Given(_SINCE, _UNTIL, endless=True), calls, Emit(early=Firing(each_row=True))
    )
    return Growing(kernel, (_IN_GROUPS,), ("account", *(call.output for call in calls), KIND))


def _over(frame: OverFrame) -> Growing:
    calls = (OverCall(AggregateSpec("SUM", ("amount",), "total", pl.Int64()), frame),)
    return Growing(OverByTimeKernel(_KEY, calls), output=("id", "total"))


def _ranked(kernel: TopNKernel) -> Growing:
    schema = _CHANGES if kernel.input == "retractions" else _PAYMENTS
    return Growing(kernel, (schema,), ("account", "id", KIND))


_BY_AMOUNT = (Order("amount", descending=True), Order("id"))
OPERATORS: Mapping[str, Growing] = {
    "group-by": _grouped(
        AggregateSpec("COUNT", (), "n", pl.Int64()),
        AggregateSpec("SUM", ("amount",), "total", pl.Int64()),
        AggregateSpec("MAX", ("amount",), "high", pl.Int64()),
    ),
    "distinct": _grouped(AggregateSpec("COUNT", ("amount",), "n", pl.Int64(), distinct=True)),
    "regular-join": Growing(
        RegularJoinKernel(JoinInput(_KEY), JoinInput(("key",), unique=("key",))),
        (_PAYMENTS, _ACCOUNTS),
        ("id", "name"),
    ),
    "top-n": _ranked(TopNKernel(_KEY, _BY_AMOUNT, 1, 3)),
    "top-n-retractions": _ranked(TopNKernel(_KEY, _BY_AMOUNT, 1, 3, "retractions")),
    "first-row": Growing(KeepFirstKernel(_KEY)),
    "last-row": Growing(KeepLastKernel(_KEY), output=("account", "id", KIND)),
    "over-rows": _over(OverFrame(-9, 0, by_rows=True)),
    "over-range": _over(OverFrame(-10_000, 0)),
    "over-unbounded": _over(OverFrame()),
    "over-amount": Growing(
        OverUpdatingKernel(
            _KEY,
            _BY_AMOUNT,
            (OverCall(AggregateSpec("SUM", ("amount",), "total", pl.Int64())),),
            retracts=False,
        ),
        output=("id", "total", KIND),
    ),
}


def rows(schema: pa.Schema, keys: np.ndarray, start_ms: int, first_id: int) -> pa.RecordBatch:
    """A row of each key, spread over the time of a micro-batch."""
    key, amount, number, *_ = schema.names
    ids = first_id + np.arange(len(keys))
    hashes = (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.int64)
    times = pa.array((start_ms + np.arange(len(keys)) * _BATCH_MS // len(keys)) * 1000)
    columns = {key: keys, amount: ids * 7919 % 1000, number: ids}
    columns |= {name: np.full(len(keys), value) for name, value in _ALWAYS.items()}
    columns |= {KIND: np.full(len(keys), "+I"), HASH: hashes, "ts": times.cast(pa.timestamp("us"))}
    return pa.record_batch({name: columns[name] for name in (*schema.names, HASH, "ts")})


def measured(growing: Growing, keys: int) -> list[float]:
    """CPU milliseconds of each micro-batch, with rows of all keys in state."""
    random = np.random.default_rng(1)
    running = Running(_GROUPS, growing.kernel, growing.inputs, growing.output)
    for number, first in enumerate(range(0, keys, _FILL)):
        piece = np.arange(first, min(first + _FILL, keys))
        start = _START_MS + number * _BATCH_MS
        running.step(start + _BATCH_MS, *([rows(s, piece, start, first)] for s in growing.inputs))
    spent = []
    for number in range(-(-keys // _FILL), -(-keys // _FILL) + _BATCHES):
        touched = random.choice(random.choice(keys, _TOUCHED, replace=False), _ROWS)
        start, first = _START_MS + number * _BATCH_MS, keys + number * _ROWS
        batches = [[rows(growing.inputs[0], touched, start, first)], *[[]] * _others(growing)]
        since = time.process_time()
        running.step(start + _BATCH_MS, *batches)
        spent.append((time.process_time() - since) * 1000)
    return spent[_WARM_UP:]


def _others(growing: Growing) -> int:
    return len(growing.inputs) - 1


def compared(name: str, keys: Sequence[int]) -> float:
    """How many times as long the median micro-batch takes with the most keys as with the fewest."""
    medians = []
    for count in keys:
        spent = measured(OPERATORS[name], count)
        medians.append(statistics.median(spent))
        print(
            f"{name:>18} {count:>10,} keys: {medians[-1]:>7.0f} ms in the median, "
            f"{statistics.mean(spent):>7.0f} ms on average",
            flush=True,
        )
    return medians[-1] / medians[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operators", nargs="+", choices=OPERATORS, default=[*OPERATORS])
    parser.add_argument("--keys", type=int, nargs="+", default=KEYS, help="few and many")
    arguments = parser.parse_args()
    ratios = {name: compared(name, arguments.keys) for name in arguments.operators}
    for name, ratio in ratios.items():
        print(f"{name:>18} {ratio:.2f} times (at most: {LIMIT_RATIO})")
    return int(max(ratios.values()) > LIMIT_RATIO)


if __name__ == "__main__":
    raise SystemExit(main())
