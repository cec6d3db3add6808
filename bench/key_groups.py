"""What key groups cost: CPU time of a micro-batch without Spark, `python -m bench.key_groups`.

The same rows are packed and joined with different numbers of groups; each group's state is in a
dictionary in place of Spark's store. Store calls are counted: on Spark each call is a round trip
between two processes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tidemark.kernels.columns import BEFORE_ALL, HASH
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.spark.stateful.buckets import labels
from tidemark.spark.stateful.cache import SegmentCache
from tidemark.spark.stateful.packing import PAYLOAD, Pack
from tidemark.spark.stateful.store import StateStore

_ORDERS = pa.schema([("account", pa.int64()), ("n", pa.int64())])
_VERSIONS = pa.schema([("of", pa.int64()), ("version", pa.int64())])
_START_MS = 1_700_000_000_000
_BATCH_MS = 1_000
_BATCHES, _WARM_UP = 12, 3


class Store:
    """The values of one key group."""

    def __init__(self) -> None:
        self.values: dict[Any, tuple[Any, ...]] = {}

    def get(self) -> tuple[Any, ...] | None:
        return self.values.get("manifest")

    def update(self, value: tuple[Any, ...]) -> None:
        self.values["manifest"] = value

    def getValue(self, key: Any) -> tuple[Any, ...] | None:  # noqa: N802  (Spark's names)
        return self.values.get(key)

    def updateValue(self, key: Any, value: tuple[Any, ...]) -> None:  # noqa: N802
        self.values[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.values[key]


@dataclass
class Running:
    """A stateful operator with a number of key groups, over inputs of these columns."""

    groups: int
    kernel: Kernel
    inputs: tuple[pa.Schema, ...]
    output: tuple[str, ...]
    watermark: int = BEFORE_ALL
    calls: int = 0
    stores: dict[int, Store] = field(default_factory=lambda: defaultdict(Store))
    cache: SegmentCache = field(default_factory=lambda: SegmentCache(capacity=8 << 30))

    def step(self, after: int, *batches: list[Any]) -> None:
        """A micro-batch with these batches of each input."""
        by_group: dict[int, list[Any]] = defaultdict(list)
        numbers = labels(self.groups)
        for place, (schema, given) in enumerate(zip(self.inputs, batches, strict=True)):
            for packed in Pack(place, numbers, schema, "ts")(iter(given)):
                for row in packed.to_pylist():
                    said = (row["input"], row["partition"], row["position"], row[PAYLOAD])
                    by_group[row["bucket"]].append(said)
        self.calls = sum(self._group(label, rows, after) for label, rows in by_group.items())
        self.watermark = after

    def _group(self, label: int, rows: list[Any], after: int) -> int:
        shapes = tuple(map(InputShape.of, self.inputs))
        store = StateStore(self.stores[label], self.stores[label], self.cache)
        before, _ = store.open()
        bucket = Bucket(self.kernel, shapes, self.output)
        step = bucket.step(before, rows, self.watermark, after, 0)
        store.save(before, step.state, {})
        return store.round_trips


def rows(schema: pa.Schema, keys: Any, start_ms: int) -> pa.RecordBatch:
    """A row of each key, spread over the time of a micro-batch."""
    key, number = schema.names
    hashes = (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.int64)
    times = start_ms + np.arange(len(keys)) * _BATCH_MS // len(keys)
    stamps = pa.array(times * 1000, pa.timestamp("us"))
    return pa.record_batch({key: keys, number: np.arange(len(keys)), HASH: hashes, "ts": stamps})


def measured(groups: int, keys: int) -> tuple[float, float]:
    """CPU milliseconds and store calls in a micro-batch of 45,000 orders and 5,000 versions of
    10,000 keys, with a version of every key in state.
    """
    random = np.random.default_rng(1)
    kernel = TemporalJoinKernel(("account",), ("of",), "inner")
    join = Running(groups, kernel, (_ORDERS, _VERSIONS), ("n", "version"))
    pieces = [np.arange(first, min(first + 100_000, keys)) for first in range(0, keys, 100_000)]
    join.step(_START_MS, [], [rows(_VERSIONS, piece, _START_MS) for piece in pieces])
    spent, calls = [], []
    for number in range(1, _BATCHES + 1):
        touched = random.choice(keys, 10_000, replace=False)
        start = _START_MS + number * _BATCH_MS
        orders = [rows(_ORDERS, random.choice(touched, 45_000), start)]
        versions = [rows(_VERSIONS, random.choice(touched, 5_000), start)]
        since = time.process_time()
        join.step(start + 900, orders, versions)
        spent.append((time.process_time() - since) * 1000)
        calls.append(join.calls)
    return statistics.median(spent[_WARM_UP:]), statistics.median(calls[_WARM_UP:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=(100_000, 5_000_000))
    parser.add_argument("--groups", type=int, nargs="+", default=(4, 8, 16, 32, 64, 128))
    arguments = parser.parse_args()
    for keys in arguments.keys:
        for groups in arguments.groups:
            spent, calls = measured(groups, keys)
            print(f"{keys:>9,} keys {groups:>4} groups {spent:>7.0f} ms {calls:>6.0f} calls")


if __name__ == "__main__":
    main()
