"""What the host of a kernel does once there are rows: key group by key group, with its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.runtime.bucket import Bucket, Packed
from tidemark.runtime.partition_marks import with_reports
from tidemark.spark.moments import END_MS
from tidemark.spark.stateful.metrics import Stopwatch, packed_output, repacked_output
from tidemark.spark.stateful.modules import freeze_loaded_objects
from tidemark.spark.stateful.packing import INPUT, PARTITION, PAYLOAD, POSITION, FramesRepacked
from tidemark.spark.stateful.passing import Passed, parted
from tidemark.spark.stateful.store import StateStore

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle


class Hosted:
    """A key group's kernel with its state and its timer in Spark.

    A key group has one timer, at the smallest time it waits for.
    """

    def __init__(
        self,
        bucket: Bucket,
        repack: FramesRepacked | None,
        handle: StatefulProcessorHandle,
        store: StateStore,
    ) -> None:
        self._bucket = bucket
        self._repack = repack
        self._handle = handle
        self._store = store

    def rows(self, key: Any, frames: Iterator[pd.DataFrame], values: Any) -> Iterator[pd.DataFrame]:
        rows = (
            row
            for frame in frames
            for row in zip(
                frame[INPUT], frame[PARTITION], frame[POSITION], frame[PAYLOAD], strict=True
            )
        )
        passed: list[Passed] = []
        packed = [*parted(rows, passed)]
        yield from self.step(key, packed, values, passed)

    def step(
        self, key: Any, packed: list[Packed], values: Any, passed: Sequence[Passed] = ()
    ) -> Iterator[pd.DataFrame]:
        watch = Stopwatch()
        before, notes = self._store.open(int(key[0]))
        watermark = as_kernel_watermark(values.getCurrentWatermarkInMs())
        now = values.getCurrentProcessingTimeInMs()
        # Spark only knows the watermark of a batch in the next one. The rows have reported it
        # already.
        marks, packed = with_reports(notes.get("marks", {}), packed)
        known = notes.get("watermarks", ())
        watermarks = self._bucket.watermarks(packed, known)
        after = max(watermark, self._bucket.combined(watermarks))
        watch.lap("state")
        step = self._bucket.step(before, packed, watermark, after, now, watch.lap)
        watch.lap("kernel")
        timer = self._move_timer(notes.get("timer"), step.next_event_time)
        notes = {"timer": timer, "watermarks": watermarks, **({"marks": marks} if marks else {})}
        self._store.save(before, step.state, notes)
        watch.lap("state")
        freeze_loaded_objects()
        label, trips = int(key[0]), self._store.round_trips
        if self._repack is None:
            way = self._bucket.payloads
            yield from packed_output(label, step, trips, watch, way, passed)
        else:
            news = max(watermark, min(watermarks)) if watermarks != known else BEFORE_ALL
            yield from repacked_output(label, step, trips, watch, self._repack, news)

    def _move_timer(self, now: int | None, wanted: int | None) -> int | None:
        """Spark's watermark starts at 0, and at the end it is that of the end marker."""
        timer = None if wanted is None else min(max(wanted, 1), END_MS)
        if timer != now:
            if now is not None:
                self._handle.deleteTimer(now)
            if timer is not None:
                self._handle.registerTimer(timer)
        return timer


def as_kernel_watermark(spark_watermark: int) -> int:
    """Spark reports 0 before the first watermark, and the time of the end marker after all rows."""
    if spark_watermark <= 0:
        return BEFORE_ALL
    return AFTER_ALL if spark_watermark >= END_MS else spark_watermark
