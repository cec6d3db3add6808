"""What a streaming sink does between micro-batches: periodically, or by the watermark."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

# The observed metric with the greatest watermark of a source that no operator follows.
SOURCE_WATERMARK = "tidemark-source-watermark-"
_NO_WATERMARK = "1970-01-01T00:00:00.000Z"
_LOOK_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a query: all of its batches up to `batch` are done, and it has seen all
    rows up to the watermark. After the end of its input no more will come.
    """

    batch: int
    watermark_ms: int | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Upkeep:
    """`run` is called, with the query's own id, after batches and at the end of the input, and
    additionally `every` so many seconds if anything waits for the clock.
    """

    run: Callable[[str, Moment], None]
    every: float | None = None


def together(upkeeps: Sequence[Upkeep]) -> Upkeep | None:
    """The upkeep of a query with several sinks; None if there is none of any."""
    if len(upkeeps) < 2:
        return next(iter(upkeeps), None)

    def run(query: str, moment: Moment) -> None:
        for upkeep in upkeeps:
            upkeep.run(query, moment)

    waits = [upkeep.every for upkeep in upkeeps if upkeep.every is not None]
    return Upkeep(run, min(waits, default=None))


class Keeper:
    """Runs a sink's upkeep on a thread of its own while its query runs.

    Nothing is done before a batch has been reported: an interrupted one is repeated first.
    """

    def __init__(self, upkeep: Upkeep, query: StreamingQuery, sources: Sequence[str]) -> None:
        self.ended = threading.Event()
        self.problem: Exception | None = None
        self._upkeep = upkeep
        self._query = query
        self._watermark = QueryWatermark(sources)
        self._last_run = time.monotonic()
        self._last_look: str | None = None

    def start(self, input_ended: Callable[[], bool]) -> None:
        """`input_ended` is called once the query has stopped."""
        threading.Thread(target=self._work, args=(input_ended,), daemon=True).start()

    def _work(self, input_ended: Callable[[], bool]) -> None:
        try:
            while self._query.isActive:
                self._look()
                time.sleep(_LOOK_EVERY)
            self._look()
            if input_ended():
                batch = max(self._watermark.batch, 0)
                self._run(Moment(batch, self._watermark.value, ended=True))
        except Exception as problem:
            # Nobody else sees this thread; the run reports it as its own failure.
            self.problem = problem
            self._query.stop()
        finally:
            self.ended.set()

    def _look(self) -> None:
        last = self._query.lastProgress
        if last is None:
            return
        fresh = last["timestamp"] != self._last_look
        if fresh:
            self._last_look = last["timestamp"]
            for report in self._query.recentProgress:
                self._watermark.take(json.loads(report.json))
        every = self._upkeep.every
        if fresh or (every is not None and time.monotonic() - self._last_run >= every):
            self._run(Moment(self._watermark.batch, self._watermark.value))

    def _run(self, moment: Moment) -> None:
        self._last_run = time.monotonic()
        self._upkeep.run(str(self._query.id), moment)


class QueryWatermark:
    """A query's watermark from its reports: that of its operators, or without any, the smallest
    of those of its sources as far as their rows have been read.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self.batch = -1
        self.value: int | None = None
        self._sources: dict[str, int | None] = dict.fromkeys(sources)

    def take(self, report: Mapping[str, Any]) -> None:
        from tidemark.spark.stateful.metrics import observations

        # An idle query reports the batch that is yet to run; all before it are done.
        done = report["batchId"] - ("addBatch" not in report["durationMs"])
        if done < self.batch:
            return
        self.batch = done
        metrics = observations(report)
        for name, before in self._sources.items():
            now = metrics.get(name, {}).get("ms")
            self._sources[name] = max((ms for ms in (before, now) if ms is not None), default=None)
        of_sources = list(self._sources.values())
        known = [ms for ms in of_sources if ms is not None]
        if known and len(known) == len(of_sources):
            self._advance(min(known))
        watermark = (report.get("eventTime") or {}).get("watermark", _NO_WATERMARK)
        if watermark != _NO_WATERMARK:
            self._advance(round(datetime.fromisoformat(watermark).timestamp() * 1000))

    def _advance(self, to: int) -> None:
        self.value = to if self.value is None else max(self.value, to)
