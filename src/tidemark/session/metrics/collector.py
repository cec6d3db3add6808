"""The metrics themselves, made of the progress of jobs whenever Prometheus asks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import get_args

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tidemark import __version__
from tidemark.errors import TidemarkError
from tidemark.spark.batch_durations import BOUNDS
from tidemark.spark.jobs import Job, State
from tidemark.spark.progress import Progress

# All metrics: their names without the prefix, what they are, what they say, and their labels beside
# those of the run.
_RUN = ("job_name", "run")
_COUNTERS = {
    "rows_in": ("Rows that were read.", ()),
    "rows_out": ("Rows that were emitted.", ()),
    "records_skipped": ("Records that could not be read and were skipped.", ()),
    "operator_rows_in": ("Rows that came into an operator.", ("operator", "input")),
    "operator_rows_late": ("Rows that were late for an operator.", ("operator", "input")),
    "operator_rows_out": ("Rows that an operator emitted.", ("operator",)),
}
_GAUGES = {
    "operator_rows_waiting": ("Rows that wait for the watermark.", ("operator",)),
    "operator_state_rows": ("Rows in an operator's state.", ("operator",)),
    "operator_state_bytes": ("Bytes of an operator's state.", ("operator",)),
    "operator_watermark_timestamp_seconds": ("The watermark of an operator.", ("operator",)),
    "source_watermark_timestamp_seconds": ("The watermark of a source.", ("source",)),
    "partition_watermark_timestamp_seconds": (
        "The watermark of a partition of a source.",
        ("source", "partition"),
    ),
    "partition_idle": (
        "1 for a partition that is idle and holds no watermark back.",
        ("source", "partition"),
    ),
    "kafka_lag_records": (
        "Records of a partition after the last micro-batch.",
        ("source", "partition"),
    ),
}
_DURATION = "micro_batch_duration_seconds"


class JobCollector(Collector):
    """The jobs of a session. Of those with the same name, only the latest one is shown."""

    def __init__(self, jobs: Callable[[], Sequence[Job]]) -> None:
        self._jobs = jobs

    def describe(self) -> list[Metric]:
        # To be registered, a collector would be asked for all of its metrics.
        return []

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily("tidemark_build_info", "The version.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        families = _Families()
        for job in {job.name: job for job in [*self._jobs()]}.values():
            families.add_job(job)
        yield from families


class _Families:
    """One family for each metric, which gets a sample of each run."""

    def __init__(self) -> None:
        self._state = GaugeMetricFamily(
            "tidemark_job_state", "1 for the state of a job.", labels=["job_name", "state"]
        )
        self._durations = HistogramMetricFamily(
            f"tidemark_{_DURATION}", "How long micro-batches took.", labels=_RUN
        )
        self._by_name: dict[str, CounterMetricFamily | GaugeMetricFamily] = {
            name: kind(f"tidemark_{name}", text, labels=[*_RUN, *labels])
            for kind, metrics in (
                (CounterMetricFamily, _COUNTERS),
                (GaugeMetricFamily, _GAUGES),
            )
            for name, (text, labels) in metrics.items()
        }

    def __iter__(self) -> Iterator[Metric]:
        yield from (self._state, self._durations, *self._by_name.values())

    def add_job(self, job: Job) -> None:
        now = job.state
        for state in get_args(State):
            self._state.add_metric([job.name, state], int(state == now))
        for number, run in enumerate(job.runs):
            self._add_run((job.name, str(number)), run.progress(), alive=now == "running")

    def _add_run(self, run: tuple[str, str], progress: Progress, *, alive: bool) -> None:
        self._add("rows_in", run, progress.rows_in)
        self._add("rows_out", run, progress.rows_out)
        self._add("records_skipped", run, progress.skipped)
        counts = accumulate(progress.durations.counts)
        bounds = (*map(str, BOUNDS), "+Inf")
        self._durations.add_metric(
            run, [*zip(bounds, counts, strict=True)], progress.durations.seconds
        )
        self._add_operators(run, progress)
        self._add_sources(run, progress)
        if alive:
            self._add_lag(run, progress)

    def _add_operators(self, run: tuple[str, str], progress: Progress) -> None:
        for operator in progress.operators:
            place = (*run, operator.name)
            for what, counts in (("in", operator.rows_in), ("late", operator.late)):
                for number, count in enumerate(counts):
                    self._add(f"operator_rows_{what}", (*place, str(number)), count)
            self._add("operator_rows_out", place, operator.rows_out)
            self._add("operator_rows_waiting", place, operator.waiting)
            self._add("operator_state_rows", place, operator.state_rows)
            self._add("operator_state_bytes", place, operator.state_bytes)
            self._add_moment("operator_watermark", place, operator.watermark)

    def _add_sources(self, run: tuple[str, str], progress: Progress) -> None:
        for source in {source.table: source for source in progress.followed}.values():
            self._add_moment("source_watermark", (*run, source.table), source.watermark)
            for partition in source.partitions:
                place = (*run, source.table, partition.name)
                self._add_moment("partition_watermark", place, partition.watermark)
                self._add("partition_idle", place, int(partition.idle))

    def _add_lag(self, run: tuple[str, str], progress: Progress) -> None:
        for position in {position.table: position for position in progress.positions}.values():
            # Brokers that do not answer are no reason to show nothing else.
            with contextlib.suppress(TidemarkError):
                for partition, records in position.lag().items():
                    self._add("kafka_lag_records", (*run, position.table, partition), records)

    def _add_moment(self, name: str, place: tuple[str, ...], moment: str | None) -> None:
        """Before the first watermark there is no sample."""
        if moment is not None:
            seconds = datetime.fromisoformat(moment).timestamp()
            self._add(f"{name}_timestamp_seconds", place, seconds)

    def _add(self, name: str, place: tuple[str, ...], value: float) -> None:
        self._by_name[name].add_metric(place, value)
