"""Key groups: where keys go does not depend on how many partitions do the work.

Here Spark is a dictionary of stores. Rows are packed by some partitions, dealt to others by
Spark's own rule, and each of these works on the groups that it is dealt, as Spark's workers do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tidemark.kernels.co_group.kernel import CoGroupKernel, WindowAssignment, WindowsOfRows
from tidemark.kernels.co_group.sessions import SharedSessions
from tidemark.kernels.columns import BEFORE_ALL, HASH
from tidemark.kernels.handing_out import HandingOut, OutletColumns
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.keep_last import KeepLastKernel
from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK, DropLateRows, LateRowsKernel
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.regular_join.kernel import RegularJoinKernel
from tidemark.kernels.regular_join.lifetimes import JoinInput
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import WINDOW_END, AggregateSpec, Session, Sliding
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.spark.stateful.buckets import _murmur3, labels
from tidemark.spark.stateful.cache import SegmentCache
from tidemark.spark.stateful.packing import PAYLOAD, Pack
from tidemark.spark.stateful.store import StateStore

# As many as a stream has at most unless its user asks for more.
GROUPS = 16
KEYS = range(50)
# Numbers of partitions before and after: more and fewer, with each number as both.
MOVES = ((1, 4), (4, 2), (2, 8), (8, 1))


def test_each_partition_gets_the_same_share_of_groups_on_usual_numbers_of_cores() -> None:
    for partitions in (1, 2, 4, 8, 16, 32):
        dealt = Counter(_murmur3(label) % partitions for label in labels(32))
        assert set(dealt.values()) == {32 // partitions}


class Store:
    """The values of one key group in Spark's store."""

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
class Job:
    """An operator over inputs of a key and a value each, whose key groups are kept in stores."""

    kernel: Kernel
    names: tuple[tuple[str, str], ...]
    output: tuple[str, ...]
    late: tuple[str, ...] = ()  # asked for in place of the output
    stores: dict[int, Store] = field(default_factory=lambda: defaultdict(Store))
    watermark: int = BEFORE_ALL

    def step(self, partitions: int, watermark: int, *inputs: int | None) -> list[tuple[Any, ...]]:
        """A micro-batch on so many partitions: a row of each key in every input that has a time
        of its rows, in seconds. Returns what comes out."""
        rows = [row for n, time in enumerate(inputs) for row in self._packed(n, time, partitions)]
        by_label: dict[int, list[Any]] = {label: [] for label in self.stores}
        for row in rows:
            by_label.setdefault(row["bucket"], []).append(
                (row["input"], row["partition"], row["position"], row[PAYLOAD])
            )
        out = []
        for partition in range(partitions):
            # Workers of their own, with nothing in their caches.
            cache = SegmentCache()
            for label in sorted(by_label):
                if _murmur3(label) % partitions == partition:
                    out += self._on_worker(label, by_label[label], watermark, cache)
        self.watermark = watermark
        return out

    def _on_worker(
        self, label: int, packed: list[Any], watermark: int, cache: SegmentCache
    ) -> list[tuple[Any, ...]]:
        store = StateStore(self.stores[label], self.stores[label], cache)
        before, _ = store.open()
        shapes = tuple(map(self._shape, self.names))
        bucket = Bucket(self.kernel, shapes, self.output, late=self._handed_out)
        step = bucket.step(before, packed, self.watermark, watermark, 0)
        store.save(before, step.state, {})
        if not self.late:
            return step.output.rows()
        return step.handed_out[7].rows()

    @property
    def _handed_out(self) -> dict[int, tuple[str, ...]]:
        return {7: self.late} if self.late else {}

    def _shape(self, names: tuple[str, str]) -> InputShape:
        return InputShape.of(_schema(names))

    def _packed(self, number: int, time: int | None, partitions: int) -> list[dict[str, Any]]:
        if time is None:
            return []
        pack = Pack(number, labels(GROUPS), _schema(self.names[number]), "ts")
        batches = [self._rows(number, keys, time) for keys in _dealt(partitions)]
        return [
            row | {"partition": partition}
            for partition, batch in enumerate(batches)
            for packed in pack(iter([batch]))
            for row in packed.to_pylist()
        ]

    def _rows(self, number: int, keys: list[int], time: int) -> pa.RecordBatch:
        key, value = self.names[number]
        # Any hash will do that is the same for equal keys.
        hashes = [(k * 0x9E3779B97F4A7C15) % (1 << 63) for k in keys]
        return pa.record_batch(
            {
                key: pa.array(keys, pa.int64()),
                value: pa.array([time * 100 + k for k in keys], pa.int64()),
                HASH: pa.array(hashes, pa.int64()),
                "ts": pa.array([time * 1_000_000] * len(keys), pa.timestamp("us")),
            }
        )


def _schema(names: tuple[str, str]) -> pa.Schema:
    return pa.schema([(name, pa.int64()) for name in names])


def _dealt(partitions: int) -> list[list[int]]:
    return [list(KEYS)[start::partitions] for start in range(partitions)]


LEFT, RIGHT = ("k", "v"), ("rk", "rv")
SUM = (AggregateSpec("SUM", ("v",), "s", pl.Int64()),)
PAIRS = [(100 + k, 200 + k) for k in KEYS]
TOTALS = [(k, 300 + 2 * k) for k in KEYS]


def temporal_join() -> Job:
    kernel = TemporalJoinKernel(("k",), ("rk",), "left")
    return Job(kernel, (LEFT, RIGHT), ("v", "rv"))


