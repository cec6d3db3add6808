"""The content of a checkpoint folder, without starting Spark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints import state_sizes
from tidemark.checkpoints.copying import jobs_in
from tidemark.checkpoints.spark_log import read_log
from tidemark.errors import JobError
from tidemark.storage import Location

# Spark's watermark when all input has ended.
_END_MS = 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class CheckpointOperator:
    """An operator, and the size of its state; None if it has never reported."""

    id: str
    hash: str
    state_rows: int | None
    state_bytes: int | None
    waiting: int | None


@dataclass(frozen=True, slots=True)
class CheckpointJob:
    """A job in a checkpoint folder.

    Micro-batches are numbered from 0; `unfinished` means that one more was started and will be run
    again. The watermark is ISO 8601 in UTC. State was counted after micro-batch `counted_after`.
    """

    name: str
    tidemark: str
    spark: str
    key_groups: int
    shuffle_partitions: int
    sources: tuple[str, ...]
    operators: tuple[CheckpointOperator, ...]
    last_batch: int | None
    unfinished: bool
    watermark: str | None
    counted_after: int | None


def overview(checkpoint: Location) -> tuple[CheckpointJob, ...]:
    """The jobs of a checkpoint folder. Raises JobError if it is not one."""
    return tuple(_job(folder) for folder in jobs_in(checkpoint))


def _job(folder: Location) -> CheckpointJob:
    contract = contracts.read(folder)
    if contract is None:
        raise JobError(f"{folder} has no contract")
    log, counts = read_log(folder), state_sizes.read(folder)
    return CheckpointJob(
        name=contract.job,
        tidemark=contract.tidemark,
        spark=contract.spark,
        key_groups=contract.key_groups,
        shuffle_partitions=log.shuffle_partitions or contract.shuffle_partitions,
        sources=tuple(map(str, contract.sources)),
        operators=tuple(_operator(kept.id, kept.hash, counts) for kept in contract.operators),
        last_batch=log.committed,
        unfinished=log.unfinished,
        watermark=None if log.watermark_ms is None else _iso(log.watermark_ms),
        counted_after=counts.batch if counts.batch >= 0 else None,
    )


def _operator(id_: str, hash_: str, counts: state_sizes.StateSizes) -> CheckpointOperator:
    total = counts.total(id_)
    if total is None:
        return CheckpointOperator(id_, hash_, None, None, None)
    return CheckpointOperator(id_, hash_, total.rows, total.bytes, total.waiting)


def _iso(milliseconds: int) -> str:
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=min(milliseconds, _END_MS))
    return f"{moment.isoformat(timespec='milliseconds')}Z"
