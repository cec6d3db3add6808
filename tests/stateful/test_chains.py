"""Two operators, one above the other, in micro-batches without Spark: the upper one learns of each
watermark in the micro-batch in which the lower one does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.spark.moments import END_MS
from tidemark.spark.stateful.cache import SegmentCache
from tidemark.spark.stateful.hosted import Hosted
from tidemark.spark.stateful.metrics import REPORT
from tidemark.spark.stateful.packing import BUCKET, Pack, Repack, Unpack
from tidemark.spark.stateful.store import StateStore

from .variables import Variables

LABELS = (12, 6)
LEFT = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us")), ("id", pa.int64())])
FIRST = pa.schema([("a", pa.int64()), ("a_ts", pa.timestamp("us")), ("x", pa.int64())])
SECOND = pa.schema([("b", pa.int64()), ("b_ts", pa.timestamp("us")), ("y", pa.int64())])
JOINED = pa.schema([*LEFT, FIRST.field("x")])
RESULT = pa.schema([*LEFT, FIRST.field("x"), SECOND.field("y")])

NAMES = ("left", "first", "second")

# Key, time in milliseconds, number.
Rows = list[tuple[int, int, int]]


@dataclass
class Group:
    """A key group with its state and its timer."""

    bucket: Bucket
    repack: Any = None
    timers: set[int] = field(default_factory=set)
    hosted: Hosted = field(init=False)

    def __post_init__(self) -> None:
        handle = SimpleNamespace(registerTimer=self.timers.add, deleteTimer=self.timers.remove)
        variables = Variables()
        store = StateStore(variables, variables, SegmentCache())
        self.hosted = Hosted(self.bucket, self.repack, handle, store)

    def called(self, label: int, rows: list[dict[str, Any]], watermark: int) -> Iterator[Any]:
        """What Spark's calls emit: with rows, if there are any, and then for a timer that is due."""
        clock = SimpleNamespace(
            getCurrentWatermarkInMs=lambda: watermark, getCurrentProcessingTimeInMs=lambda: 0
        )
        if rows:
            yield from self.hosted.rows((label,), iter([pd.DataFrame(rows, dtype=object)]), clock)
        due = [timer for timer in self.timers if timer <= watermark]
        if due:
            self.timers.difference_update(due)
            yield from self.hosted.step((label,), [], clock)


@dataclass
class Chain:
    """`left` joins `first`, and the result joins `second`, in micro-batches of Spark, which knows
    the watermark of a micro-batch in the next one."""

    emitted: list[tuple[Any, ...]] = field(default_factory=list)
    watermark: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lower = TemporalJoinKernel(("k",), ("a",), "left")
        upper = TemporalJoinKernel(("k",), ("b",), "left")
        above = Repack(("k",), (), Pack(0, LABELS, JOINED, "ts"))
        shapes = InputShape.of(LEFT), InputShape.of(FIRST)
        first = Bucket(lower, shapes, tuple(JOINED.names))
        repack = partial(emitted_by, above)
        self.lower = {label: Group(first, repack) for label in LABELS}
        chained = InputShape.of(JOINED, chained=True), InputShape.of(SECOND)
        self.upper = {label: Group(Bucket(upper, chained, tuple(RESULT.names))) for label in LABELS}

    def run(self, ended: bool = False, **inputs: Rows) -> None:
        """A micro-batch with rows of some inputs, or with the ends of all."""
        below, beside = [], []
        for number, (name, schema) in enumerate([("left", LEFT), ("first", FIRST)]):
            below += self._packed(name, number, schema, inputs.get(name, []), ended)
        beside += self._packed("second", 1, SECOND, inputs.get("second", []), ended)
        for frame in self._called(self.lower, below):
            rows = frame[frame[REPORT].isna()].drop(columns=[REPORT])
            beside += rows.to_dict("records")
        unpack = Unpack(RESULT)
        for frame in self._called(self.upper, beside):
            payloads = [pa.scalar(value, pa.binary()) for value in frame["payload"]]
            for batch in unpack.opened(payloads):
                self.emitted += [(row["id"], row["x"], row["y"]) for row in batch.to_pylist()]
        self.watermark = max(self.watermark, min(self.seen.get(n, 0) for n in NAMES))

    def _packed(
        self, name: str, number: int, schema: pa.Schema, rows: Rows, ended: bool
    ) -> list[dict[str, Any]]:
        if ended:
            self.seen[name] = END_MS
            reports = Pack(number, LABELS, schema, None).reported(LABELS, 0, AFTER_ALL)
            return list(reports.to_pylist())
        if not rows:
            return []
        self.seen[name] = max(self.seen.get(name, 0), *(time for _, time, _ in rows))
        frame = pl.DataFrame(rows, schema=schema.names, orient="row").with_columns(
            pl.col(schema.names[1]).cast(pl.Datetime("ms")).dt.cast_time_unit("us")
        )
        pack = Pack(number, LABELS, schema, schema.names[1], behind_ms=0)
        repack = Repack((schema.names[0],), (), pack)
        packed = repack.of_emitted(iter([frame]), schema, 0, BEFORE_ALL)
        return [row for batch in packed for row in batch.to_pylist()]

    def _called(self, groups: dict[int, Group], rows: list[dict[str, Any]]) -> Iterator[Any]:
        of_group: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            of_group[row[BUCKET]].append(row)
        for label, group in groups.items():
            yield from group.called(label, of_group[label], self.watermark)


