"""The progress of a job, from a streaming query's reports about its micro-batches."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.batch_durations import Durations
from tidemark.spark.moments import NO_WATERMARK, iso
from tidemark.spark.positions import Lagging, SourcePosition, positions
from tidemark.spark.skipped import skipped_in
from tidemark.spark.source_watermarks import FollowedSource, SourceProgress, SourceWatermarks
from tidemark.spark.stalls import Stall, Stillness

if TYPE_CHECKING:
    from pyspark.sql import Observation

    from tidemark.checkpoints.state_sizes import Group
    from tidemark.spark.stateful.metrics import OperatorMetrics, Totals

# The observed metric with the number of rows emitted, if nothing else can count them.
ROWS_OUT = "tidemark-rows-out"


@dataclass(frozen=True, slots=True)
class OperatorProgress:
    """What a stateful operator has done since the job's start, and its state.

    `rows_in` and `late` have one number per input. `waiting` rows are emitted when the watermark,
    as ISO text in UTC, has reached them. State is that of the keys that have been touched.
    """

    name: str
    rows_in: tuple[int, ...] = ()
    rows_out: int = 0
    late: tuple[int, ...] = ()
    waiting: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    watermark: str | None = None

    @classmethod
    def of(cls, name: str, metrics: OperatorMetrics) -> OperatorProgress:
        return cls(
            name,
            metrics.rows_in,
            metrics.rows_out,
            metrics.late,
            metrics.waiting,
            metrics.state_rows,
            metrics.state_bytes,
            None if metrics.watermark is None else iso(metrics.watermark),
        )

    @staticmethod
    def shown(watermark: int) -> str | None:
        """A kernel's watermark, if there is one."""
        return None if watermark == BEFORE_ALL else iso(watermark)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job. Rows are counted from its start.

    `skipped` counts records that could not be read, of tables that ignore parse errors. `followed`
    are the sources whose watermarks operators wait for. `stalls` says of each query in which
    rows wait how long nothing has come out, and which source it waits for. `positions` are those in
    sources that know how much they have left.
    """

    batches: int = 0
    rows_in: int = 0
    rows_out: int = 0
    rows_per_second: float = 0.0
    watermark: str | None = None
    sources: tuple[str, ...] = ()
    seconds: float = 0.0
    operators: tuple[OperatorProgress, ...] = ()
    skipped: int = 0
    followed: tuple[SourceProgress, ...] = ()
    stalls: tuple[Stall, ...] = ()
    durations: Durations = field(default_factory=Durations)
    positions: tuple[SourcePosition, ...] = ()

    def __add__(self, other: Progress) -> Progress:
        return Progress(
            self.batches + other.batches,
            self.rows_in + other.rows_in,
            self.rows_out + other.rows_out,
            self.rows_per_second + other.rows_per_second,
            min(filter(None, (self.watermark, other.watermark)), default=None),
            (*self.sources, *other.sources),
            max(self.seconds, other.seconds),
            (*self.operators, *other.operators),
            self.skipped + other.skipped,
            (*self.followed, *other.followed),
            (*self.stalls, *other.stalls),
            self.durations + other.durations,
            (*self.positions, *other.positions),
        )


class Reports:
    """The totals of a query's reports. Spark itself only keeps the last hundred reports."""

    def __init__(
        self, followed: Sequence[FollowedSource] = (), lagging: Sequence[Lagging] = ()
    ) -> None:
        self.rows_out = 0
        self._lagging = lagging
        self._durations = Durations()
        self._sources = SourceWatermarks(followed)
        self._stillness = Stillness()
        self._lock = threading.Lock()
        self._last = -1
        self._latest: dict[str, Any] = {}
        self._batches = 0
        self._rows_in = 0
        self._speed = 0.0
        self._skipped = 0
        self._totals: dict[str, Totals] = {}

    @property
    def sources_have_ended(self) -> bool:
        """Whether everything has been read of all sources whose partitions have watermarks."""
        with self._lock:
            return self._sources.have_ended

    def take(self, recent: Iterable[Any]) -> None:
        """Add the new reports. A report of an idle query has the number of the batch that is yet
        to run.
        """
        with self._lock:
            for report in recent:
                if report["batchId"] > self._last:
                    # The JSON is the one form that is the same for all kinds of sessions.
                    values = json.loads(report.json)
                    if "addBatch" in values["durationMs"]:
                        self._add(values)

    def _add(self, values: dict[str, Any]) -> None:
        from tidemark.spark.stateful.counted import counts_in
        from tidemark.spark.stateful.metrics import Totals, observations, reports_of

        self._last = values["batchId"]
        self._latest = values
        self._batches += 1
        # Spark Connect omits sums over the sources.
        metrics = observations(values)
        read = counts_in(metrics)
        rows = sum(source["numInputRows"] for source in values["sources"]) + read.rows
        self._rows_in += rows
        taken = values["durationMs"].get("triggerExecution", 0)
        self._speed = 1000 * rows / max(1, taken)
        self._durations = self._durations.with_one_of(taken / 1000)
        self.rows_out += metrics.get(ROWS_OUT, {}).get("rows", 0)
        self._sources.take(metrics, values["timestamp"])
        self._skipped += skipped_in(metrics) + read.skipped
        for name, reports in reports_of(values).items():
            self._totals.setdefault(name, Totals()).add(reports)

    def kept(self) -> tuple[int, dict[str, dict[str, Group]]]:
        """The last micro-batch, and the state of each operator for the key groups it has worked
        on.
        """
        with self._lock:
            return self._last, {name: totals.kept() for name, totals in self._totals.items()}

    def progress(self, rows_out: int, seconds: float) -> Progress:
        with self._lock:
            sources = self._latest.get("sources", ())
            operators = tuple(
                OperatorProgress.of(name, totals.read())
                for name, totals in sorted(self._totals.items())
            )
            followed = self._sources.read()
            stall = self._stillness.stall(
                rows_out, {o.name: o.waiting for o in operators}, followed
            )
            watermark = self._latest.get("eventTime", {}).get("watermark")
            return Progress(
                batches=self._batches,
                rows_in=self._rows_in,
                rows_out=rows_out,
                rows_per_second=self._speed,
                watermark=None if watermark == NO_WATERMARK else watermark,
                sources=tuple(source["description"] for source in sources),
                seconds=seconds,
                operators=operators,
                skipped=self._skipped,
                followed=followed,
                stalls=() if stall is None else (stall,),
                durations=self._durations,
                positions=tuple(positions(self._lagging, sources)),
            )


def operators_of(observations: Mapping[str, Observation]) -> tuple[OperatorProgress, ...]:
    """What the operators of a batch did, once it has ended."""
    from tidemark.spark.stateful.metrics import Totals, of_observation

    finished = []
    for name, observation in sorted(observations.items()):
        if reports := of_observation(observation):
            totals = Totals()
            totals.add(reports)
            finished.append(OperatorProgress.of(name, totals.read()))
    return tuple(finished)
