"""The changes of a running query, passed from Spark to the reader."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tidemark.spark.deliveries import GivenUp
from tidemark.spark.jobs import Job, Run

if TYPE_CHECKING:
    import pyarrow as pa

# Takes a table of changes, with the number of its micro-batch if it is from a stream.
Put = Callable[["pa.Table", int | None], None]

# How many batches can wait for a slow reader before Spark has to wait too.
WAITING = 4
_LOOK_EVERY_SECONDS = 0.1


class ChangeStream:
    """An iterator over batches of changes. Closing it stops the query.

    If the query `resumes` when it is started again, no change may be lost: a micro-batch is only
    committed when the reader asks for the one after it. One that the reader leaves before that
    comes again.
    """

    def __init__(self, name: str, start: Callable[[Put], Run], *, resumes: bool = False) -> None:
        self._waiting: queue.SimpleQueue[pa.Table] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._unread = 0
        self._resumes = resumes
        self._runs: list[Run] = []
        self._runs.append(start(self._put))
        self.job = Job(name, self._runs)

    def _put(self, table: pa.Table, batch: int | None) -> None:
        must_be_read = self._resumes and batch is not None
        with self._changed:
            self._unread += 1
            self._waiting.put(table)
            while self._unread > (0 if must_be_read else WAITING):
                self._changed.wait(_LOOK_EVERY_SECONDS)
                asked = [run.asked_to_end for run in self._runs]
                if "stop" in asked and must_be_read:
                    raise GivenUp("the reader has not read these changes")
                # After a savepoint, the reader finds them here.
                if any(asked):
                    return

    def __iter__(self) -> Iterator[pa.Table]:
        while True:
            running = self.job.state == "running"
            try:
                table = self._waiting.get(timeout=0.05 if running else 0)
            except queue.Empty:
                if running:
                    continue
                break
            yield table
            with self._changed:
                self._unread -= 1
                self._changed.notify_all()
        # Only now: the rows before a failure are delivered first.
        self.job.wait()

    def close(self) -> None:
        self.job.stop()
