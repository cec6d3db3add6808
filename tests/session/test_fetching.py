"""Batches on their way to a Spark Connect client: each comes once, and failures are noticed."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from tests.waiting import PATIENCE_SECONDS, wait_until
from tidemark.errors import JobError
from tidemark.spark.jobs import StreamRun
from tidemark.spark.progress import Reports
from tidemark.spark.remote import STARTS, Fetcher, start_on_server


class Server:
    """A session, its catalog and the one query on it: batches are left as views."""

    def __init__(self) -> None:
        self.catalog = self
        self.isActive = True
        self.recentProgress: list[dict[str, int]] = []
        self._views: set[str] = set()
        self.asked_for: list[str] = []
        self._leave: Any = None
        self.problems: list[Exception] = []

    # A DataStreamWriter.
    def foreachBatch(self, leave: Any) -> Server:  # noqa: N802
        self._leave = leave
        return self

    def start(self) -> Server:
        if self.problems:
            raise self.problems.pop()
        return self

    # The query.
    def run(self, batch: int) -> None:
        self._leave(self, batch)
        self.report(batch)

    def report(self, batch: int) -> None:
        self.recentProgress = [*self.recentProgress, {"batchId": batch}]

    def forget_reports(self) -> None:
        self.recentProgress = self.recentProgress[-1:]

    def stop(self) -> None:
        self.isActive = False

    def exception(self) -> None:
        return None

    # A batch's DataFrame.
    def localCheckpoint(self, eager: bool) -> Server:  # noqa: N802
        assert eager
        return self

    def createOrReplaceGlobalTempView(self, name: str) -> None:  # noqa: N802
        self._views.add(f"global_temp.{name}")

    # The catalog.
    def tableExists(self, name: str) -> bool:  # noqa: N802
        self.asked_for.append(name)
        return name in self._views

    def table(self, name: str) -> str:
        return name

    def dropGlobalTempView(self, name: str) -> None:  # noqa: N802
        self._views.remove(f"global_temp.{name}")


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_report_of_an_idle_query_does_not_make_the_client_skip_the_batch_it_names(server):
    came: list[int] = []
    fetcher = Fetcher(server, lambda _, batch: came.append(batch))
    query = fetcher.start(server)
    server.run(0)
    wait_until(lambda: came == [0])

    server.report(1)  # idle: batch 1 is to come
    wait_until(lambda: server.asked_for[-1].endswith("_1"))
    server.run(1)
    wait_until(lambda: came == [0, 1])

    query.stop()
    assert fetcher.ended.wait(PATIENCE_SECONDS)
    assert came == [0, 1]


def test_batches_whose_reports_the_server_has_dropped_arrive_too(server):
    came: list[int] = []
    fetcher = Fetcher(server, lambda _, batch: came.append(batch))
    query = fetcher.start(server)
    server.run(0)
    wait_until(lambda: came == [0])

    server.isActive = False
    assert fetcher.ended.wait(PATIENCE_SECONDS)
    for batch in (1, 2, 3):
        server.run(batch)
    server.forget_reports()
    fetcher.fetch(query)

    assert came == [0, 1, 2, 3]


def test_a_consumer_that_fails_ends_the_query_and_is_the_jobs_failure(server):
    def full(_: Any, batch: int) -> None:
        raise OSError("disk full")

    fetcher = Fetcher(server, full)
    query = fetcher.start(server)
    run = StreamRun(query, lambda: 0, lambda problem: JobError(str(problem)), Reports(), fetcher)
    assert run.state == "running"

    server.run(0)
    assert fetcher.ended.wait(PATIENCE_SECONDS)

    assert not query.isActive
    assert run.state == "failed"
    assert str(run.failure) == "disk full"


def test_a_server_too_busy_to_start_python_in_time_gets_another_chance(server):
    late = PySparkException("Python worker failed to connect back.\n\nJVM stacktrace: ...")
    server.problems = [late] * (STARTS - 1)

    assert start_on_server(server) is server
    assert server.problems == []


def test_a_server_that_never_starts_python_is_given_up(server):
    server.problems = [PySparkException("Python worker failed to connect back.")] * (STARTS + 1)

    with pytest.raises(PySparkException):
        start_on_server(server)
    assert len(server.problems) == 1


def test_any_other_problem_of_the_server_is_reported_at_once(server):
    server.problems = [PySparkException("no such folder"), PySparkException("no such folder")]

    with pytest.raises(PySparkException):
        start_on_server(server)
    assert len(server.problems) == 1
