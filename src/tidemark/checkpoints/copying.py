"""A copy of a checkpoint from which jobs can start: consistent, and complete in itself.

Of each job the copy ends with the last micro-batch that has ended. The job may run on meanwhile:
what it writes later is left out, and Spark never changes a file that it has written.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.relocating import move_paths
from tidemark.checkpoints.spark_log import COMMITS, OFFSETS, last
from tidemark.errors import JobError

_STATE = "state"


def jobs_in(checkpoint: Path) -> list[Path]:
    """The folders of jobs in a checkpoint folder. Raises JobError if there is none."""
    if not checkpoint.is_dir():
        raise JobError(f"checkpoint folder not found: {checkpoint}")
    found = sorted(folder for folder in checkpoint.iterdir() if _is_job(folder))
    if not found:
        raise JobError(
            f"{checkpoint} is not a checkpoint folder: no job was started with it",
            hint="pass the folder that jobs were started with, not a subfolder",
        )
    return found


def _is_job(folder: Path) -> bool:
    return any((folder / name).exists() for name in (contracts.NAME, contracts.SPARK))


def copy_checkpoint(checkpoint: Path, target: Path) -> list[Path]:
    """Copy all jobs of a checkpoint folder; the folders that were made."""
    jobs = jobs_in(checkpoint)
    for job in jobs:
        if contracts.read(job) is None:
            raise JobError(f"cannot copy the job in {job}: it has no contract")
    _refuse_existing(target)
    return [copy_job(job, target / job.name) for job in jobs]


def _refuse_existing(target: Path) -> None:
    if target.exists() and any(target.iterdir()):
        raise JobError(f"{target} is not empty", hint="choose a folder that does not exist yet")


def copy_job(job: Path, target: Path) -> Path:
    """Copy one job. What is copied last is what makes the copy a checkpoint: its contract."""
    committed = last(job / contracts.SPARK / COMMITS)
    target.mkdir(parents=True, exist_ok=True)
    for part in sorted(job.iterdir()):
        if part.is_dir() and part.name != contracts.SPARK:
            shutil.copytree(part, target / part.name)
    if committed is not None:
        _copy_spark(job / contracts.SPARK, target / contracts.SPARK, committed)
        move_paths(target, job)
    for part in sorted(job.iterdir()):
        if part.is_file() and not part.name.startswith(".") and part.name != contracts.NAME:
            shutil.copy2(part, target / part.name)
    shutil.copy2(job / contracts.NAME, target / contracts.NAME)
    return target


def start_from(savepoint: Path, now: Contract, folder: Path) -> None:
    """Make the folder of a job that starts now from the job of its name in a savepoint."""
    jobs = {job.name: job for job in jobs_in(savepoint)}
    job = jobs.get(contracts.folder_name(now.job))
    if job is None:
        raise JobError(
            f"savepoint {savepoint} has no job {now.job}",
            notes={"jobs": ", ".join(jobs)},
            hint="RESET 'execution.state-recovery.path' before starting new jobs",
        )
    copy_job(job, folder)


def _copy_spark(spark: Path, target: Path, committed: int) -> None:
    """Spark's own checkpoint as it was after a micro-batch. State is numbered from 1 on."""
    for part in sorted(spark.iterdir()):
        if part.name in (OFFSETS, COMMITS):
            _copy_tree(part, target / part.name, _not_after(committed))
        elif part.name == _STATE:
            _copy_tree(part, target / part.name, _not_after(committed + 1))
        elif part.is_dir():
            _copy_tree(part, target / part.name, _finished)
        elif _finished(Path(part.name)):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(part, target / part.name)


Wanted = Callable[[Path], bool]


def _finished(file: Path) -> bool:
    """Whether a file is whole: Spark names those that it is still writing otherwise."""
    return not (file.name.startswith(".") and not file.name.endswith(".crc")) and not (
        file.name.endswith(".tmp") or ".tmp.crc" in file.name
    )


def _not_after(version: int) -> Wanted:
    def wanted(file: Path) -> bool:
        number = file.name.removeprefix(".").split(".")[0].split("_")[0]
        return _finished(file) and (not number.isdecimal() or int(number) <= version)

    return wanted


def _copy_tree(folder: Path, target: Path, wanted: Wanted) -> None:
    for file in _files(folder):
        if wanted(file):
            place = target / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copy2(file, place)
            except FileNotFoundError:
                # Spark cleans up what only micro-batches long past would need.
                continue


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
