"""Running plans: a batch that ends, or a stream that ends when its sources do or it is stopped."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from tidemark.checkpoints.copying import copy_job
from tidemark.checkpoints.spark_log import read_log
from tidemark.errors import JobError, TidemarkError
from tidemark.spark.ended_java import ended_java
from tidemark.spark.gates import Gate
from tidemark.spark.moments import is_end
from tidemark.spark.progress import OperatorProgress, Progress, Reports, operators_of
from tidemark.spark.skipped import skipped_of
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from tidemark.spark.remote import Fetcher
    from tidemark.spark.upkeep import Keeper

State = Literal["running", "finished", "failed", "stopped"]
Ask = Literal["stop", "savepoint"]


class Run(Protocol):
    """One plan root at work."""

    @property
    def state(self) -> State: ...
    @property
    def failure(self) -> TidemarkError | None: ...
    @property
    def asked_to_end(self) -> Ask | None: ...
    def wait(self, timeout: float | None) -> bool: ...
    def stop(self) -> None: ...
    def stop_with_savepoint(self, target: str) -> None: ...
    def progress(self) -> Progress: ...


# Called when all rows of a batch are computed and none has been delivered.
Computed = Callable[[], None]
# Delivers a batch of rows: called with its frame and its number (None in batch mode), returns how
# many rows it had. It calls what it is given last, if its rows are not seen one after the other.
Deliver = Callable[["DataFrame", int | None, Computed], int]
# Turns an exception from Spark into an error.
Diagnose = Callable[[BaseException], TidemarkError]
# Called when a run has ended, perhaps more than once.
AtEnd = Callable[[], None]


def nothing() -> None:
    pass


class BatchRun:
    """A bounded plan as one Spark batch on a thread of its own."""

    def __init__(
        self,
        spark: SparkSession,
        frame: DataFrame,
        deliver: Deliver,
        diagnose: Diagnose,
        observations: Mapping[str, Observation],
        at_end: AtEnd,
    ) -> None:
        self._spark = spark
        self._observations = observations
        self._at_end = at_end
        self._operators: tuple[OperatorProgress, ...] = ()
        self._skipped = 0
        self._diagnose = diagnose
        self._tag = f"tidemark-{uuid.uuid4().hex}"
        self._started = time.monotonic()
        self._ended: float | None = None
        self._rows = 0
        self._stopped = False
        self.failure: TidemarkError | None = None
        self._thread = threading.Thread(
            target=self._work, args=(frame, deliver), name=self._tag, daemon=True
        )
        self._thread.start()

    def _work(self, frame: DataFrame, deliver: Deliver) -> None:
        try:
            self._spark.addTag(self._tag)
            self._rows = deliver(frame, None, nothing)
            self._operators = operators_of(self._observations)
            self._skipped = skipped_of(self._observations)
        except Exception as failure:
            if not self._stopped:
                self.failure = self._diagnose(failure)
        finally:
            self._ended = time.monotonic()
            self._at_end()

    @property
    def state(self) -> State:
        if self._thread.is_alive():
            return "running"
        if self._stopped:
            return "stopped"
        return "failed" if self.failure else "finished"

    @property
    def asked_to_end(self) -> Ask | None:
        return "stop" if self._stopped else None

    def wait(self, timeout: float | None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._stopped = True
            self._spark.interruptTag(self._tag)
            self._thread.join()

    def stop_with_savepoint(self, target: str) -> None:
        raise JobError(
            "a batch job has no state from which it could go on, so there is nothing to save",
            hint="stop it without a savepoint",
        )

    def progress(self) -> Progress:
        seconds = (self._ended or time.monotonic()) - self._started
        rate = self._rows / seconds if seconds else 0.0
        done = 0 if self._thread.is_alive() else 1
        return Progress(
            done,
            self._rows,
            self._rows,
            rate,
            seconds=seconds,
            operators=self._operators,
            skipped=self._skipped,
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """What is needed to end a stream between two micro-batches: its folder and its gate, the name
    of its folder in a savepoint, and a function that records the size of its operators' state.
    """

    folder: Location
    called: str
    gate: Gate
    record_sizes: Callable[[], None]

    def drain(self, alive: Callable[[], bool]) -> None:
        """Wait until the last micro-batch has ended, and let no other deliver its rows."""
        self.gate.shut(lambda: not read_log(self.folder).unfinished, alive)


@dataclass
class StreamRun:
    """A plan as a Spark streaming query."""

    query: StreamingQuery
    rows_out: Callable[[], int]
    diagnose: Diagnose
    reports: Reports
    # For a consumer that gets its last batches after the query has ended.
    fetcher: Fetcher | None = None
    # What works for the sink between batches, and for a while after them.
    keeper: Keeper | None = None
    at_end: AtEnd = nothing
    ending: Ending | None = None
    # Whether operators need not wait for Spark's watermark to learn that their sources have ended.
    hears_of_ends: bool = False
    _started: float = field(default_factory=time.monotonic)
    _ended: float | None = None
    _stopped: bool = False
    _saving: bool = False
    _failure: TidemarkError | None = None

    @property
    def asked_to_end(self) -> Ask | None:
        if self._stopped:
            return "stop"
        return "savepoint" if self._saving else None

    @property
    def state(self) -> State:
        if self.query.isActive or not all(helper.ended.is_set() for helper in self._helpers):
            return "running"
        if self._stopped:
            return "stopped"
        return "failed" if self.failure else "finished"

    @property
    def query_finished(self) -> bool:
        """Whether the query has ended by itself."""
        return not (self.query.isActive or self._stopped) and self.query.exception() is None

    @property
    def has_emitted_all(self) -> bool:
        """Whether the end of input has come to all operators."""
        if self.hears_of_ends:
            return self.reports.sources_have_ended
        return is_end(self.progress().watermark)

    @property
    def _helpers(self) -> list[Fetcher | Keeper]:
        return [helper for helper in (self.fetcher, self.keeper) if helper is not None]

    @property
    def failure(self) -> TidemarkError | None:
        if self._failure is None and not self.query.isActive and not self._stopped:
            beside = [helper.problem for helper in self._helpers if helper.problem is not None]
            problem = beside[0] if beside else self.query.exception()
            self._failure = self.diagnose(problem) if problem is not None else None
        return self._failure

    def wait(self, timeout: float | None) -> bool:
        from pyspark.errors import StreamingQueryException

        try:
            if timeout is None:
                self.query.awaitTermination()
            # Not every Spark accepts fractions of a second.
            elif not self.query.awaitTermination(max(1, round(timeout))):
                return False
        except StreamingQueryException as problem:
            if not self._stopped:
                self._failure = self.diagnose(problem)
        self.at_end()
        return all(helper.ended.wait(timeout) for helper in self._helpers)

    def stop(self) -> None:
        if self.query.isActive:
            self._stopped = True
            self.query.stop()
        self._ended = self._ended or time.monotonic()
        self.at_end()

    def stop_with_savepoint(self, target: str) -> None:
        """Stop after the current micro-batch, and copy the checkpoint as it is then."""
        if self.ending is None:
            raise JobError("savepoints are not supported yet over Spark Connect")
        if not self.query.isActive:
            raise JobError(f"the job is {self.state} already, so there is nothing to save")
        self._saving = True
        self.ending.drain(lambda: self.query.isActive)
        if not self.query.isActive:
            raise self.failure or JobError("the job ended before it could be saved")
        self._stopped = True
        self.ending.gate.fail()
        self.query.stop()
        self.ending.record_sizes()
        folder = self.ending.folder
        copy_job(folder, Location.of(target, folder.access) / self.ending.called)
        self.stop()

    def progress(self) -> Progress:
        self.reports.take(self.query.recentProgress)
        seconds = (self._ended or time.monotonic()) - self._started
        return self.reports.progress(self.rows_out(), seconds)


class Job:
    """One INSERT, a statement set, or a query whose changes are being read."""

    def __init__(self, name: str, runs: list[Run]) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.name = name
        self.started = datetime.now().isoformat(" ", "seconds")
        self._runs = runs

    def __repr__(self) -> str:
        return f"Job({self.name!r}, {self.state})"

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the job, which are independent of each other."""
        return tuple(self._runs)

    @property
    def state(self) -> State:
        """The most important state among the job's runs."""
        states = [run.state for run in self._runs]
        order: tuple[State, ...] = ("failed", "running", "stopped", "finished")
        return next(state for state in order if state in states or state == "finished")

    @property
    def failure(self) -> TidemarkError | None:
        return next((run.failure for run in self._runs if run.failure), None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended; False if it has not after `timeout` seconds.

        Raises the error with which the job failed. A run that fails stops the others.
        """
        try:
            return self._wait(timeout)
        except Exception as problem:
            if (ended := ended_java(problem)) is not None:
                raise ended from None
            raise

    def _wait(self, timeout: float | None) -> bool:
        deadline = None if timeout is None else time.monotonic() + timeout
        for run in self._runs:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._wait_for(run, left):
                return False
        self._raise_failure()
        return True

    def _wait_for(self, run: Run, timeout: float | None) -> bool:
        if len(self._runs) == 1:
            return run.wait(timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not run.wait(1.0):
            self._raise_failure()
            if deadline is not None and time.monotonic() >= deadline:
                return False
        return True

    def _raise_failure(self) -> None:
        failure = self.failure
        if failure is not None:
            self.stop()
            raise failure

    def stop(self) -> None:
        """Stop the job now, cleanly: a micro-batch is written completely or not at all."""
        for run in self._runs:
            run.stop()

    def stop_with_savepoint(self, folder: str | os.PathLike[str]) -> str:
        """Stop the job and save its state in a new folder inside `folder`, from which it can be
        started again (`execution.state-recovery.path`). Returns the new folder."""
        name = f"savepoint-{self.id[:6]}-{uuid.uuid4().hex[:12]}"
        target = (Location.of(folder) / name).uri
        for run in self._runs:
            run.stop_with_savepoint(target)
        return target

    def progress(self) -> Progress:
        total = Progress()
        for run in self._runs:
            total = total + run.progress()
        return total
