"""A plan that runs as a streaming query, over all its starts."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.checkpoints.contract import folder_name
from tidemark.checkpoints.undelivered import Undelivered
from tidemark.spark.deliveries import failing_in_words
from tidemark.spark.gates import Gate
from tidemark.spark.handover import Handover
from tidemark.spark.jobs import AtEnd, Computed, Diagnose, Ending, StreamRun, nothing
from tidemark.spark.progress import ROWS_OUT, Reports
from tidemark.spark.remote import Fetcher, is_remote, start_on_server
from tidemark.spark.size_recorder import SizeRecorder
from tidemark.spark.starting import starting
from tidemark.spark.upkeep import Keeper
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery


# Spark forgets all reports but the latest hundred, even if a job's progress is never read.
_READ_REPORTS_EVERY = 50


@dataclass
class StreamQuery:
    """What is to run as a streaming query, and what is known of it over all its starts."""

    spark: SparkSession
    diagnose: Diagnose
    interval_ms: int  # the shortest time between two micro-batches
    name: str
    handover: Handover
    folder: Location
    bounded: bool
    on_client: bool
    watermarks: tuple[str, ...]
    reports: Reports
    looks_every_ms: int | None = None  # how often its sources ask to be looked at, if they do
    in_columns: bool = False  # whether Spark sees no rows before they are handed over
    phases: int = 1  # how often it is yet to be started until its input ends
    ends_at_once: bool = False  # whether its last start needs no micro-batch without rows
    may_end_early: bool = False  # whether the first start may emit all, and need no other
    hears_of_ends: bool = False  # whether that needs no micro-batch without rows either
    rows_out: int = 0
    query: StreamingQuery | None = None
    recorder: SizeRecorder | None = None
    gate: Gate = field(default_factory=Gate)
    computed: Computed = nothing  # called before anybody sees a row

    def starts_from_the_beginning(self) -> bool:
        """Whether no other start of the job has delivered anything; from now on that is noted."""
        if not self.handover.computes_first or is_remote(self.spark):
            return False
        undelivered = Undelivered(self.folder)
        self.computed = undelivered.delivered
        return undelivered.from_the_beginning()

    def record_sizes(self) -> None:
        """Record how much the operators keep."""
        if self.recorder is not None and self.query is not None:
            self.reports.take(self.query.recentProgress)
            self.recorder.record()

    def start(self, at_end: AtEnd = nothing) -> StreamRun:
        self.phases -= 1
        goes_on = self.phases > 0 and not self.may_end_early
        ends_early = self.bounded and (self.ends_at_once or self.hears_of_ends or goes_on)
        with starting(
            self.spark,
            empty_batches=not ends_early,
            look_every=self.looks_every_ms,
            packed=self.in_columns and self.handover.packed,
        ):
            return self._start(at_end)

    def _start(self, at_end: AtEnd) -> StreamRun:
        spark, diagnose, reports = self.spark, self.diagnose, self.reports
        last = self.bounded and self.phases == 0
        if self.query is not None:
            # Reports count in the order of their batches: those of the first start before the next.
            reports.take(self.query.recentProgress)
        if is_remote(spark) and not self.on_client:
            writer = self._writer(self._counted()).foreachBatch(self._on_server())
            self.query = query = start_on_server(writer)
            return StreamRun(
                query,
                lambda: reports.rows_out,
                diagnose,
                reports,
                hears_of_ends=self.hears_of_ends,
                at_end=at_end,
            )
        writer = self._writer(self.handover.data)
        if is_remote(spark):
            fetcher = Fetcher(spark, self._deliver)
            self.query = query = fetcher.start(writer)
            return StreamRun(
                query,
                lambda: self.rows_out,
                diagnose,
                reports,
                fetcher,
                at_end=at_end,
                hears_of_ends=self.hears_of_ends,
            )
        self.query = writer.foreachBatch(failing_in_words(self._deliver)).start()
        run = StreamRun(
            self.query,
            lambda: self.rows_out,
            diagnose,
            reports,
            hears_of_ends=self.hears_of_ends,
            at_end=at_end,
            ending=Ending(self.folder, folder_name(self.name), self.gate, self.record_sizes),
        )
        if self.handover.upkeep is not None:
            run.keeper = Keeper(self.handover.upkeep, self.query, self.watermarks)
            early = self.may_end_early
            run.keeper.start(
                lambda: run.query_finished and (last or (early and run.has_emitted_all))
            )
        return run

    def _deliver(self, data: DataFrame, batch: int) -> None:
        with self.gate.passing():
            self.rows_out += self.handover.deliver(data, batch, self.computed)
        if self.query is not None and batch % _READ_REPORTS_EVERY == 0:
            self.reports.take(self.query.recentProgress)
        if self.recorder is not None and self.recorder.is_due:
            self.record_sizes()

    def _counted(self) -> DataFrame:
        """The rows, their number being observed: a server's count of them is not the client's."""
        from pyspark.sql.functions import expr

        return self.handover.data.observe(ROWS_OUT, expr(self.handover.rows).alias("rows"))

    def _on_server(self) -> Callable[[DataFrame, int], None]:
        """A function that can be sent there: it knows nothing of this side."""
        deliver = self.handover.deliver

        def on_batch(data: DataFrame, batch: int) -> None:
            deliver(data, batch, nothing)

        return failing_in_words(on_batch)

    def _writer(self, data: DataFrame) -> DataStreamWriter:
        # Spark refuses two running queries of one name, also of different sessions.
        writer = data.writeStream.queryName(f"{self.name}-{uuid.uuid4().hex[:8]}")
        writer = writer.option("checkpointLocation", (self.folder / "spark").for_spark)
        if self.bounded:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{self.interval_ms} milliseconds")
