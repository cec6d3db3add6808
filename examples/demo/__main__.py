"""Runs the demo: `python -m examples.demo`."""

from __future__ import annotations

import os
import queue
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tidemark
from examples.demo.market import deliver, moments
from examples.demo.screen import Screen
from tidemark import Result, Session, TidemarkError
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.status import StatusLine
from tidemark.cli.terminal import Terminal

SCRIPT = Path(__file__).with_name("demo.sql")
SPARK = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "1"}
PAUSE_SECONDS = 0.7  # so that one can read along
PATIENCE_SECONDS = 120


def main() -> None:
    terminal = Terminal()
    screen, status = Screen(terminal), StatusLine(terminal)
    script = SCRIPT.read_text()
    screen.open(script)
    with (
        in_new_folder() as folder,
        spark_output_to_log(terminal),
        tidemark.connect(spark_config=SPARK) as session,
    ):
        play(session, script, folder, screen, status)


def play(session: Session, script: str, folder: Path, screen: Screen, status: StatusLine) -> None:
    """Print what arrives, and what is emitted."""
    stream = Watched(session.sql(script), status)
    stream.until(rows_in=0, watermark=None)
    final = waiting = rows_in = 0
    for number, events in enumerate(moments()):
        deliver(events, folder, number)
        screen.next_moment()
        for event in events:
            screen.came_in(event)
        rows_in += len(events)
        for row in stream.until(rows_in, screen.watermark()):
            screen.is_final(row)
            final += 1
        waiting = stream.waiting
        screen.waits(waiting)
        time.sleep(PAUSE_SECONDS)
    screen.close(final, waiting)


class Watched:
    """The changes of a query, read on a thread of their own while its progress is watched."""

    def __init__(self, result: Result, status: StatusLine) -> None:
        self.waiting = 0
        self._result = result
        self._status = status
        self._taken = self._rows_out = 0
        self._rows: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(TidemarkError):  # the job reports it when it is asked
            for change in self._result.changes():
                self._rows.put(change.row)

    def until(self, rows_in: int, watermark: str | None) -> list[dict[str, Any]]:
        """The rows that are emitted until so many have arrived and the watermark has been
        reached.
        """
        started = time.monotonic()
        while not self._has_come_to(rows_in, watermark):
            if time.monotonic() - started > PATIENCE_SECONDS:
                raise TimeoutError("the stream does not go on")
            self._status.show("Spark works" if self._result.job else "Spark starts")
            time.sleep(0.1)
        self._status.clear()
        new = [self._rows.get() for _ in range(self._rows_out - self._taken)]
        self._taken += len(new)
        return sorted(new, key=lambda row: row["id"])

    def _has_come_to(self, rows_in: int, watermark: str | None) -> bool:
        job = self._result.job
        if job is None:
            return False
        if job.failure is not None:
            raise job.failure
        now = job.progress()
        self.waiting = sum(operator.waiting for operator in now.operators)
        self._rows_out = now.rows_out
        reached = now.watermark and now.watermark[11:19]
        return now.rows_in >= rows_in and (watermark is None or reached == watermark)


@contextmanager
def in_new_folder() -> Iterator[Path]:
    """A working directory for the tables' files, which is removed afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="tidemark-demo-") as name:
        folder = Path(name)
        for table in ("orders", "rates"):
            (folder / table).mkdir()
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


if __name__ == "__main__":
    main()
