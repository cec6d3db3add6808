"""The watermarks of the sources of a stream, as far as the driver knows them.

Spark follows the smallest one and reports no other. So each source has an observed metric below the
place where Spark follows it; those of partitions are in the notes of the workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.moments import iso
from tidemark.spark.partition_watermarks import Follower, aligned
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PREFIX: Final = "tidemark-watermark-"
_MS: Final = "ms"
# Notes may be in an object store: do not read them each time that the status line is drawn.
_LOOK_EVERY: Final = 5.0


@dataclass(frozen=True, slots=True)
class FollowedSource:
    """A source whose watermark Spark follows. If its partitions have their own, `notes` says where
    workers note them, and `idle_ms` after how much silence a partition does not count.
    """

    table: str
    notes: Location | None = None
    idle_ms: int = 0
    metric: str = field(default_factory=lambda: f"{_PREFIX}{uuid4().hex[:8]}")

    def observed(self, data: DataFrame, column: str) -> DataFrame:
        """The same rows; the largest value of the TIMESTAMP column is observed."""
        from pyspark.sql import functions as f

        return data.observe(self.metric, f.unix_millis(f.max(column)).alias(_MS))


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """The watermark of a partition, None before the first, and for how long the driver has seen
    nothing new of it. An idle one holds back no other. One that is too far ahead waits for the
    slowest of a group with which it is `aligned`."""

    name: str
    watermark: str | None = None
    idle: bool = False
    silent_seconds: float = 0.0
    aligned: str | None = None


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """The watermark of a source, None before the first one since the job was started here, and when
    the micro-batch of its last rows began: as ISO text in UTC. `times_out` says whether silent
    partitions become idle.
    """

    table: str
    watermark: str | None = None
    last_rows: str | None = None
    partitions: tuple[PartitionProgress, ...] = ()
    times_out: bool = False

    @property
    def held_back_by(self) -> PartitionProgress | None:
        """The partition with the smallest watermark, if the source has partitions of its own."""
        active = (partition for partition in self.partitions if not partition.idle)
        return min(active, key=lambda partition: partition.watermark or "", default=None)

    @property
    def holder(self) -> str:
        """The source, with the partition that holds it back if there is one, as messages say it."""
        partition = self.held_back_by
        return self.table if partition is None else f"{self.table}, partition {partition.name}"


class SourceWatermarks:
    """Follows the watermarks of a query's sources through its reports."""

    def __init__(
        self, sources: Sequence[FollowedSource], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources = [_Followed(source, clock) for source in sources]

    def take(self, metrics: Mapping[str, Mapping[str, Any]], at: str) -> None:
        """Take the observed metrics of a micro-batch that began at this time."""
        for followed in self._sources:
            followed.take(metrics, at)

    @property
    def have_ended(self) -> bool:
        """Whether everything has been read of all sources, by the notes of the workers."""
        return bool(self._sources) and all(followed.has_ended for followed in self._sources)

    def read(self) -> tuple[SourceProgress, ...]:
        return tuple(followed.read() for followed in self._sources)


class _Followed:
    def __init__(self, source: FollowedSource, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._watermark: int | None = None
        self._last_rows: str | None = None
        self._looked = float("-inf")
        self._aligned: dict[str, str] = {}
        notes = source.notes
        self._partitions = None if notes is None else Follower(notes, source.idle_ms, clock)

    def take(self, metrics: Mapping[str, Mapping[str, Any]], at: str) -> None:
        latest = metrics.get(self._source.metric, {}).get(_MS)
        if latest is None:
            return
        self._last_rows = at
        # Rows that carry no watermark have the time 0.
        if latest > 0:
            self._watermark = max(latest, self._watermark or 0)

    def read(self) -> SourceProgress:
        return SourceProgress(
            self._source.table,
            None if self._watermark is None else iso(self._watermark),
            self._last_rows,
            self._read_partitions(),
            times_out=self._source.idle_ms > 0,
        )

    @property
    def has_ended(self) -> bool:
        if self._partitions is None:
            return False
        self._partitions.look()
        return self._partitions.has_ended

    def _read_partitions(self) -> tuple[PartitionProgress, ...]:
        if self._partitions is None:
            return ()
        if self._clock() - self._looked >= _LOOK_EVERY:
            self._partitions.look()
            self._aligned = aligned(self._partitions.folder)
            self._looked = self._clock()
        return tuple(
            PartitionProgress(
                name,
                None if mark == BEFORE_ALL else iso(mark),
                self._partitions.is_idle(name),
                self._partitions.silent_seconds(name),
                self._aligned.get(name),
            )
            for name, mark in sorted(self._partitions.latest.items())
        )
