"""A copy of a checkpoint from which jobs can start: consistent and self-contained.

For each job the copy ends with the last micro-batch that has ended. The job may be running: what it
writes later is left out, and Spark never changes a file that it has written.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable

from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.relocating import move_paths
from tidemark.checkpoints.retention import KEPT_BATCHES
from tidemark.checkpoints.spark_log import COMMITS, OFFSETS, last
from tidemark.errors import JobError
from tidemark.storage import Location

_STATE = "state"


def jobs_in(checkpoint: Location) -> list[Location]:
    """The folders of jobs in a checkpoint folder. Raises JobError if there are none."""
    if not checkpoint.exists or checkpoint.is_file:
        raise JobError(f"checkpoint folder not found: {checkpoint}")
    found = [checkpoint / name for name in checkpoint.names() if _is_job(checkpoint / name)]
    if not found:
        raise JobError(
            f"{checkpoint} is not a checkpoint folder: no job was started with it",
            hint="pass the folder that jobs were started with, not a subfolder",
        )
    return found


def _is_job(folder: Location) -> bool:
    return any((folder / name).exists for name in (contracts.NAME, contracts.SPARK))


def copy_checkpoint(checkpoint: Location, target: Location) -> list[Location]:
    """Copy all jobs of a checkpoint folder; returns the new folders."""
    jobs = jobs_in(checkpoint)
    for job in jobs:
        if contracts.read(job) is None:
            raise JobError(f"cannot copy the job in {job}: it has no contract")
    _refuse_existing(target)
    return [copy_job(job, target / job.name) for job in jobs]


def _refuse_existing(target: Location) -> None:
    if target.names():
        raise JobError(f"{target} is not empty", hint="choose a folder that does not exist yet")


def copy_job(job: Location, target: Location) -> Location:
    """Copy one job. The contract is copied last: only it makes the copy a checkpoint."""
    committed = last(job / contracts.SPARK / COMMITS)
    parts = job.names()
    for name in parts:
        if name != contracts.SPARK and not (job / name).is_file:
            _copy_tree(job / name, target / name, lambda _: True)
    if committed is not None:
        _copy_spark(job / contracts.SPARK, target / contracts.SPARK, committed)
        move_paths(target, job)
        _refuse_what_may_be_gone(job, target, committed)
    for name in parts:
        if not name.startswith(".") and name != contracts.NAME and (job / name).is_file:
            (job / name).copy(target / name)
    (job / contracts.NAME).copy(target / contracts.NAME)
    return target


def _refuse_what_may_be_gone(job: Location, target: Location, committed: int) -> None:
    """The job may have removed a part of the state before it was copied. Nothing is left then."""
    since = (last(job / contracts.SPARK / COMMITS) or 0) - committed
    if since >= KEPT_BATCHES:
        target.remove_all()
        raise JobError(
            f"{job} cannot be copied while the job runs: {since} micro-batches ended meanwhile, "
            f"and a job removes state that is older than {KEPT_BATCHES} of them",
            hint="stop the job, or let it run less often (execution.checkpointing.interval)",
        )


def start_from(savepoint: Location, now: Contract, folder: Location) -> None:
    """Create the folder of a job that starts now from the job of the same name in a savepoint."""
    jobs = {job.name: job for job in jobs_in(savepoint)}
    job = jobs.get(contracts.folder_name(now.job))
    if job is None:
        raise JobError(
            f"savepoint {savepoint} has no job {now.job}",
            notes={"jobs": ", ".join(jobs)},
            hint="RESET 'execution.state-recovery.path' before starting new jobs",
        )
    copy_job(job, folder)


def _copy_spark(spark: Location, target: Location, committed: int) -> None:
    """Spark's own checkpoint as it was after a micro-batch. State versions start at 1."""
    for name in spark.names():
        part, copied = spark / name, target / name
        if name in (OFFSETS, COMMITS):
            _copy_tree(part, copied, _not_after(committed))
        elif name == _STATE:
            _copy_tree(part, copied, _not_after(committed + 1))
        elif not part.is_file:
            _copy_tree(part, copied, _finished)
        elif _finished(name):
            part.copy(copied)


# By a file's name, without its folder.
Wanted = Callable[[str], bool]


def _finished(name: str) -> bool:
    """Whether a file is complete: Spark uses other names for those that it is still writing."""
    return not (name.startswith(".") and not name.endswith(".crc")) and not (
        name.endswith(".tmp") or ".tmp.crc" in name
    )


def _not_after(version: int) -> Wanted:
    def wanted(name: str) -> bool:
        number = name.removeprefix(".").split(".")[0].split("_")[0]
        return _finished(name) and (not number.isdecimal() or int(number) <= version)

    return wanted


def _copy_tree(folder: Location, target: Location, wanted: Wanted) -> None:
    for found in folder.files():
        if wanted(posixpath.basename(found.name)):
            # Spark cleans up what only long past micro-batches would need.
            with contextlib.suppress(FileNotFoundError):
                (folder / found.name).copy(target / found.name)
