"""Which changes of a query its reader has: a micro-batch is committed once they are read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest

from tests.waiting import PATIENCE_SECONDS
from tidemark.errors import TidemarkError
from tidemark.session.changes import WAITING, ChangeStream, Put
from tidemark.spark.deliveries import GivenUp
from tidemark.spark.jobs import Ask, State
from tidemark.spark.progress import Progress


class FakeRun:
    """Micro-batches of one row, which are committed when the reader has taken them."""

    def __init__(self, put: Put, batches: Sequence[int], *, stream: bool = True) -> None:
        self.committed: list[int] = []
        self.asked_to_end: Ask | None = None
        self.failure: TidemarkError | None = None
        self._thread = threading.Thread(target=self._work, args=(put, batches, stream), daemon=True)
        self._thread.start()

    def _work(self, put: Put, batches: Sequence[int], stream: bool) -> None:
        for batch in batches:
            if self.asked_to_end is not None:
                return
            try:
                put(pa.table({"n": [batch]}), batch if stream else None)
            except GivenUp:
                return
            self.committed.append(batch)

    @property
    def state(self) -> State:
        if self._thread.is_alive():
            return "running"
        return "stopped" if self.asked_to_end else "finished"

    def wait(self, timeout: float | None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self) -> None:
        self.asked_to_end = "stop"
        self._thread.join(PATIENCE_SECONDS)

    def stop_with_savepoint(self, target: str) -> None:
        self.asked_to_end = "savepoint"
        self._thread.join(PATIENCE_SECONDS)

    def progress(self) -> Progress:
        return Progress()


def started(
    batches: Sequence[int] = range(8), *, resumes: bool, stream: bool = True
) -> tuple[ChangeStream, FakeRun]:
    runs: list[FakeRun] = []

    def start(put: Put) -> FakeRun:
        runs.append(FakeRun(put, batches, stream=stream))
        return runs[-1]

    return ChangeStream("query", start, resumes=resumes), runs[0]


def numbers(tables: Sequence[pa.Table]) -> list[int]:
    return [n for table in tables for n in table["n"].to_pylist()]


def until(met: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(int(PATIENCE_SECONDS * 100)):
        if met():
            return
        waiting.wait(0.01)
    pytest.fail("it did not happen")


@pytest.mark.parametrize("read", [0, 1, 3])
def test_what_a_reader_leaves_is_not_committed(read: int) -> None:
    stream, run = started(resumes=True)
    batches = iter(stream)
    taken = [next(batches) for _ in range(read + 1)]
    until(lambda: len(run.committed) == read)
    stream.close()

    assert numbers(taken) == list(range(read + 1))
    # The last one that was taken may not have been used yet.
    assert run.committed == list(range(read))
    assert stream.job.state == "stopped"


def test_all_is_committed_when_all_is_read() -> None:
    stream, run = started(range(3), resumes=True)

    assert numbers([*stream]) == [0, 1, 2]
    assert run.committed == [0, 1, 2]


def test_a_query_that_never_resumes_goes_ahead_of_its_reader() -> None:
    stream, run = started(resumes=False)
    until(lambda: len(run.committed) == WAITING)
    stream.close()

    assert run.state == "stopped"


def test_a_batch_need_not_be_read_to_end() -> None:
    stream, run = started(range(2), resumes=True, stream=False)
    until(lambda: run.state == "finished")

    assert run.committed == [0, 1]
    assert numbers([*stream]) == [0, 1]


def test_a_savepoint_leaves_the_last_changes_to_the_reader() -> None:
    stream, run = started(resumes=True)
    batches = iter(stream)
    first = next(batches)
    until(lambda: run.committed == [])
    run.stop_with_savepoint("folder")

    # The micro-batch that is being delivered is a part of the savepoint.
    assert run.committed == [0]
    assert numbers([first, *batches]) == [0]
    assert run.state == "stopped"
