"""The changes of a running query, passed from Spark to the reader."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tidemark.spark.jobs import Job, Run

if TYPE_CHECKING:
    import pyarrow as pa

# How many batches can wait for a slow reader before Spark has to wait too.
WAITING = 4


class ChangeStream:
    """An iterator over batches of changes. Closing it stops the query."""

    def __init__(self, name: str, start: Callable[[Callable[[pa.Table], None]], Run]) -> None:
        self._waiting: queue.Queue[pa.Table] = queue.Queue(WAITING)
        self._closed = False
        self.job = Job(name, [start(self._put)])

    def _put(self, table: pa.Table) -> None:
        while not self._closed:
            try:
                self._waiting.put(table, timeout=0.1)
            except queue.Full:
                continue
            return

    def __iter__(self) -> Iterator[pa.Table]:
        while True:
            running = self.job.state == "running"
            try:
                yield self._waiting.get(timeout=0.05 if running else 0)
            except queue.Empty:
                if not running:
                    break
        # Only now: the rows before a failure are delivered first.
        self.job.wait()

    def close(self) -> None:
        self._closed = True
        self.job.stop()
