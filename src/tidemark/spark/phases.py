"""Streams with bounded sources: their end is marked when everything there was has been read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from tidemark.errors import TidemarkError
from tidemark.spark.jobs import Ask, AtEnd, State, StreamRun
from tidemark.spark.progress import Progress


class TwoPhaseRun:
    """A bounded stream: first everything that there is to read, then the end of all sources, unless
    their partitions have said already that they have ended.

    Both phases are one query with one checkpoint, started twice.
    """

    def __init__(
        self,
        start: Callable[[], StreamRun],
        announce_ends: Callable[[], None],
        at_end: AtEnd,
        *,
        may_end_early: bool,
    ) -> None:
        self._runs = [start()]
        self._failure: TidemarkError | None = None
        self._stopping = False
        self._at_end = at_end
        # Otherwise the last watermark says nothing: a job that resumes may begin with that of the
        # end.
        self._may_end_early = may_end_early
        self._started = time.monotonic()
        self._ended: float | None = None
        self._thread = threading.Thread(target=self._work, args=(start, announce_ends), daemon=True)
        self._thread.start()

    def _work(self, start: Callable[[], StreamRun], announce_ends: Callable[[], None]) -> None:
        first = self._runs[0]
        try:
            first.wait(None)
            ended = self._may_end_early and first.has_emitted_all
            if first.state == "finished" and not (self._stopping or ended):
                announce_ends()
                self._runs.append(start())
                self._runs[-1].wait(None)
        except Exception as problem:
            self._failure = first.diagnose(problem)
        finally:
            self._ended = time.monotonic()
            self._at_end()

    @property
    def state(self) -> State:
        if self._thread.is_alive():
            return "running"
        return "failed" if self._failure else self._runs[-1].state

    @property
    def failure(self) -> TidemarkError | None:
        return self._failure or self._runs[-1].failure

    @property
    def asked_to_end(self) -> Ask | None:
        return self._runs[-1].asked_to_end

    def wait(self, timeout: float | None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self) -> None:
        self._stopping = True
        self._runs[-1].stop()
        self._thread.join()

    def stop_with_savepoint(self, target: str) -> None:
        self._stopping = True
        self._runs[-1].stop_with_savepoint(target)
        self._thread.join()

    def progress(self) -> Progress:
        """Each phase continues to count where the one before it ended."""
        phases = [run.progress() for run in self._runs]
        return replace(phases[-1], seconds=(self._ended or time.monotonic()) - self._started)


def after_first_batch(run: StreamRun, announce_ends: Callable[[], None]) -> None:
    """Mark the ends of bounded sources once an unbounded stream has read them, which is in its
    first batch.
    """

    def wait() -> None:
        while run.query.isActive:
            if run.query.lastProgress is not None:
                announce_ends()
                return
            time.sleep(0.1)

    threading.Thread(target=wait, daemon=True).start()