def emitted_by(
    repack: Repack, frames: Iterator[pl.DataFrame], label: int, watermark: int
) -> Iterator[pa.RecordBatch]:
    return repack.of_emitted(frames, JOINED, label, watermark)


# For each source the keys of the rows of a micro-batch, and how much later each is than the one
# before; or nothing. The first row is at least a millisecond later.
SOME = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=4)
BATCHES = st.lists(st.tuples(SOME, SOME, SOME), max_size=6)


def rows_of(batches: Sequence[tuple[Rows, ...]]) -> list[dict[str, Rows]]:
    """The rows of each micro-batch; none is behind an earlier one of its source."""
    clocks, number, result = dict.fromkeys(NAMES, 0), 0, []
    for batch in batches:
        inputs: dict[str, Rows] = {}
        for name, steps in zip(NAMES, batch, strict=True):
            clocks[name] += 1
            inputs[name] = []
            for key, later in steps:
                clocks[name] += later
                number += 1
                inputs[name].append((key, clocks[name], number))
        result.append(inputs)
    return result


def joined(seen: dict[str, Rows], until: int) -> list[tuple[Any, ...]]:
    """The reference: each left row up to a watermark, with the versions of its time."""

    def version(name: str, key: int, time: int) -> int | None:
        known = [row for row in seen[name] if row[0] == key and row[1] <= time]
        # Of versions of the same time, the last one counts.
        return max(known, key=lambda row: row[1:])[2] if known else None

    return [
        (number, version("first", key, time), version("second", key, time))
        for key, time, number in seen["left"]
        if time <= until
    ]


@searched(40)
@given(BATCHES)
@example([([(0, 1)], [(0, 1)], [(0, 1)])])
def test_rows_pass_both_operators_in_the_micro_batch_that_lets_them_go(
    batches: list[tuple[Rows, ...]],
) -> None:
    chain = Chain()
    seen: dict[str, Rows] = {name: [] for name in NAMES}
    for inputs in rows_of(batches):
        chain.run(**inputs)
        for name, rows in inputs.items():
            seen[name] += rows
        known = min(max((time for _, time, _ in seen[name]), default=0) for name in NAMES)
        assert sorted(chain.emitted, key=repr) == sorted(joined(seen, known), key=repr)

    chain.run(ended=True)

    assert sorted(chain.emitted, key=repr) == sorted(joined(seen, END_MS), key=repr)
