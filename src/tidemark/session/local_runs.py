"""Plans that run in this process, on a thread of their own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tidemark.errors import JobError, TidemarkError
from tidemark.physical import Settings
from tidemark.plan.nodes import Node
from tidemark.session.arrow import named
from tidemark.session.changes import Put
from tidemark.spark.jobs import Ask, State
from tidemark.spark.progress import OperatorProgress, Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.kernels.protocol import Metrics
    from tidemark.local.run import LocalPlan, Take


def system_zone() -> str:
    """The time zone of this machine, which is Spark's too unless it is told another one."""
    link = os.path.realpath("/etc/localtime")
    name = os.environ.get("TZ", "").removeprefix(":") or link.rpartition("zoneinfo/")[2]
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError):
        return "UTC"


class LocalRun:
    """A bounded root at work in this process."""

    def __init__(self, plan: LocalPlan, take: Take) -> None:
        self._plan = plan
        self._started = time.monotonic()
        self._ended: float | None = None
        self._rows = 0
        self._stopping = threading.Event()
        self._stopped = False
        self.failure: TidemarkError | None = None
        self._thread = threading.Thread(target=self._work, args=(take,), daemon=True)
        self._thread.start()

    def _work(self, take: Take) -> None:
        try:
            self._rows = take(self._until_stopped())
        except _Stopped:
            self._stopped = True
        except TidemarkError as failure:
            self.failure = failure
        except BaseException as failure:  # a panic in Polars is no Exception
            self.failure = JobError(
                f"the job failed: {failure}", notes={"error": type(failure).__name__}
            )
        finally:
            self._ended = time.monotonic()

    def _until_stopped(self) -> Iterator[pa.Table]:
        for table in self._plan.tables():
            if self._stopping.is_set():
                raise _Stopped
            yield table

    @property
    def state(self) -> State:
        if self._thread.is_alive():
            return "running"
        if self._stopped:
            return "stopped"
        return "failed" if self.failure else "finished"

    @property
    def asked_to_end(self) -> Ask | None:
        return "stop" if self._stopping.is_set() else None

    def wait(self, timeout: float | None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def stop_with_savepoint(self, target: str) -> None:
        raise JobError(
            "a local job has no state from which it could go on, so there is nothing to save",
            hint="stop it without a savepoint",
        )

    def progress(self) -> Progress:
        seconds = (self._ended or time.monotonic()) - self._started
        done = not self._thread.is_alive()
        tallies = sorted(self._plan.tallies.items()) if done else []
        return Progress(
            int(done),
            self._plan.report.rows or self._rows,
            self._rows,
            self._rows / seconds if seconds else 0.0,
            seconds=seconds,
            operators=tuple(
                _progress(name, tally.read()) for name, tally in tallies if tally.steps
            ),
            skipped=self._plan.report.skipped,
        )


class _Stopped(Exception):
    """The run is to end before its rows do."""


def _progress(name: str, metrics: Metrics) -> OperatorProgress:
    return OperatorProgress(
        name,
        rows_in=metrics.rows_in,
        rows_out=metrics.rows_out,
        late=metrics.late,
        waiting=metrics.waiting,
        state_rows=metrics.state_rows,
        state_bytes=metrics.state_bytes,
        watermark=OperatorProgress.shown(metrics.watermark),
    )


def reading(root: Node, settings: Settings) -> Callable[[Put], LocalRun]:
    """What passes a root's rows to a reader, as Arrow tables with the user's names."""
    from tidemark.local.run import LocalPlan

    plan = LocalPlan.of(root, settings)
    kinds = plan.schema.names[len(root.edge.columns) :]

    def start(put: Put) -> LocalRun:
        def take(tables: Iterator[pa.Table]) -> int:
            rows = 0
            for table in tables:
                rows += table.num_rows
                put(named(table, root.edge, kinds, settings.zone), None)
            return rows

        return LocalRun(plan, take)

    return start


def writing(root: Node, settings: Settings) -> Callable[[], LocalRun]:
    """What writes a root's rows to its table."""
    from tidemark.local.run import LocalPlan

    plan = LocalPlan.of(root, settings)
    take = plan.writer(settings.zone)
    return lambda: LocalRun(plan, take)
