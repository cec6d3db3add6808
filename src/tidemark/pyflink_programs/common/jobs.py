"""PyFlink's handle of a running job."""

from __future__ import annotations

from concurrent.futures import Future
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from tidemark.pyflink_programs.program_run import current

if TYPE_CHECKING:
    from tidemark.spark.jobs import Job

T = TypeVar("T")


class JobStatus(Enum):
    """What a job is doing; the values are PyFlink's."""

    RUNNING = 1
    FAILED = 3
    CANCELED = 5
    FINISHED = 6

    def is_terminal_state(self) -> bool:
        return self is not JobStatus.RUNNING

    is_globally_terminal_state = is_terminal_state


_STATUS = {
    "running": JobStatus.RUNNING,
    "failed": JobStatus.FAILED,
    "stopped": JobStatus.CANCELED,
    "finished": JobStatus.FINISHED,
}


class JobClient:
    """The job of an INSERT, or of a query whose rows are being read."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def get_job_id(self) -> str:
        return self._job.id

    def get_job_status(self) -> Future[JobStatus]:
        return _known(_STATUS[self._job.state])

    def cancel(self) -> Future[None]:
        self._job.stop()
        return _known(None)

    def get_job_execution_result(self) -> Future[Any]:
        self._job.wait()
        current().has_waited_for(self._job)
        return _known(self._job.progress())


def _known(value: T) -> Future[T]:
    future: Future[T] = Future()
    future.set_result(value)
    return future