def regular_join() -> Job:
    kernel = RegularJoinKernel(
        JoinInput(("k",), False, ()),
        JoinInput(("rk",), False, ()),
        how="inner",
        condition=None,
        nulls_equal=(False,),
        wanted=("v", "rv"),
    )
    return Job(kernel, (LEFT, RIGHT), ("v", "rv"))


def sums_of_both(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """What meets in a window: of each key the values of both sides."""
    sides = [
        rows.group_by(rows.columns[0], WINDOW_END).agg(pl.col(rows.columns[1]).sum())
        for rows in (left, right)
    ]
    return sides[0].join(sides[1], left_on=["k", WINDOW_END], right_on=["rk", WINDOW_END])


def co_group(gap: int | None) -> Job:
    minutes = WindowAssignment(Sliding(60_000, 60_000))
    windows = (
        WindowsOfRows(minutes, minutes) if gap is None else SharedSessions(("k",), ("rk",), gap)
    )
    return Job(CoGroupKernel(windows, sums_of_both), (LEFT, RIGHT), ("v", "rv"))


def late_rows(kernel: Kernel) -> Job:
    return Job(LateRowsKernel(kernel), (LEFT,), ("k", LATE_TIME, LATE_WATERMARK))


def windows(assigner: Any) -> Job:
    return Job(WindowAggregateKernel(("k",), assigner, SUM), (LEFT,), ("k", "s"))


def keep_last() -> Job:
    return Job(KeepLastKernel(("k",)), (LEFT,), ("k", "v"))


@pytest.mark.parametrize(("before", "after"), MOVES)
class TestMoving:
    """From some partitions to others, in the middle of what belongs together."""

    def test_a_temporal_join_finds_every_version(self, before: int, after: int) -> None:
        job = temporal_join()
        # The versions of second 2 are there first; the rows of second 2 come elsewhere.
        job.step(before, 1000, None, 2)
        out = job.step(after, 60_000, 2, None)
        assert sorted(out) == [(200 + k, 200 + k) for k in KEYS]

    def test_a_regular_join_finds_all_rows(self, before: int, after: int) -> None:
        job = regular_join()
        assert job.step(before, 1000, 1, None) == []
        assert sorted(job.step(after, 2000, None, 2)) == PAIRS

    def test_windows_have_the_rows_of_both(self, before: int, after: int) -> None:
        job = windows(Sliding(60_000, 60_000))
        assert job.step(before, 0, 1) == []
        assert job.step(after, 1500, 2) == []
        assert sorted(job.step(before, 120_000)) == TOTALS

    def test_sessions_have_the_rows_of_both(self, before: int, after: int) -> None:
        job = windows(Session(10_000))
        assert job.step(before, 0, 1) == []
        assert job.step(after, 1500, 2) == []
        assert sorted(job.step(before, 120_000)) == TOTALS

    def test_the_last_row_replaces_the_one_before(self, before: int, after: int) -> None:
        job = keep_last()
        job.step(before, 1000, 1)
        out = Counter(job.step(after, 2000, 2))
        assert out == Counter([*((k, 100 + k) for k in KEYS), *((k, 200 + k) for k in KEYS)])

    def test_a_key_that_was_first_once_is_not_first_again(self, before: int, after: int) -> None:
        job = Job(KeepFirstKernel(("k",)), (LEFT,), ("k", "v"))
        assert sorted(job.step(before, 1000, 1)) == [(k, 100 + k) for k in KEYS]
        assert job.step(after, 5000, 2) == []

    @pytest.mark.parametrize("gap", [None, 10_000])
    def test_a_co_group_contains_the_rows_of_both_sides(
        self, before: int, after: int, gap: int | None
    ) -> None:
        job = co_group(gap)
        assert job.step(before, 0, 1, None) == []
        assert job.step(after, 1500, None, 2) == []
        assert sorted(job.step(before, 120_000, None, None)) == PAIRS

    def test_rows_are_late_by_the_watermark_that_was_reached_elsewhere(
        self, before: int, after: int
    ) -> None:
        job = late_rows(DropLateRows(Sliding(1000, 1000)))
        assert job.step(before, 5000, 6) == []
        assert sorted(job.step(after, 6000, 3)) == [(k, 3000, 5000) for k in KEYS]

    def test_an_operator_hands_out_what_is_late_by_the_watermark_that_was_reached_elsewhere(
        self, before: int, after: int
    ) -> None:
        counts = WindowAggregateKernel(
            ("k",), Sliding(1000, 1000), (AggregateSpec("COUNT", (), "n", pl.Int64()),)
        )
        late = ("v", LATE_TIME, LATE_WATERMARK)
        job = Job(HandingOut(counts, {7: OutletColumns(0, ("v",))}), (LEFT,), ("k", "n"), late)
        assert job.step(before, 5000, 6) == []
        assert sorted(job.step(after, 6000, 3)) == [(300 + k, 3000, 5000) for k in KEYS]

    def test_rows_are_late_for_sessions_that_began_elsewhere(self, before: int, after: int) -> None:
        job = late_rows(WindowAggregateKernel(("k",), Session(10_000), SUM))
        assert job.step(before, 18_000, 10) == []
        # Second 2 reaches the session of second 10, which is open; second 1 of the next step too.
        assert job.step(after, 19_000, 2) == []
        # All of that is over.
        assert sorted(job.step(before, 30_000)) == []
        assert sorted(job.step(after, 31_000, 3)) == [(k, 3000, 30_000) for k in KEYS]
