"""The INSERT jobs of a script: they run together, and the command waits for all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidemark.cli.interrupts import Interrupts
from tidemark.cli.stalls import StallNotes
from tidemark.cli.status import (
    StatusLine,
    count,
    describe_operators,
    duration,
)
from tidemark.cli.terminal import Terminal
from tidemark.cli.worker import TICK_SECONDS

if TYPE_CHECKING:
    from tidemark.cli.protocols import JobLike, ResultLike, Stoppable

STOP_SECONDS = 20.0
ASK_EVERY_SECONDS = 0.5


class RunningJob:
    """A job that was started here and whose end has not been reported yet."""

    def __init__(self, job: JobLike, bounded: bool) -> None:
        self.job = job
        self.bounded = bounded
        self.announced = False
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started


Which = Callable[[RunningJob], bool]


def every(job: RunningJob) -> bool:
    return True


def bounded(job: RunningJob) -> bool:
    """Whether the job ends by itself."""
    return job.bounded


class RunningJobs:
    def __init__(
        self, terminal: Terminal, status: StatusLine, interrupts: Interrupts, *, quiet: bool
    ) -> None:
        self._terminal = terminal
        self._status = status
        self._interrupts = interrupts
        self._quiet = quiet
        self._running: list[RunningJob] = []
        self._stalls = StallNotes(terminal, status, quiet=quiet)

    def add(self, result: ResultLike) -> None:
        if result.job is not None:
            self._running.append(RunningJob(result.job, result.bounded))

    def unannounced(self) -> list[RunningJob]:
        """The running jobs that have not been announced yet."""
        new = [running for running in self._running if not running.announced]
        for running in new:
            running.announced = True
        return new

    def wait(self, which: Which = every) -> None:
        """Show progress until these jobs have ended. Raises the error of the first that failed."""
        asked = 0.0
        while awaited := [running for running in self._running if which(running)]:
            self._interrupts.check()
            self.settle()
            if time.monotonic() - asked >= ASK_EVERY_SECONDS:
                asked = time.monotonic()
                self._status.show(self._describe(awaited))
            time.sleep(TICK_SECONDS)

    def settle(self) -> None:
        """Report the jobs that have ended. Raises the error of the first that failed."""
        for running in [r for r in self._running if r.job.state != "running"]:
            self._running.remove(running)
            self._status.clear()
            if running.job.failure is not None:
                raise running.job.failure
            self._report(running, running.job.state)

    def stop(self, which: Which = every) -> None:
        """Stop these jobs and report it."""
        self._status.clear()
        for running in [running for running in self._running if which(running)]:
            self._running.remove(running)
            stopped = stop_within(running.job, STOP_SECONDS)
            self._report(running, "stopped" if stopped else "is not stopping")

    def _report(self, running: RunningJob, state: str) -> None:
        if self._quiet:
            return
        progress = running.job.progress()
        numbers = f"{count(progress.rows_in)} in, {progress.rows_out:,} out"
        line = f"job {running.job.name} {state}: {numbers} · {duration(running.seconds)}"
        for printed in (line, *(f"  {operator}" for operator in describe_operators(progress))):
            self._terminal.say(self._terminal.paint_err(printed, "dim"))

    def _describe(self, awaited: list[RunningJob]) -> str:
        parts = [
            f"{running.job.name}: {self._stalls.look(running.job.name, running.job.progress())}"
            for running in awaited
        ]
        longest = max(running.seconds for running in awaited)
        return f"{' | '.join(parts)} · {duration(longest)} · Ctrl-C stops"


def stop_within(running: Stoppable, seconds: float) -> bool:
    """Stop a job or a session. Returns whether it stopped in time."""
    stopping = threading.Thread(target=running.stop, name="tidemark-stop", daemon=True)
    stopping.start()
    stopping.join(seconds)
    return not stopping.is_alive()
